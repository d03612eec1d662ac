"""Settings of the whole test suite."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples on every run and no deadline: neither luck nor a busy machine may turn the gate red.
settings.register_profile("gate", derandomize=True, database=None, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))
