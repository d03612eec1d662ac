from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabular_bench.dataset import Dataset
from tabular_bench.datasets.registry import load_table
from tabular_bench.declaration import Declaration, parse_declaration, read_declaration
from tabular_bench.errors import DeclarationError, TableError, TabularError
from tabular_bench.seeds import generator

FIVE_LINES = """
target = "is_fraud"
immutable = ["age"]
derived = ["instalment"]
relations = ["instalment == payment(amount, rate / 1200, months)", "open_accounts <= all_accounts"]
"""

HEADER = "age,amount,rate,months,instalment,open_accounts,all_accounts,channel,late fee,is_fraud"


def lines(count: int = 60) -> list[list[str]]:
    rng = generator(1, "user table")
    rows = []
    for number in range(count):
        amount, rate, months = 1000 + 50 * number, 5 + number % 7, (12, 24)[number % 2]
        monthly = rate / 1200
        instalment = amount * monthly / (1 - (1 + monthly) ** -months)
        everything = int(rng.integers(3, 20))
        rows.append(
            [
                str(20 + number % 50),
                str(amount),
                str(rate),
                str(months),
                repr(instalment),
                str(int(rng.integers(0, everything))),
                str(everything),
                ("web", "branch", "phone")[number % 3],
                f"{rng.random():.3f}",
                "1" if number % 4 == 0 else "0",
            ]
        )
    return rows


def write(folder: Path, rows: list[list[str]], header: str = HEADER) -> Path:
    path = folder / "mine.csv"
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return path


def load(folder: Path, rows: list[list[str]], header: str = HEADER, declaration: str = FIVE_LINES) -> Dataset:
    return load_table(write(folder, rows, header), parse_declaration(declaration, "mine.toml"))


def test_a_table_with_five_lines_of_constraints(tmp_path: Path) -> None:
    dataset = load(tmp_path, lines())
    kinds = {feature.name: (feature.kind, feature.mutability) for feature in dataset.schema.features}
    assert kinds["age"] == ("integer", "immutable")
    assert kinds["instalment"] == ("numeric", "derived")
    assert kinds["late fee"] == ("numeric", "mutable")
    assert dataset.schema.feature("channel").categories == ("branch", "phone", "web")
    assert dataset.rows.shape == (60, 11)
    assert dataset.problem.constraints.holds(dataset.rows).all()
    assert dataset.provenance == "real"
    assert dataset.name == "mine"


Change = Callable[[list[list[str]]], None]


def cell(row: int, column: str, value: str) -> Change:
    def change(rows: list[list[str]]) -> None:
        rows[row][HEADER.split(",").index(column)] = value

    return change


def whole_column(column: str, value: str) -> Change:
    def change(rows: list[list[str]]) -> None:
        for row in rows:
            row[HEADER.split(",").index(column)] = value

    return change


def unique_texts(rows: list[list[str]]) -> None:
    for number in range(120):
        rows.append([*rows[number][:7], f"person {number}", *rows[number][8:]])


def too_wide(rows: list[list[str]]) -> None:
    rows[4].append("5")


def too_narrow(rows: list[list[str]]) -> None:
    rows[4].pop()


def blank_line(rows: list[list[str]]) -> None:
    rows[4] = []


