"""Reading a CSV file that somebody else made: every fault is named with file, column and row.

Files are read in two passes. The first goes through every record, holds its width against the header (a stray comma
would move values into the wrong columns) and keeps the labels, from which a stratified share is drawn; the second
reads the columns in pieces, so that the whole table is never held. Nothing is evaluated; sizes are bounded.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabular_bench.datasets.one_hot import merge_one_hot
from tabular_bench.datasets.raw import RawTable
from tabular_bench.datasets.split import stratified_share
from tabular_bench.declaration import Declaration, FeatureDeclaration
from tabular_bench.errors import TableError, UnknownName
from tabular_bench.schema import IntArray

_MAX_COLUMNS = 10_000
_MAX_BYTES = 16 * 2**30
_CHUNK_ROWS = 50_000
_NO_NUMBER = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
_TRUTH = {"true": "1", "false": "0"}
_LEADING_NUMBER = re.compile(r"^\s*(-?\d+(?:\.\d+)?)")


def read_csv_table(
    path: Path, declaration: Declaration, *, share: float = 1.0, rows: int | None = None, seed: int = 42
) -> RawTable:
    """Read a table.

    Parameters
    ----------
    path
        A CSV file in UTF-8 with a header.
    declaration
        Says which columns there must be and how to read them. Where it lets others be inferred, they are read as
        numbers if all of their values are numbers, and as text otherwise.
    share
        Of the rows of each label to keep, in 0..1.
    rows
        Keep about so many instead, in the same way.
    seed
        Of the draw.

    Returns
    -------
    RawTable
        Rows in the order of the file. Those whose label is neither positive nor negative are left out.

    Raises
    ------
    TableError
        If something is not as expected.
    """
    header = read_header(path)
    _demand_columns(path, header, declaration)
    labels = _read_labels(path, header, declaration)
    usable = np.flatnonzero(labels >= 0)
    if np.unique(labels[usable]).size < 2:
        positive, negative = int((labels == 1).sum()), int((labels == 0).sum())
        raise TableError(
            f"{path}: column {declaration.target}: expected labels of both kinds, found {positive} positive "
            f"({', '.join(declaration.positive)}) and {negative} negative rows of {len(labels)}; "
            "if others mean fraud, name them as positive"
        )
    if rows is not None:
        share = min(1.0, rows / usable.size)
    if share < 1:
        usable = usable[stratified_share(labels[usable].astype(np.int8), share, seed, "share")]
    columns = _read_columns(path, header, declaration, usable)
    table = RawTable(columns, labels[usable].astype(np.int8), str(path), usable + 2)
    return merge_one_hot(table, declaration.one_hot)


def describe_file(path: Path) -> dict[str, str]:
    """Return size and SHA-256 of a file, for the notes of a data set.

    Parameters
    ----------
    path
        An existing file.
    """
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": path.name, "bytes": str(path.stat().st_size), "sha256": digest}


def read_header(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file.

    Parameters
    ----------
    path
        In UTF-8, with commas.

    Raises
    ------
    TableError
        If it cannot be read, has no header, or has a column twice.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise TableError(f"{path}: expected at most {_MAX_BYTES} bytes, found {path.stat().st_size}")
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(_not_csv(path, error)) from None
    names = [name.strip() for name in header]
    if not names:
        raise TableError(f"{path}: expected a header with the names of the columns, found an empty file")
    if len(names) == 1 and (marks := [mark for mark in ";\t|" if mark in names[0]]):
        raise TableError(
            f"{path}: expected columns separated by commas, found one column with {marks[0]!r} in its name; "
            "save the table with commas"
        )
    if len(names) > _MAX_COLUMNS:
        raise TableError(f"{path}: expected at most {_MAX_COLUMNS} columns, found {len(names)}")
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise TableError(f"{path}: expected every column once, found {', '.join(map(repr, twice))} more than once")
    return names


def _demand_columns(path: Path, header: list[str], declaration: Declaration) -> None:
    if declaration.target not in header:
        raise TableError(f"{path}: the column of labels: {UnknownName('column', declaration.target, header)}")
    groups = declaration.one_hot
    wanted = [declaration.target, *(entry.name for entry in declaration.features if entry.name not in groups)]
    wanted += [name for names in groups.values() for name in names]
    absent = [name for name in wanted if name not in header]
    if not absent:
        return
    unclaimed = [name for name in header if name not in wanted]
    told = []
    for name in absent[:10]:
        by_case = {other.casefold(): other for other in unclaimed}
        near = get_close_matches(name.casefold(), by_case, n=1, cutoff=0.7)
        told.append(f"{name} (renamed to {by_case[near[0]]}?)" if near else name)
    more = f" and {len(absent) - 10} more" if len(absent) > 10 else ""
    raise TableError(
        f"{path}: expected {len(wanted)} columns, {len(absent)} of them are missing: {', '.join(told)}{more}"
    )


def _chunks(path: Path, header: list[str], **options: Any) -> Any:
    import pandas as pd

    reader = pd.read_csv(
        path,
        encoding="utf-8-sig",
        header=0,
        names=header,
        keep_default_na=False,
        chunksize=_CHUNK_ROWS,
        low_memory=False,
        **options,
    )
    try:
        with reader:
            yield from reader
    except (pd.errors.ParserError, UnicodeDecodeError, ValueError) as error:
        raise TableError(f"{path}: {error}") from None


def _read_labels(path: Path, header: list[str], declaration: Declaration) -> NDArray[np.int64]:
    """Return 1, 0, or -1 for a row that is to be left out."""
    place = f"{path}: column {declaration.target}"
    position = header.index(declaration.target)
    texts = [_plain(record[position]) for record in _records(path, len(header))]
    found = Counter(texts)
    if found.get(""):
        raise TableError(f"{place}, row {texts.index('') + 2}: expected a label, found none")
    positive = {_plain(label) for label in declaration.positive}
    if declaration.negative is None:
        if len(found) > 2:
            listed = ", ".join(label for label, _ in found.most_common(5))
            raise TableError(
                f"{place}: expected two different labels, found {len(found)} ({listed}, ...); "
                "declare which are positive and which negative"
            )
        return np.array([int(text in positive) for text in texts], dtype=np.int64)
    negative = {_plain(label) for label in declaration.negative}
    return np.array([1 if text in positive else 0 if text in negative else -1 for text in texts], dtype=np.int64)


def _records(path: Path, width: int) -> Iterator[list[str]]:
    """Yield every record after the header; blank lines at the end are none."""
    blank_row = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row, record in enumerate(csv.reader(file), start=1):
                if not record:
                    blank_row = blank_row or row
                elif blank_row or len(record) != width:
                    place, found = (blank_row, 0) if blank_row else (row, len(record))
                    raise TableError(f"{path}: row {place}: expected {width} fields, found {found}")
                elif row > 1:
                    yield record
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(_not_csv(path, error)) from None


def _not_csv(path: Path, error: UnicodeDecodeError | csv.Error) -> str:
    if isinstance(error, csv.Error):
        return f"{path}: expected a CSV file in UTF-8: {error}"
    byte = error.object[error.start]
    with path.open("rb") as file:
        is_utf_16 = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    found = "UTF-16" if is_utf_16 else f"the byte {byte:#x}, which UTF-8 does not have there"
    return f"{path}: expected a CSV file in UTF-8, found {found}; save it as UTF-8"


def _plain(label: str) -> str:
    """Write 1, 1.0, " 1" and True in one way."""
    text = _TRUTH.get(label.strip().lower(), label.strip())
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def _read_columns(path: Path, header: list[str], declaration: Declaration, rows: IntArray) -> dict[str, NDArray[Any]]:
    declared = {feature.name: feature for feature in declaration.features}
    skipped = {declaration.target, *declaration.ignore}
    grouped = {name for names in declaration.one_hot.values() for name in names}
    chosen = [
        name for name in header if name in declared or name in grouped or (declaration.infer and name not in skipped)
    ]
    as_text = {name for name in chosen if name not in declared or _is_read_as_text(declared[name])}
    options = {
        "usecols": chosen,
        "dtype": dict.fromkeys(as_text, str),
        "na_values": {name: _NO_NUMBER for name in chosen if name not in as_text},
    }
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in chosen}
    start = 0
    for chunk in _chunks(path, header, **options):
        wanted = rows[(rows >= start) & (rows < start + len(chunk))] - start
        for name in chosen:
            values = chunk[name]
            parts[name].append(
                _texts(values.to_numpy(dtype=object))[wanted]
                if name in as_text
                else _numbers(path, name, values, start)[wanted]
            )
        start += len(chunk)
    columns = {name: np.concatenate(parts[name]) for name in chosen}
    for name, values in columns.items():
        entry = declared.get(name)
        if entry is None:
            columns[name] = _as_numbers_if_all_are(values)
        elif entry.reading == "leading_number":
            columns[name] = _leading_numbers(path, entry, values, rows)
    return columns


def _is_read_as_text(feature: FeatureDeclaration) -> bool:
    return feature.kind == "category" or feature.reading == "leading_number"


def _texts(values: NDArray[Any]) -> NDArray[Any]:
    return np.array([text.strip() or None if isinstance(text, str) else None for text in values], dtype=object)


def _numbers(path: Path, name: str, values: Any, start: int) -> NDArray[np.float64]:
    import pandas as pd

    converted: NDArray[np.float64] = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
    bad = (np.isnan(converted) & values.notna().to_numpy()) | np.isinf(converted)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise TableError(
            f"{path}: column {name}, row {start + first + 2}: expected a finite number, found {values.iloc[first]!r}"
        )
    return converted


def _as_numbers_if_all_are(values: NDArray[Any]) -> NDArray[Any]:
    if {text.lower() for text in values if text is not None} <= _TRUTH.keys():
        values = np.array([None if text is None else _TRUTH[text.lower()] for text in values], dtype=object)
    try:
        numbers = np.array(
            [np.nan if text is None or text in _NO_NUMBER else float(text) for text in values], dtype=np.float64
        )
    except ValueError:
        return values
    return values if np.isinf(numbers).any() else numbers


def _leading_numbers(path: Path, feature: FeatureDeclaration, values: NDArray[Any], rows: IntArray) -> NDArray[Any]:
    found: list[Any] = []
    for text, row in zip(values, rows, strict=True):
        match = _LEADING_NUMBER.match(text or "")
        if text is not None and match is None and text not in _NO_NUMBER:
            raise TableError(f"{path}: column {feature.name}, row {row + 2}: expected a number first, found {text!r}")
        found.append(match[1] if match else None)
    if feature.kind == "category":
        return np.array(found, dtype=object)
    return np.array([np.nan if text is None else float(text) for text in found], dtype=np.float64)
