"""Personal loans: a borrower, what the bureau knows, what is asked for, the price, and whether it was paid back.

A hidden quality moves score, grade, rate and history together. The rate follows the sub-grade, and the instalment
follows amount, rate and term to the cent. Whether a loan is paid back depends on rate, term, burden, use of cards and
recent appetite for credit, with much chance, as it is with people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tabular_bench.constraints.evaluation import Evaluator
from tabular_bench.constraints.expression import Call, Reference
from tabular_bench.datasets.generators.drawing import choose, finish, labels_by_risk, standardise, with_gaps
from tabular_bench.datasets.raw import RawTable
from tabular_bench.schema import Feature, FloatArray, Schema
from tabular_bench.seeds import generator

PREVALENCE = 0.20

_GRADES = "ABCDEFG"
# Of 100 loans, how many have each grade.
_GRADE_WEIGHTS = (17, 29, 28, 15, 7, 3, 1)

_PURPOSES = {
    "debt_consolidation": 58,
    "credit_card": 22,
    "home_improvement": 6.5,
    "other": 5.8,
    "major_purchase": 2.2,
    "small_business": 1.2,
    "car": 1.1,
    "medical": 1.1,
    "moving": 0.7,
    "vacation": 0.7,
    "house": 0.5,
    "wedding": 0.2,
    "renewable_energy": 0.1,
    "educational": 0.05,
}
_LENGTHS = "< 1 year|1 year|2 years|3 years|4 years|5 years|6 years|7 years|8 years|9 years|10+ years".split("|")
_STATES = """
CA 146 TX 82 NY 81 FL 72 IL 38 NJ 36 PA 34 OH 33 GA 32 VA 28 NC 28 MI 26 MD 23 AZ 24 MA 23 CO 22 WA 21 MN 18
IN 16 TN 15 MO 16 CT 15 NV 15 WI 13 AL 12 SC 12 OR 12 LA 11 KY 10 OK 9 KS 8 AR 8 UT 8 NM 6 HI 5 MS 5 NH 5 RI 4
WV 4 NE 3 DE 3 MT 3 DC 3 AK 2 WY 2 SD 2 VT 2 ME 2 ND 1 ID 1 IA 1
"""

Columns = dict[str, NDArray[Any]]


def generate(count: int, seed: int) -> RawTable:
    """Generate loans.

    Parameters
    ----------
    count
        Of rows.
    seed
        Of the draw.

    Returns
    -------
    RawTable
        63 columns, some with gaps.
    """
    rng = generator(seed, "lcld")
    quality = rng.normal(size=count)
    columns = _person(quality, rng)
    columns |= _bureau(quality, columns, rng)
    columns |= _price(quality, rng)
    columns |= _request(columns, rng)
    labels = labels_by_risk(_risk(columns), PREVALENCE, rng)
    return finish(_gaps(columns, rng), labels, "LCLD")


def _person(quality: FloatArray, rng: Generator) -> Columns:
    count = len(quality)
    income = np.exp(11.05 + 0.12 * quality + rng.normal(0, 0.5, count))
    states = _STATES.split()
    return {
        "annual_inc": np.where(rng.random(count) < 0.8, np.round(income, -3), np.round(income, 2)),
        "dti": np.round(np.clip(rng.gamma(5, 3.7, count) - 1.2 * quality, 0, 60), 2),
        "emp_length": choose(_LENGTHS, (8, 7, 9, 8, 6, 6, 5, 5, 5, 4, 33), count, rng),
        "home_ownership": choose(
            ("MORTGAGE", "RENT", "OWN", "ANY", "OTHER", "NONE"), (49, 40, 10.9, 0.05, 0.03, 0.02), count, rng
        ),
        "addr_state": choose(states[::2], [float(weight) for weight in states[1::2]], count, rng),
        "application_type": choose(("Individual", "Joint App"), (98, 2), count, rng),
        "purpose": choose(tuple(_PURPOSES), tuple(_PURPOSES.values()), count, rng),
        "verification_status": choose(("Not Verified", "Source Verified", "Verified"), (30, 39, 31), count, rng),
        "initial_list_status": choose(("f", "w"), (42, 58), count, rng),
    }


def _bureau(quality: FloatArray, person: Columns, rng: Generator) -> Columns:
    count = len(quality)
    cards = rng.poisson(np.exp(1.95 + 0.35 * rng.normal(size=count)))
    open_cards = rng.binomial(cards, 0.62)
    store_cards = rng.poisson(5.5, count)
    revolving = cards + store_cards
    open_revolving = open_cards + rng.binomial(store_cards, 0.55)
    instalments = rng.poisson(np.exp(1.9 + 0.4 * rng.normal(size=count)))
    mortgages = rng.poisson(np.where(person["home_ownership"] == "MORTGAGE", 2.7, 0.6))
    open_acc = np.maximum(1, open_revolving + rng.binomial(instalments, 0.3))
    total = np.maximum(open_acc, revolving + instalments + mortgages)
    records = rng.poisson(np.exp(-2.0 - 0.4 * quality))
    bankruptcies = rng.binomial(records, 0.6)
    late = rng.poisson(np.exp(-1.5 - 0.3 * quality))
    score = 660 + 5 * np.floor(np.clip(rng.gamma(2.0 + 0.8 * np.exp(0.5 * quality), 2.2, count), 0, 37))
    used = np.clip(rng.beta(2.4, 2.2, count) - 0.07 * quality, 0, 1.2)
    limit = np.floor(np.exp(10.0 + 0.15 * quality + 0.4 * standardise(open_revolving) + rng.normal(0, 0.6, count)))
    card_limit = np.floor(limit * rng.beta(5, 3, count))
    card_use = np.clip(used + rng.normal(0.06, 0.12, count), 0, 1.3)
    balance = np.floor(limit + np.exp(rng.normal(9.8, 1.0, count)) + mortgages * rng.gamma(3, 40_000, count))
    past_12 = rng.poisson(np.exp(0.6 - 0.1 * quality + 0.3 * rng.normal(size=count)))
    asked = rng.poisson(np.exp(-0.6 - 0.15 * quality))
    oldest = np.floor(rng.gamma(4, 45, count)) + 24
    newest = np.floor(rng.exponential(9, count) + 1)
    return {
        "open_acc": open_acc,
        "total_acc": total,
        "pub_rec": records,
        "pub_rec_bankruptcies": bankruptcies,
        "tax_liens": rng.binomial(records - bankruptcies, 0.5),
        "delinq_2yrs": late,
        "acc_now_delinq": rng.poisson(0.005, count),
        "collections_12_mths_ex_med": rng.poisson(0.015, count),
        "chargeoff_within_12_mths": rng.poisson(0.008, count),
        "delinq_amnt": np.where(rng.random(count) < 0.004, np.floor(rng.exponential(3000, count)), 0),
        "mort_acc": mortgages,
        "num_accts_ever_120_pd": rng.poisson(np.exp(-0.9 - 0.3 * quality)),
        "num_actv_bc_tl": rng.binomial(open_cards, 0.75),
        "num_actv_rev_tl": rng.binomial(open_revolving, 0.7),
        "num_bc_sats": rng.binomial(open_cards, 0.97),
        "num_bc_tl": cards,
        "num_il_tl": instalments,
        "num_op_rev_tl": open_revolving,
        "num_rev_accts": revolving,
        "num_rev_tl_bal_gt_0": rng.binomial(open_revolving, 0.7),
        "num_sats": rng.binomial(open_acc, 0.99),
        "num_tl_120dpd_2m": rng.poisson(0.001, count),
        "num_tl_30dpd": rng.poisson(0.004, count),
        "num_tl_90g_dpd_24m": rng.poisson(np.exp(-2.6 - 0.3 * quality)),
        "fico_range_low": score,
        "fico_range_high": np.minimum(score + 4, 850),
        "revol_util": np.round(100 * used, 1),
        "revol_bal": np.floor(limit * used),
        "total_rev_hi_lim": limit,
        "bc_util": np.round(100 * card_use, 1),
        "bc_open_to_buy": np.floor(np.maximum(0, card_limit * (1 - card_use))),
        "percent_bc_gt_75": np.round(100 * np.clip(card_use + rng.normal(-0.05, 0.25, count), 0, 1), 1),
        "tot_cur_bal": balance,
        "tot_hi_cred_lim": np.floor(balance * rng.uniform(1.05, 1.5, count) + limit),
        "avg_cur_bal": np.floor(balance / open_acc),
        "tot_coll_amt": np.where(rng.random(count) < 0.15, np.floor(rng.exponential(900, count)), 0),
        "pct_tl_nvr_dlq": np.round(100 * np.clip(1 - late * rng.beta(1, 12, count), 0, 1), 1),
        "inq_last_6mths": asked,
        "acc_open_past_24mths": past_12 + rng.poisson(2.3, count),
        "num_tl_op_past_12m": past_12,
        "mths_since_last_delinq": np.floor(rng.gamma(2, 17, count)),
        "mths_since_last_record": np.floor(rng.gamma(5, 14, count)),
        "mo_sin_old_il_acct": np.floor(oldest * rng.uniform(0.3, 1, count)),
        "mo_sin_old_rev_tl_op": oldest,
        "mo_sin_rcnt_rev_tl_op": newest + np.floor(rng.exponential(5, count)),
        "mo_sin_rcnt_tl": newest,
        "mths_since_recent_bc": newest + np.floor(rng.exponential(16, count)),
        "mths_since_recent_inq": np.floor(rng.exponential(7, count)),
    }


def _price(quality: FloatArray, rng: Generator) -> Columns:
    count = len(quality)
    rank = np.argsort(np.argsort(-0.85 * quality + 0.6 * rng.normal(size=count), kind="stable"), kind="stable")
    edges = np.cumsum(np.repeat(_GRADE_WEIGHTS, 5)) / (5 * sum(_GRADE_WEIGHTS))
    step = np.minimum(np.searchsorted(edges, (rank + 0.5) / count), 34)
    grade = np.array(list(_GRADES), dtype=object)[step // 5]
    names = np.array([f"{letter}{number}" for letter in _GRADES for number in range(1, 6)], dtype=object)
    rate = 5.3 + 0.62 * step + 0.006 * step**1.5 + rng.normal(0, 0.45, count)
    return {"grade": grade, "sub_grade": names[step], "int_rate": np.round(np.clip(rate, 5.31, 30.99), 2)}


def _request(known: Columns, rng: Generator) -> Columns:
    rate = known["int_rate"]
    wanted = np.exp(np.log(known["annual_inc"]) * 0.45 + 4.4 + rng.normal(0, 0.5, len(rate)))
    amount = np.clip(25 * np.floor(wanted / 25), 1_000, 40_000)
    is_long = rng.random(len(rate)) < 1 / (1 + np.exp(-(0.16 * (rate - 13) + amount / 9_000 - 3.1)))
    term = np.where(is_long, 60.0, 36.0)
    instalment = amortise(amount, rate, term)
    return {
        "loan_amnt": amount,
        "term": np.where(is_long, "60", "36").astype(object),
        "installment": np.round(instalment, 2),
    }


def amortise(amount: FloatArray, rate_percent: FloatArray, months: FloatArray) -> FloatArray:
    """Return the monthly instalment of loans, unrounded, by the evaluator that checks it later.

    Parameters
    ----------
    amount, rate_percent, months
        Shape ``(n,)``; the rate is that of a year.
    """
    schema = Schema(tuple(Feature(name) for name in ("amount", "rate", "months")))
    payment = Call("payment", (Reference("amount"), Reference("rate") / 1200, Reference("months")))
    instalment: FloatArray = Evaluator(schema).value(payment, np.column_stack([amount, rate_percent, months]))
    return instalment


def _risk(known: Columns) -> FloatArray:
    burden = 12 * known["installment"] / known["annual_inc"]
    risk: FloatArray = (
        0.55 * standardise(known["int_rate"])
        + 0.28 * (known["term"] == "60")
        + 0.18 * standardise(np.log(burden))
        + 0.16 * standardise(known["dti"])
        + 0.10 * standardise(known["revol_util"])
        + 0.10 * standardise(known["acc_open_past_24mths"])
        + 0.08 * standardise(known["inq_last_6mths"])
        - 0.12 * standardise(known["fico_range_low"])
        - 0.10 * standardise(np.log1p(known["tot_hi_cred_lim"]))
        + 0.15 * (known["home_ownership"] == "RENT")
        + 0.30 * (known["purpose"] == "small_business")
        + 0.10 * (known["emp_length"] == "< 1 year")
        # What hurts together more than apart.
        + 0.20 * ((known["dti"] > 25) & (known["revol_util"] > 60))
        + 0.25 * ((known["term"] == "60") & (burden > 0.12))
    )
    return risk


def _gaps(columns: Columns, rng: Generator) -> Columns:
    """Take values away as they are missing: what never happened has no date, and old reports are shorter."""
    count = len(columns["dti"])
    is_old = rng.random(count) < 0.05
    never = {
        "mths_since_last_delinq": columns["delinq_2yrs"] == 0,
        "mths_since_last_record": columns["pub_rec"] == 0,
    }
    short = (
        "tot_coll_amt tot_cur_bal total_rev_hi_lim avg_cur_bal tot_hi_cred_lim mort_acc num_bc_tl num_bc_sats".split()
    )
    rare = {"emp_length": 0.06, "revol_util": 0.001, "dti": 0.0005, "bc_util": 0.01, "mo_sin_old_il_acct": 0.03}
    rare |= {"mths_since_recent_inq": 0.1, "mths_since_recent_bc": 0.01, "percent_bc_gt_75": 0.01}
    found: Columns = {}
    for name, values in columns.items():
        if name in never:
            found[name] = with_gaps(values, np.where(never[name], 0.9, 0.02), rng)
        elif name in rare:
            found[name] = with_gaps(values, rare[name], rng)
        elif name in short:
            found[name] = with_gaps(values, is_old.astype(np.float64), rng)
        else:
            found[name] = values if values.dtype == np.object_ else values.astype(np.float64)
    return found
