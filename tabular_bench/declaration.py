"""Features and relations of a table, read from one TOML file.

The built-in data sets are declared this way, and so is a table of one's own. Everything but `target` may be left out;
features that are not declared are inferred from the table::

    target = "is_fraud"
    immutable = ["age", "bureau_score"]
    derived = ["instalment"]
    relations = ["instalment == payment(amount, rate / 1200, months)", "open_accounts <= all_accounts"]

More can be said where it matters::

    amount = "amount"                       # the money at stake: a trivial detector stops the largest first
    positive = ["yes"]                      # labels that mean fraud; without `negative` all others mean the opposite
    [[relations]]
    label = "amortisation"
    holds = "instalment == payment(amount, rate / 1200, months)"
    tolerance = 0.01
    [[features]]
    names = "C1, ..., C14"                  # one name, several, or a numbered range
    kind = "integer"
    lower = 0
    [one_hot]                               # 0/1 columns that are one category
    channel = "channel_app, channel_web"
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tabular_bench.constraints.catalogue import Catalogue, Relation
from tabular_bench.constraints.parsing import expand_range, parse_statement
from tabular_bench.errors import DeclarationError
from tabular_bench.schema import Kind, Mutability

Reading = Literal["plain", "leading_number"]

_MAX_BYTES = 1_000_000


def _names(value: Any) -> Any:
    """Turn ``"a, V1, ..., V3"`` into its names; a list stands as it is."""
    if not isinstance(value, str):
        return value
    parts = [part.strip() for part in value.split(",")]
    names: list[str] = []
    for position, part in enumerate(parts):
        if part != "...":
            names.append(part)
        elif 0 < position < len(parts) - 1:
            names += expand_range(parts[position - 1], parts[position + 1])[1:-1]
        else:
            raise DeclarationError(f"expected a name on either side of ..., found {value!r}")
    return names


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class FeatureEntry(_Model):
    """What a file says about one or several features.

    Attributes
    ----------
    names
        Of the columns in the table.
    kind, lower, upper, mutability, unit
        As in `tabular_bench.schema.Feature`.
    categories
        Of a category, in the order of their matrix columns. Left out: those of the training rows.
    missing
        Whether values may be missing: numbers are then filled in with the median of the training rows, and a
        category has the further value ``missing``.
    reading
        ``leading_number`` reads `` 36 months`` as 36 and ``13.5%`` as 13.5.
    """

    names: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(min_length=1)
    kind: Kind = "numeric"
    lower: float = -math.inf
    upper: float = math.inf
    mutability: Mutability | None = None
    unit: str = ""
    categories: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    missing: bool = False
    reading: Reading = "plain"


class RelationEntry(_Model):
    """What a file says about one relation.

    Attributes
    ----------
    label
        Short and unique.
    holds
        The relation, in the language of `tabular_bench.constraints.parsing`.
    tolerance, published_tolerance
        As in `tabular_bench.constraints.catalogue.Relation`.
    """

    label: str = Field(min_length=1)
    holds: str
    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    published_tolerance: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class _File(_Model):
    target: str
    positive: tuple[str, ...] = ("1",)
    negative: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    infer: bool = True
    amount: str | None = None
    immutable: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    one_hot: dict[str, Annotated[tuple[str, ...], BeforeValidator(_names), Field(min_length=2)]] = {}
    published_blocks: tuple[str, ...] = ()
    relations: tuple[RelationEntry | str, ...] = ()
    features: tuple[FeatureEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class FeatureDeclaration:
    """One declared feature; `categories` is empty where the training rows decide.

    Attributes
    ----------
    name, kind, lower, upper, mutability, unit, categories, missing, reading
        As in `FeatureEntry`.
    """

    name: str
    kind: Kind = "numeric"
    lower: float = -math.inf
    upper: float = math.inf
    mutability: Mutability = "mutable"
    unit: str = ""
    categories: tuple[str, ...] = ()
    missing: bool = False
    reading: Reading = "plain"


@dataclass(frozen=True, slots=True)
class Declaration:
    """A whole file.

    Attributes
    ----------
    target
        The column of labels.
    positive
        Labels that mean fraud.
    negative
        Labels that mean the opposite, rows with any other label are dropped; None: every other label does.
    ignore
        Columns that are no features.
    infer
        Whether columns without an entry are features, too.
    features
        The declared features, in the order of the table that is built.
    immutable, derived, missing
        Features of that mutability, and features that may lack values, declared one by one or not.
    catalogue
        The relations.
    amount
        The feature that is the money at stake; None if there is none.
    one_hot
        By the name of a category: the 0/1 columns that it has in the table in place of one with texts.
    """

    target: str
    positive: tuple[str, ...]
    negative: tuple[str, ...] | None
    ignore: tuple[str, ...]
    infer: bool
    features: tuple[FeatureDeclaration, ...]
    immutable: frozenset[str]
    derived: frozenset[str]
    missing: frozenset[str]
    catalogue: Catalogue
    amount: str | None = None
    one_hot: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def mutability_of(self, name: str) -> Mutability:
        """Return what the lists of the file say about a feature that has no entry of its own."""
        return _listed(name, self.immutable, self.derived)


def read_declaration(path: Path, target: str | None = None) -> Declaration:
    """Read a declaration from a file.

    Parameters
    ----------
    path
        A TOML file of at most 1 MB.
    target
        The column of labels, where the file need not name it; if it does, it has to be this one.

    Raises
    ------
    DeclarationError
        If it is missing, too large, no TOML, or says what cannot be; the message names the file and the place.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DeclarationError(f"{path}: expected at most {_MAX_BYTES} bytes, found {path.stat().st_size}")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DeclarationError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DeclarationError(f"{path}: expected UTF-8, found byte {error.object[error.start]:#x}") from None
    return parse_declaration(text, str(path), target)


