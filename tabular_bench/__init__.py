"""Fraud detectors over transaction rows, and attacks on them under realistic constraints.

Knows no bank and no language model; the packages above reach it only through what this module names.
"""

from __future__ import annotations

from tabular_bench.detector import Detector

__all__ = ["Detector"]
