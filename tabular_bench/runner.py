"""From a cell to its numbers: load, train, attack, measure.

What a number was computed from goes into its record as hashes. Some of these inputs are not named by the cell: whether
the rows are real or generated, and the source of a model or an attack of one's own. `Bench.inputs` digests them, and a
record whose inputs are others counts as not computed when a grid is resumed, so that rows of different origin never
stand in for each other.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tabular_bench.attack import Attack
from tabular_bench.attack_run import PUBLISHED_THRESHOLD, AttackOutcome, run_attack
from tabular_bench.attacks.catalogue import find_attack
from tabular_bench.capability import why_not
from tabular_bench.cell import CellSpec
from tabular_bench.counting import checked_scores
from tabular_bench.dataset import Dataset
from tabular_bench.datasets.registry import DATASETS, load_dataset, source_digest
from tabular_bench.datasets.split import stratified_share
from tabular_bench.defence import DefenceContext
from tabular_bench.defences.catalogue import find_defence
from tabular_bench.detector import Detector
from tabular_bench.detectors.guard import flags
from tabular_bench.detectors.models import MODELS, TRIVIAL_MODELS, find_model
from tabular_bench.detectors.storage import detector_hash, load_detector, save_detector
from tabular_bench.detectors.threshold import ThresholdRule, choose_threshold
from tabular_bench.detectors.training import TrainingSet
from tabular_bench.errors import DetectorError, InputError, NotApplicable, TabularError, UnknownName
from tabular_bench.factories import find_factory
from tabular_bench.metrics.ranking import Ranking, rank
from tabular_bench.metrics.robustness import attack_metrics, robust_rankings
from tabular_bench.protocol import PRESETS
from tabular_bench.registry import Measured, Record, code_hash, library_versions
from tabular_bench.schema import FloatArray, IntArray
from tabular_bench.seeds import derive_seed
from tabular_bench.threads import one_thread
from tabular_bench.threat import ThreatModel, find_threat

_NO_DEFENCE: Final = "none"
_PUBLISHED_RULE: Final = ThresholdRule("fixed", PUBLISHED_THRESHOLD)
# Behind any other defence a model keeps its gradients, or its lack of them; this one puts an ensemble in its place.
_REPLACES_THE_MODEL: Final = "ensemble"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Trained:
    """A detector that is ready, and what is known of it before any attack.

    Attributes
    ----------
    detector
        Expects scaled rows.
    digest
        Of the detector.
    rule, threshold
        A score of at least this is a prediction of fraud, by that rule on the validation rows.
    test_scores
        Of the clean test rows.
    """

    detector: Detector
    digest: str
    rule: ThresholdRule
    threshold: float
    test_scores: FloatArray


class Bench:
    """Computes cells; keeps the last data set, its detectors and the last attack, so that cells in order are cheap.

    Parameters
    ----------
    data_root
        A folder with the real files of data sets; None for generated rows.
    cache
        A folder where prepared real data sets and trained detectors are kept; None keeps none on disk.
    """

    def __init__(self, data_root: Path | None = None, cache: Path | None = None) -> None:
        self._data_root = data_root
        self._cache = cache
        self._dataset: tuple[tuple[str, int], Dataset] | None = None
        self._detectors: dict[str, Detector] = {}
        self._trained: dict[str, Trained] = {}
        self._outcome: tuple[str, AttackOutcome] | None = None
        self._inputs: dict[tuple[str, str], str] = {}
        self._made_by = code_hash(), library_versions()

    def compute(self, cell: CellSpec) -> Measured:
        """Compute a cell, on one thread.

        Parameters
        ----------
        cell
            What to compute.

        Raises
        ------
        TabularError
            Whatever is wrong with the cell, its data, its detector or its attack; `NotApplicable` if these do not go
            together.
        """
        check_names(cell)
        attack = find_attack(cell.attack)
        _demand_applicable(cell, attack)
        with one_thread():
            dataset = self.dataset(cell.dataset, cell.seed)
            trained = self.trained(cell)
            return self._measure(cell, attack, dataset, trained)

    def dataset(self, name: str, seed: int) -> Dataset:
        """Return a data set; the last one is kept.

        Parameters
        ----------
        name, seed
            As in `tabular_bench.cell.CellSpec`.
        """
        if self._dataset is None or self._dataset[0] != (name, seed):
            self._detectors.clear()
            self._trained.clear()
            self._dataset = self._outcome = None
            # To generate rows again is quicker than to read them from a disk.
            folder = self._cache / "datasets" if self._cache is not None and self._data_root is not None else None
            found = load_dataset(name, seed=seed, data_root=self._data_root, cache_dir=folder)
            self._dataset = (name, seed), found
        return self._dataset[1]

    def trained(self, cell: CellSpec) -> Trained:
        """Return the detector of a cell, trained under its defence, and its threshold.

        Parameters
        ----------
        cell
            Names data set, model, defence and seed. A defence that trains against an attack takes the cell's ball.
        """
        dataset = self.dataset(cell.dataset, cell.seed)
        key = self._detector_key(dataset, cell.model, cell)
        if key not in self._trained:
            detector = self._detector(key, dataset, TrainingSet.of(dataset), cell.model, cell)
            rule = find_model(cell.model).rule
            rows, labels = dataset.part("validation")
            threshold = choose_threshold(rule, labels, _scores(detector, dataset, rows))
            scores = _scores(detector, dataset, dataset.part("test")[0])
            self._trained[key] = Trained(detector, _digest(detector, key), rule, threshold, scores)
        return self._trained[key]

    def inputs(self, cell: CellSpec) -> dict[str, str]:
        """Digest what the numbers of a cell depend on beside cell and code.

        Parameters
        ----------
        cell
            Any.

        Returns
        -------
        dict[str, str]
            By what it is of: ``source`` of the rows, ``model_source`` and ``attack_source`` where they are the user's.

        Raises
        ------
        InputError
            If one of them cannot be found.
        """
        found = {"source": self._input("dataset", cell.dataset)}
        if cell.model not in MODELS | TRIVIAL_MODELS:
            found["model_source"] = self._input("own", cell.model)
        if ":" in cell.attack.partition("(")[0]:
            found["attack_source"] = self._input("own", cell.attack)
        return found

    def is_current(self, record: Record) -> bool:
        """Tell whether a finished record was computed from the inputs of now; no, if one of them is gone.

        Parameters
        ----------
        record
            Of any status; one without numbers depends on no input.
        """
        if record.measured is None:
            return True
        try:
            return self.inputs(record.spec).items() <= record.measured.hashes.items()
        except TabularError:
            return False

    def _input(self, kind: str, name: str) -> str:
        if (kind, name) not in self._inputs:
            digest = source_digest(name, self._data_root) if kind == "dataset" else _own_source(name)
            self._inputs[kind, name] = digest
        return self._inputs[kind, name]

    def _measure(self, cell: CellSpec, attack: Attack, dataset: Dataset, trained: Trained) -> Measured:
        published = PRESETS[cell.preset].only_caught_fraud
        threshold = PUBLISHED_THRESHOLD if published else trained.threshold
        rows, labels = dataset.part("test")
        chosen = evaluated_rows(labels, cell)
        kept, clean = labels[chosen], trained.test_scores[chosen]
        attacked = np.arange(len(chosen)) if cell.attacked == "both" else np.flatnonzero(kept == 1)
        outcome = self._attack(cell, attack, dataset, trained, chosen[attacked])
        robust, readings = robust_rankings(kept, clean, attacked, outcome)
        counted = attack_metrics(outcome, threshold)
        own = next(name for name, ranking in readings.items() if ranking is robust)
        groups = {"clean": rank(kept, clean), "robust": robust} | {f"readings.{k}": v for k, v in readings.items()}
        numbers = {field.name: getattr(counted, field.name) for field in fields(counted)}
        failures, blanks = numbers.pop("failures"), numbers.pop("blanks")
        sizes = (len(rows), len(chosen), len(attacked), int(kept.sum()))
        return Measured(
            provenance=dataset.provenance,
            hashes={"dataset": dataset.content_hash, "detector": trained.digest, **self.inputs(cell)},
            threshold=threshold,
            threshold_rule=str(_PUBLISHED_RULE if published else trained.rule),
            metrics={
                "clean": _numbers(groups["clean"]),
                "robust": _numbers(robust) | {"reading": own},
                "readings": {name: _numbers(ranking) for name, ranking in readings.items()},
                "attack": numbers,
                "rows": dict(zip(("test", "evaluated", "attacked", "positives"), sizes, strict=True)),
            },
            blanks={f"attack.{name}": why for name, why in blanks.items()} | _blanks(groups),
            failed_constraints=failures,
            flags={flag.name: flag.detail for flag in flags(labels, trained.test_scores, threshold)},
        )

    def _attack(
        self, cell: CellSpec, attack: Attack, dataset: Dataset, trained: Trained, chosen: IntArray
    ) -> AttackOutcome:
        """Attack test rows. B judges the rows of A, so that the two share one attack."""
        protocol, threat = cell.resolved_protocol, cell.resolved_threat
        shared = cell.key if protocol.projects else replace(cell, protocol="A").key
        if self._outcome is not None and self._outcome[0] == shared:
            return replace(self._outcome[1], protocol=protocol)
        rows, labels = dataset.part("test")
        outcome = run_attack(
            attack,
            trained.detector,
            dataset.problem,
            rows[chosen],
            labels[chosen].astype(np.int64),
            protocol=protocol,
            threat=threat,
            budget=cell.budget,
            threshold=trained.threshold,
            seed=cell.seed,
            surrogate=self._surrogate(dataset, cell, threat) if threat.surrogate else None,
        )
        self._outcome = shared, outcome
        return outcome

    def _surrogate(self, dataset: Dataset, cell: CellSpec, threat: ThreatModel) -> Detector:
        """Train the attacker's own detector, under a seed of its own so that it is not the target once more."""
        if threat.surrogate_model is None:
            raise NotApplicable(f"the threat model {threat.name} names no model for its surrogate")
        undefended = replace(cell, defence=_NO_DEFENCE)
        key = f"{self._detector_key(dataset, threat.surrogate_model, undefended)}-{threat.name}"
        training = replace(_known_to(threat, dataset), seed=derive_seed(cell.seed, "surrogate") % 2**31)
        return self._detector(key, dataset, training, threat.surrogate_model, undefended)

    def _detector(self, key: str, dataset: Dataset, training: TrainingSet, name: str, cell: CellSpec) -> Detector:
        if key not in self._detectors:
            is_own = name not in MODELS
            path = None if is_own or self._cache is None else self._cache / "detectors" / f"{key}.npz"
            found = None if path is None else _read(path)
            if found is None:
                context = DefenceContext(dataset.problem, find_attack, replace(cell.budget, max_queries=None))
                found = find_defence(cell.defence).train(find_model(name), training, context)
                if path is not None:
                    _keep(found, path)
            self._detectors[key] = found
        return self._detectors[key]

    def _detector_key(self, dataset: Dataset, model: str, cell: CellSpec) -> str:
        """Digest all that a detector is trained from."""
        described = [
            dataset.content_hash,
            model,
            "" if model in MODELS | TRIVIAL_MODELS else self._input("own", model),
            cell.defence,
            # Some defences train against attacks in the cell's ball.
            None if cell.defence == _NO_DEFENCE else cell.to_json()["budget"] | {"max_queries": None},
            cell.seed,
            *self._made_by,
        ]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:20]


