"""What stays the same under every protocol, threat model and attack: columns, relations and the two spaces."""

from __future__ import annotations

from dataclasses import dataclass

from tabular_bench.constraints.catalogue import Constraints
from tabular_bench.scaling import Scaler
from tabular_bench.schema import Schema


@dataclass(frozen=True, slots=True)
class Problem:
    """The ground that attacks move on.

    Attributes
    ----------
    constraints
        With their scales measured on training rows.
    scaler
        Fitted on training rows.
    """

    constraints: Constraints
    scaler: Scaler

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.constraints.schema
