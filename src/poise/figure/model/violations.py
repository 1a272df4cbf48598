"""Which limits a posture breaks, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from poise.kernels.body.couplings import coupling_value
from poise.kernels.body.limits import ball_room, ball_split, swing_excess, twist_excess

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, Violation
    from poise.figure.model.posture import Posture

TOLERANCE = 1e-9
"""What still counts as legal [rad or m]."""


def find_violations(figure: Figure, posture: Posture) -> list[Violation]:
    """All limits broken by more than the tolerance, joints first, then couplings."""
    from poise.figure.model.figure import Violation

    found = (*_joint_excesses(figure, posture), *_ball_excesses(figure, posture), *_coupling_excesses(figure, posture))
    return [Violation(*row) for row in found if row[2] > TOLERANCE]


def reached_limits(figure: Figure, posture: Posture, within: float = 1e-6) -> list[str]:
    """Names of the joints and couplings that can go no further one way, each with its limit where it has several.

    Joints that cannot move at all and couplings that are equalities are left out: those always are at their limits.
    """
    stuck = {joint.name for joint in figure.joints if joint.lower and joint.lower == joint.upper}
    stuck |= {coupling.name for coupling in figure.couplings if coupling.is_equality}
    single = {joint.name for joint in figure.joints if len(joint.coordinates) == 1} | set(figure.couplings.names)
    rows = (*_joint_excesses(figure, posture), *_ball_rooms(figure, posture), *_coupling_excesses(figure, posture))
    near = [(part, limit) for part, limit, excess in rows if excess >= -within and part not in stuck]
    return [part if part in single else f"{part} ({limit})" for part, limit in near]


def _joint_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    for joint in figure.joints:
        if not joint.scalars:
            continue
        values = posture.q[figure.q_slice(joint.name)]
        for name, value, low, high in zip(joint.coordinates, values, joint.lower, joint.upper, strict=True):
            yield joint.name, name, float(max(low - value, value - high))


def _ball_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    bounds = figure.compiled.bounds
    starts = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    for ball, start in enumerate(bounds.ball_start):
        split = ball_split(bounds, ball, posture._q)
        yield starts[int(start)], "swing", swing_excess(bounds, ball, split.x, split.y)
        yield starts[int(start)], "twist", twist_excess(bounds, ball, split)


def _ball_rooms(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """How far each ball joint is outside its limits; negative inside."""
    bounds = figure.compiled.bounds
    starts = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    for ball, start in enumerate(bounds.ball_start):
        swing, twist = ball_room(bounds, ball, posture._q)
        yield starts[int(start)], "swing", -swing
        yield starts[int(start)], "twist", -twist


def _coupling_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    for k, coupling in enumerate(figure.couplings):
        value = coupling_value(figure.compiled.bounds, k, posture._q)
        yield coupling.name, "coupling", max(coupling.lower - value, value - coupling.upper)