def _known(kind: str, names: Mapping[str, object]) -> Callable[[str], object]:
    def find(name: str) -> object:
        if name not in names:
            raise UnknownName(kind, name, names)
        return names[name]

    return find


# The fields of a cell that are names, and what finds the thing or says what there is.
NAMED: Final[Mapping[str, Callable[[str], object]]] = {
    "dataset": _known("data set", DATASETS),
    "model": find_model,
    "attack": find_attack,
    "defence": find_defence,
    "preset": _known("preset", PRESETS),
    "threat": find_threat,
}


def check_names(cell: CellSpec) -> None:
    """Refuse a cell with a name that nothing has.

    Parameters
    ----------
    cell
        Any.

    Raises
    ------
    UnknownName
        Naming what there is.
    InputError
        If a model, an attack or a defence cannot be found or read.
    """
    for field_name, find in NAMED.items():
        find(getattr(cell, field_name))


def evaluated_rows(labels: NDArray[np.int8], cell: CellSpec) -> IntArray:
    """Choose the test rows that the numbers of a cell are of.

    All of them, if no more are attacked than the cell allows. Otherwise a stratified draw: so many that as many as
    allowed are attacked, and of the rows beside them the same share, so that prevalence stays. The draw is the same
    for every model, attack and protocol.

    Parameters
    ----------
    labels
        Shape ``(n,)``: of the test rows.
    cell
        Says who is attacked, how many at most, and the seed.

    Returns
    -------
    IntArray
        Row numbers in ascending order.
    """
    candidates = len(labels) if cell.attacked == "both" else int(labels.sum())
    if cell.max_rows is None or candidates <= cell.max_rows:
        return np.arange(len(labels))
    return stratified_share(labels, cell.max_rows / candidates, cell.seed, "evaluated")


