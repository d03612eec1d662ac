"""The models by name. One of one's own is ``package.module:factory`` or a file of XGBoost."""

from __future__ import annotations

from tabular_bench.detectors import trivial
from tabular_bench.detectors.boosting import SUFFIXES, train_xgboost
from tabular_bench.detectors.ensemble import train_ensemble
from tabular_bench.detectors.forest import train_forest
from tabular_bench.detectors.logistic import train_logistic
from tabular_bench.detectors.model import Model
from tabular_bench.detectors.network import train_network
from tabular_bench.detectors.own import own_model
from tabular_bench.detectors.threshold import ThresholdRule
from tabular_bench.errors import UnknownName

_HALF = ThresholdRule("fixed", 0.5)
_CAPACITY = ThresholdRule("capacity", 0.01)

MODELS = {
    "logistic": Model("logistic regression", train_logistic),
    "forest": Model("random forest of 100 trees", train_forest),
    "xgboost": Model("100 boosted trees by XGBoost", train_xgboost),
    "mlp": Model("network of two hidden layers of 128 units", train_network, train_against=train_network),
    "ensemble": Model("soft voting of logistic, xgboost and mlp", train_ensemble),
}

TRIVIAL_MODELS = {
    "never": Model("lets everything pass", trivial.never, _HALF),
    "always": Model("stops everything", trivial.always, _HALF),
    "random": Model("draws lots, as many as can be looked at", trivial.at_random, _CAPACITY),
    "largest_first": Model("stops the largest amounts, as many as can be looked at", trivial.largest_first, _CAPACITY),
}


def find_model(name: str) -> Model:
    """Return a model by its name.

    Parameters
    ----------
    name
        A key of `MODELS` or `TRIVIAL_MODELS`, ``package.module:factory``, or the path of an XGBoost file.

    Raises
    ------
    UnknownName
        If it is none of these.
    InputError
        If a module or a factory cannot be found.
    """
    known = MODELS | TRIVIAL_MODELS
    if name in known:
        return known[name]
    if ":" in name or name.endswith(SUFFIXES):
        return own_model(name)
    raise UnknownName("model", name, [*known, "package.module:factory", "file.json", "file.ubj"])
