"""Fraud detectors over transaction rows, and attacks on them under realistic constraints.

Knows no bank and no language model; the packages above reach it only through what this module names. Importing it
loads nothing heavy: names are looked up when they are first used.

A map, in the order in which one cell is computed:

=====================  ==================================================================================
`cell`                 everything that decides one number of a table
`grid`                 many cells from one file; `workers` computes them in processes, `presets` holds files
`runner`               computes one cell, with the parts below
`datasets`             loaders and generators; `dataset` is what they return
`schema`               what the columns mean: kind, bounds, mutability, unit, one-hot blocks
`declaration`          features and relations read from one file
`constraints`          the language of relations, its evaluator, feasibility, `repair`
`check`                clean rows satisfy their relations, and every relation can be violated
`scaling`              problem space and scaled space, and the way between them
`problem`              columns, relations and scaler together: what attacks move on
`detector`             the contract of a model; `counting` wraps it for an attack
`detectors`            the models of the bench, trivial ones, thresholds, those of one's own (`factories`)
`defence`              the contract of a defence; `defences` has those of the bench
`threat`, `budget`     what the attacker knows, how far it may go
`protocol`             A, B, C1, C2, and the presets strict and published
`projection`           what a protocol lets rows become; applied by attacks after each step
`attack`               the contract of an attack: candidates in, no clipping, no judging, no counting
`attacks`              those of the bench by name; `capability` says which applies to which model
`attack_run`           the final function: applies budget, mask, feasibility and success
`metrics`              what is counted: rankings, robustness, distance, seeds
`registry`             the record of every cell, one line each
`reports`              tables, findings and pictures from records alone
`score`                a detector and a table of the user's own
`errors`               what can go wrong
`seeds`, `threads`     random state from names; one thread for many small steps
=====================  ==================================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.errors import TabularError

if TYPE_CHECKING:
    from tabular_bench.attack import Attack, AttackContext
    from tabular_bench.attack_run import AttackOutcome, run_attack
    from tabular_bench.budget import Budget
    from tabular_bench.cell import CellSpec
    from tabular_bench.check import check_dataset
    from tabular_bench.dataset import Dataset
    from tabular_bench.datasets.registry import load_dataset, load_table
    from tabular_bench.declaration import read_declaration
    from tabular_bench.protocol import Protocol
    from tabular_bench.scaling import ProblemFront, ScaledFront
    from tabular_bench.schema import Feature, Schema
    from tabular_bench.threat import ThreatModel

__all__ = [
    "Attack",
    "AttackContext",
    "AttackOutcome",
    "Budget",
    "CellSpec",
    "Dataset",
    "Detector",
    "DifferentiableDetector",
    "Feature",
    "ProblemFront",
    "Protocol",
    "ScaledFront",
    "Schema",
    "TabularError",
    "ThreatModel",
    "check_dataset",
    "load_dataset",
    "load_table",
    "read_declaration",
    "run_attack",
]

_HOMES = {
    "Attack": "attack",
    "AttackContext": "attack",
    "AttackOutcome": "attack_run",
    "Budget": "budget",
    "CellSpec": "cell",
    "Dataset": "dataset",
    "Feature": "schema",
    "ProblemFront": "scaling",
    "Protocol": "protocol",
    "ScaledFront": "scaling",
    "Schema": "schema",
    "ThreatModel": "threat",
    "check_dataset": "check",
    "load_dataset": "datasets.registry",
    "load_table": "datasets.registry",
    "read_declaration": "declaration",
    "run_attack": "attack_run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