def _demand_applicable(cell: CellSpec, attack: Attack) -> None:
    """Refuse what is known not to go together before anything is trained; `run_attack` refuses the rest."""
    threat, models = cell.resolved_threat, MODELS | TRIVIAL_MODELS
    attacked = threat.surrogate_model if threat.surrogate else cell.model
    if cell.defence == _REPLACES_THE_MODEL and not threat.surrogate:
        return
    if attacked in models and (reason := why_not(attack, models[attacked], threat)):
        raise NotApplicable(f"{cell.attack} against {attacked}: {reason}")


def _known_to(threat: ThreatModel, dataset: Dataset) -> TrainingSet:
    """Return the rows that an attacker's surrogate learns from."""
    training = TrainingSet.of(dataset)
    if threat.training_share is None:
        rows, labels = dataset.part("validation")
        return replace(training, rows=dataset.problem.scaler.to_scaled(rows), labels=labels)
    if threat.training_share < 1:
        drawn = stratified_share(training.labels, threat.training_share, dataset.seed, "surrogate rows")
        return replace(training, rows=training.rows[drawn], labels=training.labels[drawn])
    return training


def _scores(detector: Detector, dataset: Dataset, rows: FloatArray) -> FloatArray:
    return checked_scores(detector, dataset.problem.scaler.to_scaled(rows))


