"""Clean numbers of a user's detector beside those of trivial ones, then attacks under each protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from tabular_bench.attack import Attack
from tabular_bench.attack_run import PUBLISHED_THRESHOLD, AttackOutcome, run_attack
from tabular_bench.attacks.catalogue import find_attack
from tabular_bench.budget import Budget
from tabular_bench.cell import Attacked
from tabular_bench.counting import checked_scores
from tabular_bench.datasets.split import stratified_share
from tabular_bench.detector import Detector, DifferentiableDetector
from tabular_bench.detectors.guard import flags
from tabular_bench.detectors.models import TRIVIAL_MODELS
from tabular_bench.detectors.own import in_scaled_space
from tabular_bench.detectors.threshold import ThresholdRule, choose_threshold
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.errors import InputError, NotApplicable, TabularError
from tabular_bench.metrics.ranking import Ranking, rank
from tabular_bench.metrics.robustness import AttackMetrics, Reading, attack_metrics, robust_rankings
from tabular_bench.protocol import PRESETS, Protocol, ProtocolName
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.score.columns import bind
from tabular_bench.score.ready import ReadyModel
from tabular_bench.score.table import UserTable
from tabular_bench.threat import WHITE_BOX

PROTOCOLS: tuple[ProtocolName, ...] = ("A", "B", "C1", "C2")


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """What is measured.

    Attributes
    ----------
    attacks
        As `find_attack` reads them; empty for noise and the strongest that the detector allows.
    protocols
        Each attack is run under each.
    preset
        ``strict`` or ``published``.
    budget
        Of every attack.
    threshold
        By this rule, on the reference rows, or on the scored rows where there are none.
    attacked
        ``positives``, or ``both`` classes.
    max_rows
        At most so many rows are attacked. The rows beside them are drawn in the same share, so that prevalence stays.
    amount_column
        The column by which the trivial detector of largest amounts goes; None if there is none.
    seed
        Of draws and attacks.
    """

    attacks: tuple[str, ...] = ()
    protocols: tuple[ProtocolName, ...] = PROTOCOLS
    preset: str = "strict"
    budget: Budget = field(default_factory=Budget)
    threshold: ThresholdRule = field(default_factory=lambda: ThresholdRule("fixed", 0.5))
    attacked: Attacked = "positives"
    max_rows: int | None = 500
    amount_column: str | None = None
    seed: int = 42


@dataclass(frozen=True, slots=True)
class CleanScore:
    """A detector on the rows as they are.

    Attributes
    ----------
    detector
        The user's, or the name of a trivial one.
    ranking
        Of all rows; None if the detector does not go with the table.
    flags
        What disqualifies it, by name.
    reason
        Why there is no ranking.
    """

    detector: str
    ranking: Ranking | None
    flags: dict[str, str] = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AttackScore:
    """One attack under one protocol.

    Attributes
    ----------
    attack, protocol
        Which.
    status
        ``done``, ``not_applicable`` or ``failed``.
    metrics
        What became of the attacked rows.
    reading
        The protocol's own reading of the ranking.
    robust
        The ranking in that reading.
    readings
        The ranking in every reading.
    reason
        Why it is not done.
    """

    attack: str
    protocol: ProtocolName
    status: Literal["done", "not_applicable", "failed"]
    metrics: AttackMetrics | None = None
    reading: Reading | None = None
    robust: Ranking | None = None
    readings: dict[Reading, Ranking] = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """Everything that was found.

    Attributes
    ----------
    threshold
        A score of at least this is a prediction of fraud.
    clean
        The user's detector first, then the trivial ones; on all rows.
    evaluated
        How many rows the robust numbers are of, and how many of them are fraud.
    attacked
        How many rows were attacked.
    evaluated_clean
        The clean ranking of the evaluated rows, to hold the robust ones against.
    attacks
        In the order of attacks and protocols.
    notes
        What was taken for what.
    """

    threshold: float
    clean: tuple[CleanScore, ...]
    evaluated: tuple[int, int]
    attacked: int
    evaluated_clean: Ranking
    attacks: tuple[AttackScore, ...]
    notes: tuple[str, ...]


def score(
    model: ReadyModel, table: UserTable, options: ScoreOptions, progress: Callable[[int, int], None] = lambda *_: None
) -> Score:
    """Measure a detector.

    Parameters
    ----------
    model
        As it was read.
    table
        As it was read for this detector.
    options
        What is measured.
    progress
        Is told how many attacks are done, and of how many.

    Raises
    ------
    InputError
        If an option does not go with the table.
    DetectorError
        If the detector does not go with the table or breaks its contract.
    """
    front, notes = bind(model, table.problem.schema)
    detector = in_scaled_space(front, table.problem.scaler)
    attacks = _attacks(options, detector)
    scores = _scores(detector, table, table.rows)
    threshold, told = _threshold(options, detector, table, scores)
    own = CleanScore(model.source, rank(table.labels, scores), _flags(table.labels, scores, threshold))
    chosen = _evaluated_rows(table, options)
    attacked = _attacked_rows(table, chosen, options)
    labels, clean = table.labels[chosen], scores[chosen]
    rows = table.rows[chosen]
    found: list[AttackScore] = []
    for name, attack in attacks.items():
        for result in _attacked(name, attack, detector, table, rows, labels, clean, attacked, threshold, options):
            found.append(result)
            progress(len(found), len(attacks) * len(options.protocols))
    return Score(
        threshold=threshold,
        clean=(own, *_trivial(table, options)),
        evaluated=(len(chosen), int(labels.sum())),
        attacked=len(attacked),
        evaluated_clean=rank(labels, clean),
        attacks=tuple(found),
        notes=(*notes, told, *_advice(own, table, threshold, options)),
    )


def _attacks(options: ScoreOptions, detector: Detector) -> dict[str, Attack]:
    strongest = "capgd" if isinstance(detector, DifferentiableDetector) else "square"
    return {name: find_attack(name) for name in options.attacks or ("noise", strongest)}


def _scores(detector: Detector, table: UserTable, rows: FloatArray) -> FloatArray:
    return checked_scores(detector, table.problem.scaler.to_scaled(rows))


def _threshold(options: ScoreOptions, detector: Detector, table: UserTable, scores: FloatArray) -> tuple[float, str]:
    rule = options.threshold
    if PRESETS[options.preset].only_caught_fraud:
        return PUBLISHED_THRESHOLD, f"Threshold {PUBLISHED_THRESHOLD:g}, as the published preset has it."
    if rule.kind == "fixed" and rule.value is not None:
        return rule.value, f"Threshold {rule.value:g}, as given."
    if table.reference is not None:
        rows, labels = table.reference
        threshold = choose_threshold(rule, labels, _scores(detector, table, rows))
        return threshold, f"Threshold {threshold:.6g} by the rule {rule}, set on the reference rows."
    threshold = choose_threshold(rule, table.labels, scores)
    return threshold, (
        f"Threshold {threshold:.6g} by the rule {rule}, set on the scored rows themselves, which flatters the "
        "detector; --reference takes other rows."
    )


def _flags(labels: Any, scores: FloatArray, threshold: float) -> dict[str, str]:
    return {flag.name: flag.detail for flag in flags(labels, scores, threshold)}


def _evaluated_rows(table: UserTable, options: ScoreOptions) -> IntArray:
    candidates = len(table.labels) if options.attacked == "both" else int(table.labels.sum())
    if options.max_rows is None or candidates <= options.max_rows:
        return np.arange(len(table.labels))
    return stratified_share(table.labels, options.max_rows / candidates, options.seed, "evaluated")


def _attacked_rows(table: UserTable, chosen: IntArray, options: ScoreOptions) -> IntArray:
    if options.attacked == "both":
        return np.arange(len(chosen))
    return np.flatnonzero(table.labels[chosen] == 1)


def _attacked(
    name: str,
    attack: Attack,
    detector: Detector,
    table: UserTable,
    rows: FloatArray,
    labels: Any,
    clean: FloatArray,
    attacked: IntArray,
    threshold: float,
    options: ScoreOptions,
) -> Iterator[AttackScore]:
    """Run one attack under each protocol; A and B judge the same rows differently, so that they share one run."""
    of_a: AttackOutcome | None = None
    for protocol_name in options.protocols:
        protocol = Protocol(protocol_name, PRESETS[options.preset])
        try:
            if of_a is not None and not protocol.projects:
                outcome = replace(of_a, protocol=protocol)
            else:
                outcome = run_attack(
                    attack,
                    detector,
                    table.problem,
                    rows[attacked],
                    labels[attacked].astype(np.int64),
                    protocol=protocol,
                    threat=WHITE_BOX,
                    budget=options.budget,
                    threshold=threshold,
                    seed=options.seed,
                )
                of_a = of_a if protocol.projects else outcome
        except NotApplicable as error:
            yield AttackScore(name, protocol_name, "not_applicable", reason=str(error))
            continue
        except Exception as error:  # noqa: BLE001 - an attack may be the user's own: its failure is its result
            told = str(error) if isinstance(error, TabularError) else f"{type(error).__name__}: {error}"
            yield AttackScore(name, protocol_name, "failed", reason=told)
            continue
        robust, readings = robust_rankings(labels, clean, attacked, outcome)
        reading = next(reading for reading, ranking in readings.items() if ranking is robust)
        metrics = attack_metrics(outcome, threshold)
        yield AttackScore(name, protocol_name, "done", metrics, reading, robust, readings)


def _trivial(table: UserTable, options: ScoreOptions) -> Iterator[CleanScore]:
    """Measure the detectors that know nothing; they learn nothing from the rows that they are given."""
    scaler, columns = table.problem.scaler, table.problem.schema.columns
    if options.amount_column is not None and options.amount_column not in columns:
        raise InputError(
            f"expected the column of amounts among {', '.join(columns[:20])}, found {options.amount_column!r}"
        )
    scaled = scaler.to_scaled(table.rows)
    training = TrainingSet(scaled, table.labels, columns, options.seed, options.amount_column, scaler)
    for name, model in TRIVIAL_MODELS.items():
        try:
            scores = checked_scores(model.train(training), scaled)
        except NotApplicable as error:
            yield CleanScore(name, None, reason=str(error))
            continue
        threshold = choose_threshold(model.rule, table.labels, scores)
        yield CleanScore(name, rank(table.labels, scores), _flags(table.labels, scores, threshold))


def _advice(own: CleanScore, table: UserTable, threshold: float, options: ScoreOptions) -> Sequence[str]:
    notes = []
    if table.reference is None:
        notes.append("Epsilon counts in standard deviations of the scored rows; --reference takes other rows.")
    if options.amount_column is None:
        notes.append("largest_first needs the column of amounts: --amount COLUMN, or amount in the constraint file.")
    if "stops_none" in own.flags and options.threshold.kind == "fixed":
        notes.append(
            f"No row scores {threshold:g} or more, so there is nothing to evade: give --threshold a lower number, or a "
            "rule such as f1 or capacity=0.01."
        )
    return notes


def as_json(found: Any) -> Any:
    """Return what was found as plain values, every field by its name.

    Parameters
    ----------
    found
        A `Score` or a part of one.
    """
    if isinstance(found, dict):
        return {str(key): as_json(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [as_json(value) for value in found]
    if isinstance(found, Ranking):
        derived = {"prevalence": found.prevalence, "saturated": found.saturated}
        return {entry.name: as_json(getattr(found, entry.name)) for entry in fields(found)} | derived
    if hasattr(found, "__dataclass_fields__"):
        return {entry.name: as_json(getattr(found, entry.name)) for entry in fields(found)}
    return found
