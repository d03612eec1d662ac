"""The measurements of a payment, the scorecard, and any other detector in its place."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domains.banking.features import FEATURES, measure
from domains.banking.scorecard import TERMS, Scorecard
from domains.banking.tables import Account, Payee
from domains.kit.world import World
from tabular_bench import Detector
from tests.domains.banking.small_bank import NOW, call, open_bank

EVERYDAY = [FEATURES[name].everyday for name in Scorecard().feature_names]


class ByHour:
    """A detector of one feature."""

    feature_names = ("hour",)

    def predict_proba(self, rows: Any) -> Any:
        return rows[:, 0] / 23.0


class Stranger(ByHour):
    feature_names = ("colour",)


def test_every_measurement(bank: World) -> None:
    account, payee = bank.find(Account, "AC-ANNA"), bank.find(Payee, "PY-SHOP")
    assert measure(bank, account, payee, 50_000) == {
        "amount_dollars": 500.0,
        "balance_share": 0.1,
        "payee_age_days": 400.0,
        "is_first_payment": 0.0,
        "is_external": 1.0,
        "hour": 11.0,
        "payments_today": 2.0,
        "account_age_days": 2000.0,
        "fresh_money_share": 0.3,
        "days_since_channel_change": 300.0,
    }
    inside = measure(bank, account, bank.find(Account, "AC-SAVE"), 50_000)
    assert (inside["is_external"], inside["is_first_payment"], inside["payee_age_days"]) == (0.0, 1.0, 2000.0)


def test_the_measurements_are_the_features(bank: World) -> None:
    empty, payee = bank.find(Account, "AC-EMPTY"), bank.find(Payee, "PY-SHOP")
    measured = measure(bank, empty, payee, 1)
    assert list(measured) == list(FEATURES)
    assert measured["balance_share"] == 1.0


def test_money_is_fresh_for_72_hours() -> None:
    for hours, share in ((48.0, 0.3), (48.001, 0.0)):
        bank = open_bank(now=NOW + timedelta(hours=hours))
        account, payee = bank.find(Account, "AC-ANNA"), bank.find(Payee, "PY-SHOP")
        assert measure(bank, account, payee, 1)["fresh_money_share"] == share
        bank.close()


def test_a_new_payee_and_a_large_share_raise_the_score(bank: World) -> None:
    everyday = call(bank, "score_payment", from_account_id="AC-ANNA", amount_cents=4_000, payee_id="PY-SHOP").result
    risky = call(bank, "score_payment", from_account_id="AC-ANNA", amount_cents=480_000, payee_id="PY-FAR").result
    assert everyday["score"] < 0.1 < risky["score"]
    assert risky["reasons"][0]["measurement"] == "balance_share"
    assert all(set(reason) == {"measurement", "meaning", "value", "weight"} for reason in risky["reasons"])


def test_another_detector_takes_its_place() -> None:
    detector: Detector = ByHour()
    bank = open_bank(resources={"detector": detector})
    result = call(bank, "score_payment", from_account_id="AC-ANNA", amount_cents=4_000, payee_id="PY-SHOP").result
    assert result == {"score": round(11 / 23, 4), "reasons": []}
    bank.close()


def test_a_detector_that_asks_for_the_unknown_is_a_fault_of_the_setup() -> None:
    bank = open_bank(resources={"detector": Stranger()})
    with pytest.raises(ValueError, match="asks for colour; the bank measures amount_dollars"):
        call(bank, "score_payment", from_account_id="AC-ANNA", amount_cents=4_000, payee_id="PY-SHOP")
    bank.close()


def test_every_term_uses_a_feature_that_the_bank_measures() -> None:
    assert {term.feature for term in TERMS} == set(FEATURES)


@given(st.lists(st.floats(-1e9, 1e9), min_size=len(TERMS), max_size=len(TERMS)))
def test_scores_are_between_the_least_and_the_most(row: list[float]) -> None:
    card = Scorecard()
    least = card.predict_proba(np.array([[term.start for term in TERMS]]))[0]
    most = card.predict_proba(np.array([[term.full for term in TERMS]]))[0]
    assert 0.0 < least <= card.predict_proba(np.array([row]))[0] <= most < 1.0


@pytest.mark.parametrize("place", range(len(TERMS)))
def test_every_term_moves_the_score_its_way(place: int) -> None:
    rows = np.array([EVERYDAY, EVERYDAY, EVERYDAY])
    rows[:, place] = [TERMS[place].start, (TERMS[place].start + TERMS[place].full) / 2, TERMS[place].full]
    scores = Scorecard().predict_proba(rows)
    assert scores[0] < scores[1] < scores[2]


@pytest.mark.parametrize("rows", [np.zeros(10), np.zeros((2, 3)), np.full((1, len(TERMS)), np.nan)])
def test_rows_of_another_shape_are_refused(rows: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        Scorecard().predict_proba(rows)
