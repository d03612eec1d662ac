"""The exit statuses of `fraudbench`, all of them.

::

    0    what was asked for is done, complete and in order
    1    a check found something wrong, or a comparison a difference (tasks, corpus, tabular check; replay, runs diff);
         a cell of the tabular bench or an attack on a detector failed
    2    the command cannot be carried out as asked; nothing was begun, or what was complete before is kept
    3    a run is incomplete, a provider broke episodes of it off, or nothing in it could be graded
    4    a run stopped by itself: its provider refuses it (key, model, request), or its budget is spent
    70   a fault in fraudbench
    130  stopped at once by a second Ctrl-C
"""

from __future__ import annotations

from typing import Final

WRONG: Final = 1
CANNOT: Final = 2
INCOMPLETE: Final = 3
HALTED: Final = 4
OUR_FAULT: Final = 70
STOPPED: Final = 130
