"""One thread for many small steps: with two, libraries spend most of the time waiting for each other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold linear algebra and torch to one thread, and give them back what they had."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else None
    with import_module("threadpoolctl").threadpool_limits(limits=1):
        try:
            if torch:
                torch.set_num_threads(1)
            yield
        finally:
            if torch:
                torch.set_num_threads(before)
