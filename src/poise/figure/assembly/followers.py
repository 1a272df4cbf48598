"""The joints that must follow others: passive joints of loops, and joints of equality couplings."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from poise.figure.assembly.closure_arrays import compile_closures

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


def with_followers(figure: Figure, names: Iterable[str]) -> set[str]:
    """The joints with these names, and those that must follow when they move."""
    found = set(names)
    size = 0
    while len(found) > size:
        size = len(found)
        for coupling in figure.couplings:
            tied = {term.joint for term in coupling.terms}
            if coupling.is_equality and not tied.isdisjoint(found):
                found |= tied
        for linked in _linked(figure) if len(figure.loops) else ():
            if not linked.isdisjoint(found):
                found |= {name for name in linked if not figure.joints[name].active}
    return found


@lru_cache(maxsize=16)
def _linked(figure: Figure) -> tuple[frozenset[str], ...]:
    """Names of the joints on which each group of connected loops depends."""
    closures = compile_closures(figure)
    joint_of = {v: joint.name for joint in figure.joints for v in range(figure.nv)[figure.v_slice(joint.name)]}
    starts = closures.block_start
    return tuple(
        frozenset(joint_of[int(dof)] for dof in closures.block_dof[starts[b] : starts[b + 1]])
        for b in range(len(starts) - 1)
    )
