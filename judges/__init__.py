"""Verdicts from a scenario and the trajectory of an episode, and the grade that they come to."""

from judges.facts import ConfidentialFact
from judges.grade import DeterministicGrader, deterministic_grader, deterministic_judges
from judges.leaks import LeakJudge

__all__ = ["ConfidentialFact", "DeterministicGrader", "LeakJudge", "deterministic_grader", "deterministic_judges"]
