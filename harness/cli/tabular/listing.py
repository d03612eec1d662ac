"""`fraudbench tabular datasets`, `models`, `attacks`, `defences`, `protocols` and `check`: what there is."""

from __future__ import annotations

import math
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.exits import WRONG
from harness.cli.output import note, say
from harness.cli.tabular.options import DataRoot

if TYPE_CHECKING:
    from tabular_bench.check import DatasetCheck
    from tabular_bench.dataset import Dataset

# Enough rows of each generator to know its columns; the table of data sets need not wait for all of them.
SAMPLE_ROWS = 3_000


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (datasets, models, attacks, defences, protocols, check):
        app.command(command.__name__)(command)


def datasets(
    name: Annotated[str | None, typer.Argument(help="Show the features of this one.", show_default=False)] = None,
    data_root: DataRoot = None,
) -> None:
    """List the data sets, or the features of one: kind, bounds, what can be changed, unit."""
    from harness.reports.tables import Table
    from tabular_bench.datasets.registry import DATASETS

    if name is not None:
        _show_dataset(_sample(name, data_root))
        return
    rows = []
    for spec in DATASETS.values():
        found = _sample(spec.name, data_root)
        rows.append(
            (
                spec.name,
                f"{spec.rows:,}",
                str(found.schema.width),
                f"{spec.prevalence:.2%}",
                f"{found.labels.mean():.2%}",
                str(len(found.catalogue.relations)),
                found.provenance,
                spec.csv or "-",
                spec.about,
            )
        )
    header = ("name", "rows", "columns", "fraud", "here", "relations", "rows are", "real file", "about")
    notes = (
        "rows, fraud: of the real table; a tenth of its rows is used. columns: after encoding.",
        "here: the share of fraud in a sample of what is used now.",
        "real files: --data-root DIR looks for DIR/FILE and DIR/NAME/FILE. Features: fraudbench tabular datasets NAME.",
    )
    say(Table("Data sets", header, tuple(rows), notes).as_text())


def models() -> None:
    """List the models, what each is and whether it has gradients."""
    from harness.reports.tables import Table
    from tabular_bench.capability import gives_gradients
    from tabular_bench.detectors.models import MODELS, TRIVIAL_MODELS

    rows = tuple(
        (name, model.summary, "yes" if gives_gradients(model) else "no", str(model.rule))
        for name, model in (MODELS | TRIVIAL_MODELS).items()
    )
    notes = (
        "Your own: package.module:factory, or a file .json or .ubj of XGBoost; a ready one with your own table, ONNX "
        "files among them: fraudbench tabular score.",
    )
    say(Table("Models", ("name", "is", "gradients", "threshold"), rows, notes).as_text())


def attacks() -> None:
    """List the attacks, what each has to be given, its hyper-parameters, and which models it applies to."""
    from harness.reports.tables import Table
    from tabular_bench.attacks.catalogue import ATTACKS
    from tabular_bench.capability import matrix

    rows = tuple((name, f"{entry.make().access}s", entry.summary, entry.source) for name, entry in ATTACKS.items())
    say(Table("Attacks", ("name", "needs", "is", "after"), rows).as_text())
    say("Hyper-parameters and defaults, to be set as name(key=value, ...)\n")
    for name, entry in ATTACKS.items():
        settings = ", ".join(f"{key}={_setting(value)}" for key, value in entry.hyper_parameters.items())
        say(f"  {name}({settings})")
    found = matrix()
    kinds = tuple(next(iter(found.values())))
    cells = tuple((name, *("yes" if found[name][kind] else "-" for kind in kinds)) for name in found)
    notes = ("-: the attack needs gradients and the model has none.",)
    say("\n" + Table("Which attack applies to which model", ("attack", *kinds), cells, notes).as_text())


def defences() -> None:
    """List the defences."""
    from tabular_bench.defences.catalogue import DEFENCES

    for name, make in DEFENCES.items():
        defence = make()
        settings = ", ".join(
            f"{entry.name}={_setting(getattr(defence, entry.name))}" for entry in _settings_of(defence)
        )
        say(f"{name:22}{_summary(type(defence))}" + (f" ({settings})" if settings else ""))
    say("\nadversarial_training=ATTACK trains against another attack than the usual one.")


