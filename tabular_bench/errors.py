"""Everything that can go wrong in the tabular bench, by who has to do something about it.

::

    TabularError
    +-- UnknownName           a name that is not in the mapping it is looked up in
    +-- InputError            a file of the user is not what it must be
    |   +-- TableError        a table: names file, column and row
    |   +-- DeclarationError  a file that declares features and relations: names file and place
    +-- NotApplicable         this attack, detector and threat model do not go together
    +-- DetectorError         a detector broke its contract
    +-- AttackError           an attack broke its contract
        +-- QueryBudgetSpent  it asked more often than its budget allows
        +-- AccessDenied      it asked for something its threat model does not give
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class TabularError(Exception):
    """Root of the tabular bench's exceptions."""


class UnknownName(TabularError):
    """A name that is not in the mapping it is looked up in.

    Parameters
    ----------
    kind
        What was looked up, in the singular: ``"column"``.
    name
        The name that is not known.
    known
        Every name that is; a long list is cut in the message.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        near = get_close_matches(name, names, n=1)
        listed = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        hint = f"; did you mean {near[0]}?" if near else ""
        article = "an" if kind[0] in "aeiou" else "a"
        super().__init__(f"expected {article} {kind} ({listed or 'there is none'}), found {name!r}{hint}")
        self.kind = kind
        self.name = name
        self.known = names

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, str, list[str]]]:
        """Rebuild from the parts, so that the error crosses to another process."""
        return type(self), (self.kind, self.name, self.known)


class InputError(TabularError):
    """A file of the user is not what it must be: the message names the file and the place in it."""


class TableError(InputError):
    """A table of the user cannot be used as it is."""


class DeclarationError(InputError):
    """A file that declares features and relations cannot be used as it is."""


class NotApplicable(TabularError):
    """The parts of a cell do not go together, say a gradient attack and a model without gradients."""


class DetectorError(TabularError):
    """A detector broke its contract: wrong shape, scores outside 0..1, gradients that are not finite."""


class AttackError(TabularError):
    """An attack broke its contract: wrong shape, values that are not finite, more than it may ask for."""


class QueryBudgetSpent(AttackError):
    """An attack asked about a row more often than its budget allows."""


class AccessDenied(AttackError):
    """An attack asked for scores or gradients that its threat model does not give."""
