"""Verdicts from a scenario, its trajectory and the final state of the bank."""