def parse_declaration(text: str, source: str, target: str | None = None) -> Declaration:
    """Read a declaration from text.

    Parameters
    ----------
    text
        TOML.
    source
        Named in messages.
    target
        As in `read_declaration`.

    Raises
    ------
    DeclarationError
        If the text is no TOML or says what cannot be.
    """
    try:
        read = _File.model_validate(({"target": target} if target else {}) | tomllib.loads(text))
        if target and read.target != target:
            raise DeclarationError(f"target: expected {target!r}, as was asked for, found {read.target!r}")
        return _assemble(read)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(f"{source}: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DeclarationError(f"{source}: {place}: {first['msg']}, found {str(first['input'])[:80]!r}") from None
    except DeclarationError as error:
        raise DeclarationError(f"{source}: {error}") from None


def _assemble(read: _File) -> Declaration:
    immutable, derived = frozenset(read.immutable), frozenset(read.derived)
    if immutable & derived:
        raise DeclarationError(
            f"expected a feature in immutable or derived, found {sorted(immutable & derived)} in both"
        )
    features = tuple(
        FeatureDeclaration(
            name,
            entry.kind,
            entry.lower,
            entry.upper,
            entry.mutability or _listed(name, immutable, derived),
            entry.unit,
            entry.categories,
            entry.missing or name in read.missing,
            entry.reading,
        )
        for entry in read.features
        for name in entry.names
    )
    names = Counter(feature.name for feature in features)
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise DeclarationError(f"expected each feature once, found {', '.join(twice)} more than once")
    if read.target in names:
        raise DeclarationError(f"the target {read.target} cannot be a feature, too")
    grouped = Counter(name for group in read.one_hot.values() for name in group)
    if twice := sorted(name for name, count in grouped.items() if count > 1 or name in names or name == read.target):
        raise DeclarationError(f"expected a one-hot column in one group and nowhere else, found {', '.join(twice)}")
    catalogue = Catalogue(tuple(_relation(*item) for item in enumerate(read.relations, 1)), read.published_blocks)
    return Declaration(
        target=read.target,
        positive=read.positive,
        negative=read.negative,
        ignore=read.ignore,
        infer=read.infer,
        features=features,
        immutable=immutable,
        derived=derived,
        missing=frozenset(read.missing),
        catalogue=catalogue,
        amount=read.amount,
        one_hot=read.one_hot,
    )


def _listed(name: str, immutable: frozenset[str], derived: frozenset[str]) -> Mutability:
    if name in derived:
        return "derived"
    return "immutable" if name in immutable else "mutable"


def _relation(number: int, entry: RelationEntry | str) -> Relation:
    if isinstance(entry, str):
        entry = RelationEntry(label=f"r{number}", holds=entry)
    try:
        statement = parse_statement(entry.holds)
    except DeclarationError as error:
        raise DeclarationError(f"relation {entry.label}: {error}") from None
    return Relation(entry.label, statement, entry.holds, entry.tolerance, entry.published_tolerance)
