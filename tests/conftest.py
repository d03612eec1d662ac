"""Settings of the whole test suite."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

# The same examples on every run and no deadline: neither luck nor a busy machine may turn the gate red.
settings.register_profile("gate", derandomize=True, database=None, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))


def pytest_configure(config: pytest.Config) -> None:
    # A gate that a shell started in the background ignores Ctrl-C, and so would every command that a test starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The provider library imports some of its modules at the first call, whichever test makes it.
    config.addinivalue_line("filterwarnings", "ignore:Items? .* on TypedDict:UserWarning")
