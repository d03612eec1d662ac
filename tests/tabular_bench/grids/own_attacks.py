"""Attacks of one's own that misbehave, named ``tests.tabular_bench.grids.own_attacks:...`` in grids."""

from __future__ import annotations

import os
import signal
import time

from tabular_bench.attack import AttackContext
from tabular_bench.schema import FloatArray
from tabular_bench.threat import Access


class Resting:
    """Moves nothing, after doing whatever `mischief` is."""

    access: Access = "score"

    def perturb(self, context: AttackContext) -> FloatArray:
        self.mischief()
        return context.rows.copy()

    def mischief(self) -> None:
        pass


class Raising(Resting):
    def mischief(self) -> None:
        raise ZeroDivisionError("by nothing")


class Dying(Resting):
    def mischief(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Slow(Resting):
    def mischief(self) -> None:
        time.sleep(0.25)
