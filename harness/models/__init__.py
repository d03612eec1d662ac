"""Language models behind one contract: requests, replies, faults, budgets, and what is recorded of each call."""
