"""The types of tool arguments that carry a bound: what is outside never reaches a tool."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, StringConstraints

MAX_CENTS: Final = 10**12

Cents = Annotated[int, Field(gt=0, le=MAX_CENTS)]
"""A positive amount of money in cents."""

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""One line of text that may not be empty."""

Text = Annotated[str, StringConstraints(max_length=4000)]
"""Free text, possibly empty."""