def protocols() -> None:
    """List the protocols, and in what the two presets differ."""
    from harness.reports.tables import Table
    from tabular_bench.protocol import PRESETS, Preset, Protocol
    from tabular_bench.score.run import PROTOCOLS

    rows = tuple(
        (name, *("yes" if holds else "no" for holds in (protocol.projects, protocol.masks, protocol.filters)))
        for name in PROTOCOLS
        for protocol in [Protocol(name)]
    )
    header = ("protocol", "constraints in the loop", "only what can be changed", "filtered afterwards")
    say(Table("Protocols", header, rows).as_text())
    differing = tuple(
        (entry.name.replace("_", " "), *(_setting(getattr(preset, entry.name)) for preset in PRESETS.values()))
        for entry in fields(Preset)
        if entry.name != "name"
    )
    notes = ("strict is the default. published reproduces the arithmetic of the released code; docs/tabular.md.",)
    say("\n" + Table("Presets", ("setting", *PRESETS), differing, notes).as_text())


def check(
    target: Annotated[
        str, typer.Argument(metavar="DATASET|FILE.toml", help="A data set, or a constraint file for a table of yours.")
    ],
    table: Annotated[
        Path | None, typer.Argument(metavar="[CSV]", help="The table of a constraint file.", show_default=False)
    ] = None,
    data_root: DataRoot = None,
    rows: Annotated[
        int | None, typer.Option("--rows", min=20, help="Check about so many rows of a data set; a tenth by default.")
    ] = None,
) -> None:
    """Prove that clean rows satisfy their constraints, and that every relation can be violated.

    Exit status 1 if clean rows break something, or nothing breaks a relation.
    """
    from tabular_bench.check import check_dataset
    from tabular_bench.datasets.registry import load_dataset, load_table
    from tabular_bench.declaration import read_declaration
    from tabular_bench.errors import DeclarationError, InputError

    if not target.endswith(".toml"):
        if table is not None:
            raise InputError(f"expected a constraint file with the table {table}, found the data set {target!r}")
        dataset = load_dataset(target, rows=rows, data_root=data_root)
    elif table is None:
        raise InputError(f"{target}: expected a table to check it on: fraudbench tabular check {target} TABLE.csv")
    else:
        declaration = read_declaration(Path(target))
        try:
            dataset = load_table(table, declaration)
        except DeclarationError as error:
            raise DeclarationError(f"{target}: {error}") from None
    found = check_dataset(dataset)
    _show_check(found)
    if not found.passed:
        raise typer.Exit(WRONG)


def _sample(name: str, data_root: Path | None) -> Dataset:
    from tabular_bench.datasets.registry import load_dataset

    return load_dataset(name, rows=SAMPLE_ROWS, data_root=data_root)


def _show_dataset(found: Dataset) -> None:
    from harness.reports.tables import Table

    rows = tuple(
        (
            feature.name,
            feature.kind,
            *(("-", "-") if feature.categories else (_bound(feature.lower), _bound(feature.upper))),
            feature.mutability,
            f"{len(feature.categories)} one-hot columns" if feature.categories else "-",
            feature.unit or "-",
        )
        for feature in found.schema.features
    )
    title = f"{found.name} ({found.provenance} rows): {len(rows)} features in {found.schema.width} columns"
    say(Table(title, ("feature", "kind", "lower", "upper", "mutability", "group", "unit"), rows).as_text())
    if found.catalogue.relations:
        say("Relations\n")
    for relation in found.catalogue.relations:
        tolerance = f"  (tolerance {relation.tolerance:g})" if relation.tolerance else ""
        say(f"  {relation.label}: {' '.join(relation.text.split())}{tolerance}")
    for key, value in found.notes.items():
        note(f"{key}: {value}")


def _show_check(found: DatasetCheck) -> None:
    from harness.reports.tables import Table

    rows = tuple(
        (
            relation.label,
            str(relation.clean_violations),
            "yes" if relation.can_be_violated else "NO",
            ", ".join(f"{name}: {before:g} -> {after:g}" for name, (before, after) in relation.witness.items()) or "-",
        )
        for relation in found.relations
    )
    title = f"{found.name}: {found.rows} {found.provenance} rows"
    say(Table(title, ("relation", "broken by clean rows", "can be violated", "for example"), rows).as_text())
    for family, count in found.failures.items():
        say(f"{count} clean rows fail: {family}")
    say("Everything is in order." if found.passed else "Something is wrong: see above.")


def _bound(value: float) -> str:
    return f"{value:g}" if math.isfinite(value) else "-"


def _setting(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(value)


def _settings_of(defence: Any) -> tuple[Field[Any], ...]:
    return fields(defence)


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]
