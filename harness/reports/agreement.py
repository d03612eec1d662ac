"""How far several judges of one run agree on the statements that each was asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from harness.reports.measures import Part, Rate, rate
from harness.reports.statistics import cohens_kappa
from harness.verdict import Feeds, Grade, Stage, Standing


class JudgePair(Part):
    """Two judges over the statements that both answered.

    Attributes
    ----------
    kappa
        Cohen's kappa: agreement beyond what their shares of passes make likely by chance. None over nothing, or
        where both always say the same one thing.
    """

    first: str
    second: str
    agreement: Rate
    kappa: float | None


class JudgeAgreement(Part):
    """The judges of a run.

    Attributes
    ----------
    passed
        By what they feed: the share of statements that hold, those left open aside. On attacks, statements on service
        feed no rate and stand here only.
    answered
        By judge: the share of statements on which it gave a readable verdict.
    unanimous
        The share of statements on which all who answered agree, among those that two or more answered.
    pairs
        Every two of them; empty if there is one judge only.
    """

    passed: dict[Feeds, Rate]
    answered: dict[str, Rate]
    unanimous: Rate
    pairs: tuple[JudgePair, ...]


def judge_agreement(grades: Iterable[Grade]) -> JudgeAgreement:
    """Compare what the judges said of all statements of some episodes."""
    verdicts = [verdict for grade in grades for verdict in grade.verdicts if verdict.stage is Stage.SEMANTIC]
    statements = [verdict.opinions for verdict in verdicts if verdict.opinions]
    judges = sorted({judge for opinions in statements for judge in opinions})
    votes = {judge: [_vote(opinions.get(judge)) for opinions in statements] for judge in judges}
    return JudgeAgreement(
        passed={
            feeds: rate(_vote(verdict.standing) for verdict in verdicts if verdict.feeds is feeds)
            for feeds in Feeds
            if any(verdict.feeds is feeds for verdict in verdicts)
        },
        answered={
            judge: rate(
                vote is not None for vote, opinions in zip(votes[judge], statements, strict=True) if judge in opinions
            )
            for judge in judges
        },
        unanimous=rate(
            map(_is_unanimous, zip(*votes.values(), strict=True)) if len(judges) > 1 else (),
            None if len(judges) > 1 else "there are not several judges",
        ),
        pairs=tuple(_pair(one, other, votes[one], votes[other]) for one, other in combinations(judges, 2)),
    )


def _vote(standing: Standing | None) -> bool | None:
    return None if standing in (None, Standing.UNGRADED) else standing is Standing.PASS


def _is_unanimous(votes: Sequence[bool | None]) -> bool | None:
    given = [vote for vote in votes if vote is not None]
    return len(set(given)) == 1 if len(given) > 1 else None


def _pair(one: str, other: str, ours: Sequence[bool | None], theirs: Sequence[bool | None]) -> JudgePair:
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
    return JudgePair(
        first=one,
        second=other,
        agreement=rate((a == b for a, b in both), None if both else "no statement was answered by both"),
        kappa=cohens_kappa(both),
    )
