"""Which limits a posture breaks, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from poise.kernels.couplings import coupling_value
from poise.kernels.limits import ball_split, swing_excess, twist_excess

if TYPE_CHECKING:
    from poise.figure.figure import Figure, Violation
    from poise.figure.posture import Posture

TOLERANCE = 1e-9
"""What still counts as legal [rad or m]."""


def find_violations(figure: Figure, posture: Posture) -> list[Violation]:
    """All limits broken by more than the tolerance, joints first, then couplings."""
    from poise.figure.figure import Violation

    found = (*_joint_excesses(figure, posture), *_ball_excesses(figure, posture), *_coupling_excesses(figure, posture))
    return [Violation(*row) for row in found if row[2] > TOLERANCE]


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


def _coupling_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    for k, coupling in enumerate(figure.couplings):
        value = coupling_value(figure.compiled.bounds, k, posture._q)
        yield coupling.name, "coupling", max(coupling.lower - value, value - coupling.upper)
