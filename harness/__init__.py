"""The evaluation harness: scenarios, participants, the episode loop, retrieval, runs and reports."""