def _digest(detector: Detector, key: str) -> str:
    """Digest a detector: its arrays, or what it was made from where it has none that are known."""
    try:
        return detector_hash(detector)
    except DetectorError:
        return f"made-from-{key}"


def _own_source(spec: str) -> str:
    """Digest the file that a model or an attack of the user's own is in; not what that file imports."""
    path = Path(spec)
    if ":" in spec:
        factory = inspect.unwrap(find_factory(spec))
        module = inspect.getmodule(factory)
        path = Path(getattr(module, "__file__", None) or spec)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{spec}: its source cannot be read: {error.strerror}") from None


def _read(path: Path) -> Detector | None:
    if not path.exists():
        return None
    try:
        return load_detector(path)
    except InputError as error:
        _log.warning("a kept detector cannot be read and is trained anew: %s", error)
        return None


def _keep(detector: Detector, path: Path) -> None:
    """Write a detector where the next process finds it; a reader never sees half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as made:
        written = Path(made) / path.name
        try:
            save_detector(detector, written)
        except DetectorError as error:
            _log.info("not kept on disk: %s", error)
            return
        written.replace(path)


def _numbers(ranking: Ranking) -> dict[str, Any]:
    return {
        "rows": ranking.rows,
        "positives": ranking.positives,
        "prevalence": ranking.prevalence,
        "average_precision": ranking.average_precision,
        "roc_auc": ranking.roc_auc,
        "recall_at": {str(rate): recall for rate, recall in ranking.recall_at.items()},
        "saturated": ranking.saturated,
    }


def _blanks(groups: Mapping[str, Ranking]) -> dict[str, str]:
    return {
        f"{group}.{name.replace('recall_at_', 'recall_at.')}": why
        for group, ranking in groups.items()
        for name, why in ranking.blanks.items()
    }
