"""Settings of the whole test suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The same examples on every run and no deadline: neither luck nor a busy machine may turn the gate red.
settings.register_profile("gate", derandomize=True, database=None, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


def pytest_configure(config: pytest.Config) -> None:
    # The provider library imports some of its modules at the first call, whichever test makes it.
    config.addinivalue_line("filterwarnings", "ignore:Items? .* on TypedDict:UserWarning")
