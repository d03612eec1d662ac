"""Cycles in a graph of imports. Pure functions: names in, names out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

# importer -> imported -> the place of the first such import, as path and line
Edges = Mapping[str, Mapping[str, tuple[str, int]]]


def find_cycles(edges: Edges) -> list[list[str]]:
    """Return a shortest cycle, closed by its first name, for each knot of names that reach one another."""
    return [_shortest_cycle(min(knot), edges) for knot in _knots(edges)]


def describe(cycle: list[str], edges: Edges) -> str:
    """Write a cycle with the place of each of its imports."""
    places = ("{}:{}".format(*edges[importer][imported]) for importer, imported in pairwise(cycle))
    return f"{' -> '.join(cycle)} ({', '.join(places)})"


def _knots(edges: Edges) -> list[frozenset[str]]:
    # Quadratic, which for a few hundred modules is nothing.
    reach = {name: _reachable(edges[name], edges) for name in edges}
    knots = {
        frozenset(other for other in reach[name] if name in reach.get(other, ()))
        for name in edges
        if name in reach[name]
    }
    return sorted(knots, key=min)


def _reachable(start: Iterable[str], edges: Edges) -> set[str]:
    seen: set[str] = set()
    pending = list(start)
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += edges.get(name, ())
    return seen


def _shortest_cycle(start: str, edges: Edges) -> list[str]:
    ways, seen = [[start]], set[str]()
    for way in ways:
        for name in edges.get(way[-1], ()):
            if name == start:
                return [*way, name]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    raise ValueError(f"{start} lies on no cycle")
