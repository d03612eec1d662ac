from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, is_dataclass

import pytest

from tabular_bench.attack import AttackContext
from tabular_bench.attacks.capgd import Capgd
from tabular_bench.attacks.catalogue import ATTACKS, find_attack
from tabular_bench.attacks.steps import Pgd
from tabular_bench.errors import InputError, UnknownName
from tabular_bench.schema import FloatArray
from tabular_bench.threat import ACCESS_ORDER


class Still:
    """An attack of one's own."""

    access = "decision"

    def perturb(self, context: AttackContext) -> FloatArray:
        return context.rows


def wants_more(strength: float) -> Still:
    return Still()


def no_attack() -> str:
    return "nothing"


@pytest.mark.parametrize("name", ATTACKS)
def test_an_entry_is_a_dataclass_of_defaults_with_a_line_for_people(name: str) -> None:
    entry = ATTACKS[name]
    attack = find_attack(name)
    assert is_dataclass(attack)
    assert attack == entry.make()
    assert attack.access in ACCESS_ORDER
    assert entry.hyper_parameters == {field.name: getattr(attack, field.name) for field in fields(attack)}
    assert entry.summary
    assert entry.source
    for field in fields(attack):
        assert f"\n    {field.name}\n" in (type(attack).__doc__ or ""), field.name


@pytest.mark.parametrize("name", ATTACKS)
def test_every_hyper_parameter_can_be_written_out(name: str) -> None:
    written = ", ".join(f"{key}={value}" for key, value in ATTACKS[name].hyper_parameters.items())
    assert find_attack(f"{name}({written})") == find_attack(name)


def test_hyper_parameters_have_the_type_of_their_field() -> None:
    assert find_attack("pgd(steps=3, step_share=1, random_start=false)") == Pgd(3, 1.0, random_start=False)
    assert find_attack(" pgd ( step_share = None ) ") == Pgd()
    assert find_attack("capgd(restarts=0,margin=1e-2,)") == Capgd(restarts=0, margin=0.01)
    assert find_attack("fgsm()") == find_attack("fgsm")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("pdg", r"expected an attack .*found 'pdg'; did you mean pgd"),
        ("pgd(step=3)", r"expected a hyper-parameter of pgd .steps, .*found 'step'; did you mean step"),
        ("pgd(steps=3.5)", "expected a whole number for steps, found '3.5'"),
        ("pgd(step_share=big)", "expected a number or none for step_share, found 'big'"),
        ("pgd(step_share=nan)", "expected a number or none for step_share, found 'nan'"),
        ("pgd(random_start=1)", "expected true or false for random_start, found '1'"),
        ("pgd(steps=1, steps=2)", "steps is given twice"),
        ("pgd(3)", "expected key=value, found '3'"),
        ("pgd(steps=0)", r"pgd\(steps=0\): expected steps >= 1"),
        ("bim(switch_trials=-1)", "expected switch_trials >= 0"),
        ("capgd(margin=1)", r"a margin in \[0, 1\)"),
        ("noise(draws=0)", "expected draws >= 1"),
        ("pgd(steps=3", "expected name, name.key=value, .* found"),
        ("", "expected name, name"),
    ],
)
def test_what_cannot_be_read(text: str, complaint: str) -> None:
    with pytest.raises((InputError, UnknownName), match=complaint):
        find_attack(text)


def test_an_attack_of_ones_own() -> None:
    assert isinstance(find_attack(f"{__name__}:Still"), Still)
    with pytest.raises(InputError, match=r"expected an attack, with perturb.*found str"):
        find_attack(f"{__name__}:no_attack")
    with pytest.raises(InputError, match=r"called without arguments: .*strength"):
        find_attack(f"{__name__}:wants_more")
    with pytest.raises(InputError, match="there is no module 'nowhere'"):
        find_attack("nowhere:attack")
    with pytest.raises(InputError, match="has no 'nothing'"):
        find_attack(f"{__name__}:nothing")


def test_the_catalogue_is_light() -> None:
    heavy = "torch", "xgboost", "pandas", "sklearn", "scipy"
    code = f"import sys, tabular_bench.attacks.catalogue; sys.exit(any(name in sys.modules for name in {heavy!r}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
