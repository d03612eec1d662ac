"""Whether the published findings hold in the cells at hand.

Each finding is a claim in print and a definition that the numbers of a seed satisfy or not. A seed agrees, contradicts,
or does not decide because a number is missing or too few rows were attacked. The verdict is ``holds`` if every seed
agrees, ``fails`` if every seed contradicts, and ``undecided`` otherwise.

The published numbers come from the reading *preset published, both classes attacked, epsilon 0.1 in the maximum norm*:
that is a finding's home. Every other reading that has cells of it (preset strict, fraud alone attacked, other budgets
where there is no cell of the published one) is judged by the same definition, to tell whether the finding outlives it.
The attack is CAPGD on the network (``published_capgd`` or ``capgd``) unless Square is named; no defence unless one is.

===========================  ===========================================================================================
finding                      a seed agrees if
===========================  ===========================================================================================
a_equals_b_on_ccfd           on CCFD, A and B have the same robust PR-AUC (to 1e-9) and equally many feasible flips
filtering_hides_lcld         on LCLD, B leaves feasible flips on at most 1 % of the rows that could flip, and C2 has at
                             least 100 times as many (at least 100 where B has none; from 1 to 99 do not decide then)
mask_suppresses_ieee_cis     on IEEE-CIS, C1 has more feasible flips than C2
ranking_depends_on_protocol  by Square, on some of the four data sets, two of network, trees and ensemble stand in the
                             opposite order of robust PR-AUC under A and under B
adversarial_training_helps   under C2, adversarial training has the higher robust PR-AUC on IEEE-CIS, LCLD and Sparkov
clipping_is_unreliable       on some of CCFD (A), IEEE-CIS, LCLD and Sparkov (C2), clipping leaves no higher robust
                             PR-AUC than no defence
===========================  ===========================================================================================

A claim about *some* data set is decided by the first one that shows it, and refuted only by all of them. A claim about
*every* one is refuted by the first, and shown only by all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Literal

from tabular_bench.cell import Attacked
from tabular_bench.protocol import ProtocolName
from tabular_bench.reports.building import ATTACKED, AVERAGE_PRECISION
from tabular_bench.reports.cells import Cells, Missing, Place, Setting, Source, main_settings, number
from tabular_bench.reports.document import FindingResult, SeedFinding, Verdict
from tabular_bench.reports.published import ATTACKS, DATASETS, MODELS

SAME: Final = 1e-9
FEW: Final = 0.01
"""Of the rows that could flip: at most so large a share is few."""
TIMES_MORE: Final = 100

SHOWN_REASONS: Final = 3

_CONSTRAINED: Final = ("ieee_cis", "lcld", "sparkov")
_WHO: Final[Mapping[Attacked, str]] = {"positives": "fraud attacked", "both": "both classes attacked"}
_FEASIBLE_FLIPPED: Final = "attack.feasible_flipped"
_PROVENANCE_ORDER: Final = ("real", "generated", "packaged", "unknown")


@dataclass(slots=True)
class Evidence:
    """What one seed of one reading has to show; remembers what was looked at.

    Attributes
    ----------
    cells
        The registries.
    setting, attacked, seed
        The reading, and the seed.
    numbers
        What was found, by what it is.
    missing
        What was not, and why.
    """

    cells: Cells
    setting: Setting
    attacked: Attacked
    seed: int
    numbers: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def find(
        self, dataset: str, protocol: ProtocolName, path: str, *, model: str = "mlp", defence: str = "none"
    ) -> float | None:
        """Return a number of the seed, and remember it or why it is missing.

        Parameters
        ----------
        dataset, protocol
            Where it stands.
        path
            In the metrics of a record.
        model
            Its name.
        defence
            Its name; training against any attack counts as adversarial training.
        """
        told = f"{DATASETS[dataset]} {protocol} {model}{'' if defence == 'none' else f' {defence}'} {_last(path)}"
        source = chosen_source(self.cells, self.setting, dataset)
        if source is None:
            self.missing.append(f"{told}: no cell of the data set")
            return None
        name = _defence_at(self.cells, self.setting, source, model, defence)
        record = self.cells.at(Place(self.setting, source, model, protocol, self.attacked, name)).get(self.seed)
        value = Missing("no cell") if record is None else number(record, path)
        if isinstance(value, Missing):
            self.missing.append(f"{told}: {value.reason}")
            return None
        self.numbers[told] = value
        return value


@dataclass(frozen=True, slots=True)
class Finding:
    """One published finding.

    Attributes
    ----------
    name
        Short, for programs.
    claim
        What is published.
    definition
        What a seed is put to, in words.
    attack
        The published attack whose cells it is about.
    agrees
        Whether a seed's evidence satisfies the definition; None if it does not decide.
    """

    name: str
    claim: str
    definition: str
    attack: Literal["CAPGD", "Square"]
    agrees: Callable[[Evidence], bool | None]


def a_equals_b_on_ccfd(evidence: Evidence) -> bool | None:
    """Tell whether filtering changes nothing where there is no constraint.

    Parameters
    ----------
    evidence
        Of one seed.
    """
    before, after = (evidence.find("ccfd", protocol, AVERAGE_PRECISION) for protocol in ("A", "B"))
    flips, kept = (evidence.find("ccfd", protocol, _FEASIBLE_FLIPPED) for protocol in ("A", "B"))
    if before is None or after is None or flips is None or kept is None:
        return None
    return abs(before - after) <= SAME and flips == kept


def filtering_hides_lcld(evidence: Evidence) -> bool | None:
    """Tell whether filtering leaves few feasible flips where an attack within the constraints finds many.

    Parameters
    ----------
    evidence
        Of one seed.
    """
    filtered = evidence.find("lcld", "B", _FEASIBLE_FLIPPED)
    integrated = evidence.find("lcld", "C2", _FEASIBLE_FLIPPED)
    attacked = evidence.find("lcld", "B", "attack.attacked")
    wrong = evidence.find("lcld", "B", "attack.clean_errors")
    if filtered is None or integrated is None or attacked is None or wrong is None:
        return None
    if filtered > FEW * (attacked - wrong) or integrated == 0:
        return False
    if filtered == 0 and integrated < TIMES_MORE:
        evidence.missing.append(f"B has none and C2 only {integrated:g}: too few rows to tell how many times more")
        return None
    return integrated >= TIMES_MORE * max(filtered, 1.0)


def mask_suppresses_ieee_cis(evidence: Evidence) -> bool | None:
    """Tell whether the mask takes feasible flips away that projection alone finds.

    Parameters
    ----------
    evidence
        Of one seed.
    """
    projected, masked = (evidence.find("ieee_cis", protocol, _FEASIBLE_FLIPPED) for protocol in ("C1", "C2"))
    return None if projected is None or masked is None else projected > masked


def ranking_depends_on_protocol(evidence: Evidence) -> bool | None:
    """Tell whether two models change places between Protocols A and B on some data set.

    Parameters
    ----------
    evidence
        Of one seed.
    """
    return _some(_changes_places(evidence, dataset) for dataset in DATASETS)


def adversarial_training_helps(evidence: Evidence) -> bool | None:
    """Tell whether adversarial training beats no defence under C2 on every data set with constraints.

    Parameters
    ----------
    evidence
        Of one seed.
    """
    return _every(_beats_none(evidence, dataset, "C2", "adversarial_training") for dataset in _CONSTRAINED)


def clipping_is_unreliable(evidence: Evidence) -> bool | None:
    """Tell whether clipping inputs fails to help on some data set.

    Parameters
    ----------
    evidence
        Of one seed.
    """
    helped = [_beats_none(evidence, dataset, "A" if dataset == "ccfd" else "C2", "clip") for dataset in DATASETS]
    return _some(None if one is None else not one for one in helped)


FINDINGS: Final = (
    Finding(
        "a_equals_b_on_ccfd",
        "Without a constraint catalogue, on CCFD, Protocols A and B give the same numbers.",
        "robust PR-AUC of A and B differ by at most 1e-9, and their feasible flips are equal",
        "CAPGD",
        a_equals_b_on_ccfd,
    ),
    Finding(
        "filtering_hides_lcld",
        "On LCLD filtering leaves few feasible flips where C2 finds hundreds of times more.",
        "feasible flips of B are at most 1 % of the rows that could flip, and those of C2 at least 100 times as many "
        "(at least 100 if B has none; 1 to 99 do not decide then)",
        "CAPGD",
        filtering_hides_lcld,
    ),
    Finding(
        "mask_suppresses_ieee_cis",
        "On IEEE-CIS C1 finds more feasible flips than C2.",
        "feasible flips of C1 exceed those of C2",
        "CAPGD",
        mask_suppresses_ieee_cis,
    ),
    Finding(
        "ranking_depends_on_protocol",
        "The ranking of model families changes between Protocols A and B somewhere.",
        "on some data set two of mlp, xgboost and ensemble stand in the opposite order of robust PR-AUC under A and B",
        "Square",
        ranking_depends_on_protocol,
    ),
    Finding(
        "adversarial_training_helps",
        "Adversarial training beats no defence under the deployment protocol.",
        "robust PR-AUC under C2 is higher with it than without on IEEE-CIS, on LCLD and on Sparkov",
        "CAPGD",
        adversarial_training_helps,
    ),
    Finding(
        "clipping_is_unreliable",
        "Validating inputs by z-scores does not help reliably.",
        "on some data set (CCFD under A; IEEE-CIS, LCLD, Sparkov under C2) robust PR-AUC is no higher with clipping",
        "CAPGD",
        clipping_is_unreliable,
    ),
)


def evaluate(cells: Cells) -> list[FindingResult]:
    """Judge every published finding in its home reading, and in every other that has cells of it.

    Parameters
    ----------
    cells
        The registries.
    """
    return [result for finding in FINDINGS for result in _evaluate_one(cells, finding)]


def _evaluate_one(cells: Cells, finding: Finding) -> list[FindingResult]:
    results = []
    for setting in main_settings(cells.settings(ATTACKS[finding.attack])):
        for attacked in ATTACKED:
            seeds = [_judge(finding, Evidence(cells, setting, attacked, seed)) for seed in cells.seeds(setting)]
            if any(seed.numbers for seed in seeds):
                home = setting.preset == "published" and attacked == "both" and setting.has_published_budget
                told = f"preset {setting.preset}, {_WHO[attacked]}"
                results.append(_result(finding, told, _told(cells, setting), seeds, home))
    if not any(result.is_home for result in results):
        results.append(_result(finding, f"preset published, {_WHO['both']}", "", [], True))
    return sorted(results, key=lambda result: not result.is_home)


def _judge(finding: Finding, evidence: Evidence) -> SeedFinding:
    agrees = finding.agrees(evidence)
    further = len(evidence.missing) - SHOWN_REASONS
    told = "; ".join(evidence.missing[:SHOWN_REASONS]) + (f"; and {further} more" if further > 0 else "")
    reason = told if agrees is None else ""
    return SeedFinding(seed=evidence.seed, agrees=agrees, numbers=evidence.numbers, reason=reason)


def _result(finding: Finding, reading: str, cells: str, seeds: Sequence[SeedFinding], home: bool) -> FindingResult:
    verdict, reason = combine(seeds)
    return FindingResult(
        name=finding.name,
        claim=finding.claim,
        definition=finding.definition,
        reading=reading,
        cells=cells,
        is_home=home,
        verdict=verdict,
        reason=reason,
        seeds=tuple(seeds),
    )


def combine(seeds: Sequence[SeedFinding]) -> tuple[Verdict, str]:
    """Return the verdict over seeds, and why if it is undecided.

    Parameters
    ----------
    seeds
        What each of them says.
    """
    said = {seed.agrees for seed in seeds}
    if said == {True}:
        return "holds", ""
    if said == {False}:
        return "fails", ""
    if not seeds:
        return "undecided", "the registry has no cell of this reading"
    silent = [seed for seed in seeds if seed.agrees is None]
    if silent:
        return (
            "undecided",
            f"{len(silent)} of {len(seeds)} seeds do not decide; seed {silent[0].seed}: {silent[0].reason}",
        )
    agreeing = ", ".join(str(seed.seed) for seed in seeds if seed.agrees)
    return "undecided", f"the seeds disagree: it holds on {agreeing} alone"


def chosen_source(cells: Cells, setting: Setting, dataset: str) -> Source | None:
    """Return which rows of a data set a finding looks at: real ones before generated ones; None if there is no cell.

    Parameters
    ----------
    cells
        The registries.
    setting
        Of the cells.
    dataset
        Its name.
    """
    found = {place.source for place in cells.places(setting) if place.source.dataset == dataset}
    return min(found, key=lambda source: _PROVENANCE_ORDER.index(source.provenance), default=None)


def _changes_places(evidence: Evidence, dataset: str) -> bool | None:
    """Tell whether two models change places on one data set; None if none is seen to and a number is missing."""
    before, after = (
        {model: evidence.find(dataset, protocol, AVERAGE_PRECISION, model=model) for model in MODELS}
        for protocol in ("A", "B")
    )
    pairs = []
    for one, other in combinations(MODELS, 2):
        a, b, c, d = before[one], before[other], after[one], after[other]
        pairs.append(None if a is None or b is None or c is None or d is None else (a - b) * (c - d) < 0)
    return _some(pairs)


def _beats_none(evidence: Evidence, dataset: str, protocol: ProtocolName, defence: str) -> bool | None:
    bare = evidence.find(dataset, protocol, AVERAGE_PRECISION)
    defended = evidence.find(dataset, protocol, AVERAGE_PRECISION, defence=defence)
    return None if bare is None or defended is None else defended > bare


def _some(parts: Iterable[bool | None]) -> bool | None:
    said = set(parts)
    if True in said:
        return True
    return None if None in said else False


def _every(parts: Iterable[bool | None]) -> bool | None:
    said = set(parts)
    if False in said:
        return False
    return None if None in said else True


def _defence_at(cells: Cells, setting: Setting, source: Source, model: str, defence: str) -> str:
    """Return the defence by its plain name if it has a cell, otherwise a variant of it that has one."""
    found = {place.defence for place in cells.places(setting) if (place.source, place.model) == (source, model)}
    variants = sorted(name for name in found if name.partition("=")[0] == defence)
    return variants[0] if variants and defence not in found else defence


def _last(path: str) -> str:
    name = path.rpartition(".")[2].replace("_", " ")
    return "robust PR-AUC" if path == AVERAGE_PRECISION else name


def _told(cells: Cells, setting: Setting) -> str:
    origins = sorted({place.source.provenance for place in cells.places(setting)} - {"unknown"})
    return f"{setting}, rows {' and '.join(origins) or 'of unknown origin'}"
