"""Leaks are found in every form, and only leaks."""

from __future__ import annotations

import pytest
from cast import SECRETS, ask
