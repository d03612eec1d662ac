"""Pure functions from labels, scores and outcomes to numbers. What cannot be computed is None, and says why."""
