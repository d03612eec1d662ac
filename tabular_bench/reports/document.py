"""A report as a document. Its JSON is `Report.model_dump`; `Report.model_json_schema` describes it to a machine."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

Source = Literal["label", "ours", "published"]
Mark = Literal["saturated", "transfer_under_A"]
Verdict = Literal["holds", "fails", "undecided"]
Attacked = Literal["positives", "both"]

FORMAT: Final = 1


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Value(_Model):
    """One entry of a table: a number over seeds, words, or nothing and the reason.

    Attributes
    ----------
    mean
        Over the seeds that gave a number; None without one.
    deviation
        The sample standard deviation over them; None with fewer than two.
    seeds
        How many gave a number. None for a published value: its table says how many.
    missing
        By reason, which seeds gave no number because of it.
    text
        Words instead of a number.
    marks
        ``saturated``: on some seed the number sits on the floor of average precision, where attacks can no longer be
        told apart by it. ``transfer_under_A``: a published number that is not what its table says, but a transfer
        under Protocol A from a member of the ensemble.
    """

    mean: float | None = None
    deviation: float | None = None
    seeds: int | None = None
    missing: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    text: str | None = None
    marks: tuple[Mark, ...] = ()

    @property
    def is_blank(self) -> bool:
        """Whether there is neither a number nor words."""
        return self.mean is None and self.text is None


class Column(_Model):
    """One column of a table.

    Attributes
    ----------
    name
        For programs.
    title
        For people.
    source
        ``label`` says which row it is, ``ours`` was measured by this bench, ``published`` is in print.
    decimals
        With how many digits after the point a number of it is shown; JSON and CSV hold it in full.
    attacked
        Which rows were attacked to get its numbers, where that matters.
    """

    name: str
    title: str
    source: Source = "ours"
    decimals: int = 3
    attacked: Attacked | None = None


class Row(_Model):
    """One row of a table.

    Attributes
    ----------
    values
        By the name of the column; a name that is not in here is an empty place, about which there is nothing to say.
    flags
        What disqualifies the detector of this row, if anything: name and detail.
    """

    values: dict[str, Value]
    flags: dict[str, str] = Field(default_factory=dict)


class Table(_Model):
    """One table of a report.

    Attributes
    ----------
    number
        The Roman number of the published table that it stands beside.
    title
        What it shows.
    setting
        What all its cells share; empty where it shows no cells.
    seeds
        Over which its numbers are.
    columns
        In order.
    rows
        In order.
    notes
        What a reader must know to read it rightly.
    """

    number: str
    title: str
    setting: str = ""
    seeds: tuple[int, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()


class SeedFinding(_Model):
    """What one seed says of a finding.

    Attributes
    ----------
    seed
        Of the cells.
    agrees
        Whether its numbers satisfy the definition; None if they do not decide.
    numbers
        The ones that were looked at, by what they are.
    reason
        Why they do not decide; empty if they do.
    """

    seed: int
    agrees: bool | None
    numbers: dict[str, float]
    reason: str = ""


class FindingResult(_Model):
    """The verdict on one published finding in one reading.

    Attributes
    ----------
    name
        Of the finding.
    claim
        What is published.
    definition
        The inequality that each seed is put to.
    reading
        Preset, and which rows were attacked.
    cells
        What else the cells that were looked at share, and where their rows come from; empty if there is none.
    is_home
        Whether this is the reading of the published numbers: preset ``published``, both classes attacked. The others
        tell whether the finding outlives a stricter reading.
    verdict
        ``holds`` if every seed agrees, ``fails`` if every seed contradicts, else ``undecided``.
    reason
        Why it is undecided; empty if it is not.
    seeds
        What each seed says.
    """

    name: str
    claim: str
    definition: str
    reading: str
    cells: str
    is_home: bool
    verdict: Verdict
    reason: str
    seeds: tuple[SeedFinding, ...]


class Report(_Model):
    """A whole report.

    Attributes
    ----------
    format
        Of this document.
    sources
        The registries that were read.
    records
        How many cells there are, by status.
    provenance
        By data set, where its rows come from.
    published
        Where the published values were printed.
    notes
        What holds for all tables.
    tables
        In the order of their numbers.
    findings
        In the order of the tables they belong to.
    """

    format: Literal[1] = FORMAT
    sources: tuple[str, ...]
    records: dict[str, int]
    provenance: dict[str, tuple[str, ...]]
    published: str
    notes: tuple[str, ...]
    tables: tuple[Table, ...]
    findings: tuple[FindingResult, ...]
