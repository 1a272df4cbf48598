"""The golden set: named cases whose answers must stay the same when code is moved or renamed.

A family is a function that yields cases; a case is a name and a function that computes the answer (see
`tests.golden.questions` for what an answer is). Every case draws its random numbers from a seed made of its own name,
so cases can be added, left out or run in any order.

Cases use only names that users can import: from `poise` itself, or as the README, docs or examples do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.golden.chain_cases import chain_facing, chain_positions, circles, fabrik_trees
from tests.golden.figure_cases import assembly, distances, forces, kinematics
from tests.golden.gaze_cases import character, erik, erik_2017, expressive, expressive_tracked
from tests.golden.live_cases import live, live_scenarios
from tests.golden.motion_cases import motion_filters, retargeted, retargeted_recordings
from tests.golden.questions import Case, FloatArray
from tests.golden.solve_cases import (
    other_roots,
    reach,
    solve_avoiding,
    solve_criteria,
    solve_forces,
    solve_many_levels,
    solve_one_site,
    solve_tasks,
)

FAMILIES: tuple[Callable[[], Iterator[Case]], ...] = (
    kinematics,
    solve_one_site,
    solve_many_levels,
    solve_tasks,
    solve_criteria,
    solve_avoiding,
    solve_forces,
    live,
    live_scenarios,
    other_roots,
    reach,
    assembly,
    distances,
    forces,
    erik,
    erik_2017,
    expressive,
    expressive_tracked,
    character,
    chain_positions,
    chain_facing,
    circles,
    fabrik_trees,
    motion_filters,
    retargeted,
    retargeted_recordings,
)


def cases_of(family: Callable[[], Iterator[Case]]) -> dict[str, Callable[[], FloatArray]]:
    """The cases of a family by name."""
    named = list(family())
    found = dict(named)
    assert len(found) == len(named), f"{family.__name__} has two cases of one name"
    return found
