"""What the planner of the bank is made of: look-ups before a decision, acts after it."""