def labels(*values: str) -> Change:
    def change(rows: list[list[str]]) -> None:
        for number, row in enumerate(rows):
            row[-1] = values[number % len(values)]

    return change


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (cell(7, "amount", ""), "column amount, row 9: expected a value, found none (1 rows lack it)"),
        (cell(7, "amount", "NaN"), "column amount, row 9: expected a value, found none"),
        (cell(3, "channel", ""), "column channel, row 5: expected a value, found none"),
        (whole_column("rate", "5"), "column rate: expected different values, found 5.0 in every row"),
        (whole_column("rate", ""), "column rate: expected different values, found no value at all"),
        (labels("0"), "column is_fraud: expected labels of both kinds, found 0 positive (1) and 60 negative"),
        (labels("1"), "found 60 positive (1) and 0 negative rows of 60"),
        (labels("0", "1", "2"), "expected two different labels, found 3"),
        (labels("0", "1", ""), "column is_fraud, row 4: expected a label, found none"),
        (labels(*"0" * 19, "1"), "expected at least 5 rows of each label, found 3 positive and 57 negative"),
        (unique_texts, "column channel: expected numbers, or at most 100 categories, found 123 texts"),
        (too_narrow, "row 6: expected 10 fields, found 9"),
        (blank_line, "row 6: expected 10 fields, found 0"),
        (too_wide, "row 6: expected 10 fields, found 11"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(change: Change, complaint: str, tmp_path: Path) -> None:
    rows = lines(240 if change is unique_texts else 60)
    change(rows)
    with pytest.raises(TableError) as caught:
        load(tmp_path, rows)
    assert complaint in str(caught.value)
    assert "mine.csv" in str(caught.value)


def test_blank_lines_at_the_end_and_spaces_are_no_fault(tmp_path: Path) -> None:
    path = write(tmp_path, lines(), HEADER.replace(",", " , "))
    declaration = parse_declaration(FIVE_LINES, "mine.toml")
    expected = load_table(path, declaration).rows
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    assert np.array_equal(load_table(path, declaration).rows, expected)


def test_a_category_that_training_rows_do_not_have(tmp_path: Path) -> None:
    split = load(tmp_path, lines()).split
    rows = lines()
    cell(int(split.test[0]), "channel", "post")(rows)
    with pytest.raises(TableError) as caught:
        load(tmp_path, rows)
    assert f"row {split.test[0] + 2}: expected a known category (branch, phone, web)" in str(caught.value)
    assert "found 'post'" in str(caught.value)


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        (HEADER.replace("rate", "amount"), "expected every column once, found 'amount' more than once"),
        (HEADER.replace("is_fraud", "Is_Fraud"), "did you mean Is_Fraud?"),
    ],
)
def test_what_is_wrong_with_a_header_is_named(header: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(TableError) as caught:
        load(tmp_path, lines(), header)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe\x00a", b"a,b\n"])
def test_files_that_are_no_tables(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"mine\.csv"):
        load_table(path, parse_declaration('target = "b"', "mine.toml"))
    with pytest.raises(TableError, match="cannot be read"):
        load_table(tmp_path / "none.csv", parse_declaration('target = "b"', "mine.toml"))


def test_declared_numbers_that_are_none(tmp_path: Path) -> None:
    declaration = 'target = "is_fraud"\n[[features]]\nnames = "amount"\nkind = "integer"'
    rows = lines()
    cell(5, "amount", "much")(rows)
    with pytest.raises(TableError, match="column amount, row 7: expected a finite number, found 'much'"):
        load(tmp_path, rows, declaration=declaration)
    cell(5, "amount", "1e999")(rows)
    with pytest.raises(TableError, match="column amount, row 7: expected a finite number"):
        load(tmp_path, rows, declaration=declaration)
    cell(5, "amount", "1.5")(rows)
    with pytest.raises(TableError, match=r"column amount, row 7: expected a whole number, found 1\.5"):
        load(tmp_path, rows, declaration=declaration)


def test_gaps_are_filled_from_training_rows_where_they_may_be(tmp_path: Path) -> None:
    rows = lines()
    cell(7, "amount", "")(rows)
    cell(8, "channel", "")(rows)
    dataset = load(tmp_path, rows, declaration='target = "is_fraud"\nmissing = ["amount", "channel"]')
    train = [int(rows[number][1]) for number in dataset.split.train if number != 7]
    assert dataset.rows[7, dataset.schema.index("amount")] == np.round(np.median(train))
    assert dataset.rows[8, dataset.schema.index("channel=missing")] == 1
    assert dataset.notes["filled in amount"] == "1 rows"


@pytest.mark.parametrize(
    ("declaration", "complaint"),
    [
        ('target = "is_fraud"\nrelations = ["amout <= 3"]', "did you mean amount"),
        ('target = "is_fraud"\nrelations = ["amount <= "]', "relation r1: expected a relation such as"),
        ('target = "is_fraud"\nrelations = ["1 <= 2"]', "expected a feature in it"),
        ('target = "is_fraud"\nimmutable = ["ages"]', "found ages; it has age"),
        ('target = "is_fraud"\nderived = ["amount"]', "expected a relation amount == ..., found none"),
        (
            'target = "is_fraud"\nderived = ["amount", "rate"]\nrelations = ["amount == rate", "rate == amount"]',
            "found a circle: amount, rate",
        ),
        ('target = "is_fraud"\nderived = ["age"]\nimmutable = ["age"]', "found ['age'] in both"),
        ('target = "is_fraud"\ncolour = "red"', "colour: Extra inputs are not permitted"),
        ('target = "is_fraud"\n[[features]]\nnames = "is_fraud"', "cannot be a feature, too"),
        ('target = "is_fraud"\n[[features]]\nnames = "age, age"', "found age more than once"),
        ('target = "is_fraud"\n[[features]]\nnames = "age"\nkind = "date"', "features.0.kind"),
        ('target = "is_fraud"\n[[features]]\nnames = "age"\nlower = 9\nupper = 3', "expected lower <= upper"),
        ('target = "is_fraud"\n[[features]]\nnames = "..., C3"', "a name on either side"),
        ("target = ", "Invalid value"),
        ("", "target: Field required"),
        ('target = "is_fraud"\nrelations = ["age >= 0", {label = "r1", holds = "age >= 1"}]', "found r1 twice"),
        (
            'target = "is_fraud"\nrelations = [{label = "a", holds = "age >= 0", tolerance = -1}]',
            "greater than or equal",
        ),
    ],
)
def test_what_is_wrong_with_a_declaration_is_named(declaration: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(TabularError) as caught:
        load(tmp_path, lines(), declaration=declaration)
    assert complaint in str(caught.value)


def test_declarations_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FIVE_LINES, encoding="utf-8")
    read = read_declaration(path)
    assert isinstance(read, Declaration)
    assert [relation.label for relation in read.catalogue.relations] == ["r1", "r2"]
    with pytest.raises(DeclarationError, match="cannot be read"):
        read_declaration(tmp_path / "none.toml")
    path.write_bytes(b"target = '\xff'")
    with pytest.raises(DeclarationError, match="expected UTF-8"):
        read_declaration(path)
    path.write_text("#" * 1_000_001)
    with pytest.raises(DeclarationError, match="at most 1000000 bytes"):
        read_declaration(path)
