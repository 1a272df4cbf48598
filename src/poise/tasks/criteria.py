"""Criteria: what a figure does with the freedom that tasks leave. All are summed, below every task."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.forces.acting import Acting
from poise.forces.loads import Load
from poise.forces.torques import TorqueCriterion, torque_slopes
from poise.tasks.equilibrium import Loads
from poise.tasks.ranges import ranges_of
from poise.tasks.task import Recruits

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, PostureLike
    from poise.figure.model.posture import Posture

Strength: TypeAlias = "float | Mapping[str, float] | None"

MIN_ASYMMETRY = 0.2
"""Share of its range by which the middle of a joint that flexes is off its rest."""
CURVATURE_SAMPLES = 4
"""Random postures, besides the neutral one, at which the curvature of an effort is looked at."""


class Near(NamedTuple):
    """½ Σ weight (posture - q)²."""

    posture: FloatArray
    """(nq,)"""
    weight: FloatArray
    """(nv,)"""


class Slope(NamedTuple):
    """gradient · q."""

    gradient: FloatArray
    """(nv,)"""


class Effort(NamedTuple):
    """½ Σ (weakness τ)² under loads."""

    acting: Acting
    weakness: FloatArray
    """(nv,)"""


class ExternalGradient(NamedTuple):
    """Something whose gradient is computed anew for every posture."""

    gradient: Callable[[Posture], FloatArray]


Term: TypeAlias = Near | Slope | Effort | ExternalGradient


@dataclass(frozen=True)
class Criterion:
    """Something that a figure would rather do."""

    def __post_init__(self) -> None:
        """Check the weight."""
        weight: float = getattr(self, "weight", 1.0)
        if not math.isfinite(weight) or weight < 0.0:
            raise TaskError(f"{type(self).__name__}: weight must be zero or a positive number, not {weight}.")

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Term:
        """What it adds to the sum; raises `TaskError` or `FigureError` where the figure has no such joints."""
        raise NotImplementedError


@dataclass(frozen=True)
class NearPosture(Criterion):
    """Joints stay as near to a posture as tasks let them."""

    posture: PostureLike
    joints: Recruits = None
    """Which; all but a floating base unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Near:
        """The posture, weighted on the joints that count."""
        return Near(np.array(figure.posture(self.posture).q), self.weight * chosen(figure, self.joints))


@dataclass(frozen=True)
class Comfort(Criterion):
    """Joints stay near the middle of their ranges: Σ ((q - middle) / range)²."""

    joints: Recruits = None
    """Which; all with limits unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Near:
        """The middle of all ranges, each weighted by its size."""
        middle, size = ranges_of(figure)
        return Near(np.array(middle.q), 2.0 * self.weight * chosen(figure, self.joints) / np.square(size))


@dataclass(frozen=True)
class Flex(Criterion):
    """Joints bend: each turns from rest towards the side on which it has more room, such as knees, hips and elbows."""

    joints: Recruits = None
    """Which; all whose range is not the same on both sides unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Slope:
        """Downhill towards bent."""
        return Slope(-self.weight * _bending(figure, self.joints, type(self).__name__))


@dataclass(frozen=True)
class Extend(Criterion):
    """Joints stretch: each turns away from the side on which it has more room."""

    joints: Recruits = None
    """Which; all whose range is not the same on both sides unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Slope:
        """Downhill towards straight."""
        return Slope(self.weight * _bending(figure, self.joints, type(self).__name__))


@dataclass(frozen=True)
class LeastTorque(Criterion):
    """The posture is held with little torque: Σ (τ / strength)² [Baerlocher 2001, 6.5].

    The sum is scaled by the figure's own size and weight, such that a weight of 1 counts for about as much as that of
    `NearPosture`. Supports without shares carry equal ones.
    """

    forces: Loads = None
    """What acts on the figure, supports and gravity among it; what `solve` is given unless said here."""
    strength: Strength = None
    """Strength of all joints, or of some by name [N m or N]; the others, or all, have the figure's."""
    joints: Recruits = None
    """Whose torques count; all but free and passive joints unless given."""
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Freeze the forces and check the strengths."""
        super().__post_init__()
        if self.forces is not None:
            object.__setattr__(self, "forces", tuple(self.forces))
        self._torques()

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Effort:
        """The loads, and how much each torque counts."""
        torques = self._torques(forces)
        weakness = torques.weakness(figure)
        scale = math.sqrt(self.weight / _curvature(figure, torques, weakness))
        return Effort(torques.acting(figure), scale * weakness)

    def _torques(self, forces: Iterable[Load] = ()) -> TorqueCriterion:
        given = tuple(forces if self.forces is None else self.forces)
        names = (self.joints,) if isinstance(self.joints, str) else self.joints
        return TorqueCriterion(given, self.strength, None if names is None else tuple(names))


@dataclass(frozen=True)
class Gradient(Criterion):
    """Anything whose gradient a Python function gives: the figure goes against it, as far as tasks let it."""

    function: Callable[[Posture], ArrayLike]
    """Takes a posture, gives (nv,) numbers: the change per unit of each rate of what is to be made small."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> ExternalGradient:
        """The function, with its answer checked."""

        def gradient(posture: Posture) -> FloatArray:
            found = np.array(self.function(posture), dtype=np.float64)
            if found.shape != (figure.nv,) or not np.isfinite(found).all():
                raise TaskError(
                    f"Gradient: the function must give {figure.nv} finite numbers for figure {figure.name!r}, "
                    f"not {found!r}."
                )
            scaled: FloatArray = self.weight * found
            return scaled

        return ExternalGradient(gradient)


def chosen(figure: Figure, joints: Recruits) -> FloatArray:
    """(nv,) 1 for the joints named; for all but floating bases where none is."""
    if joints is None:
        names: Iterable[str] = [name for name in figure.moving_joints if figure.joints[name].kind != "free"]
    else:
        names = [joints] if isinstance(joints, str) else joints
    out = np.zeros(figure.nv)
    for name in names:
        out[figure.v_slice(name)] = 1.0
    return out


def _bending(figure: Figure, joints: Recruits, label: str) -> FloatArray:
    """(nv,) the unit direction in which each joint bends."""
    middle, size = ranges_of(figure)
    way = figure.difference(figure.neutral(), middle) * chosen(figure, joints)
    out = np.zeros(figure.nv)
    for joint in figure.joints:
        v = figure.compiled.v_slices[joint.name]
        parts = [v] if joint.kind == "ball" else [slice(i, i + 1) for i in range(v.start, v.stop)]
        for part in parts:
            far = float(np.linalg.norm(way[part]))
            if far > 0.0 and far >= MIN_ASYMMETRY * float(np.max(size[part])):
                out[part] = way[part] / far
    if not out.any():
        raise TaskError(f"{label}: no joint asked about has more room on one side than on the other.")
    return out


def _curvature(figure: Figure, torques: TorqueCriterion, weakness: FloatArray) -> float:
    """Largest curvature of an effort, as squares of the slopes of its torques, over a few postures; 1 for none."""
    postures = [figure.neutral(), *(figure.random(seed) for seed in range(CURVATURE_SAMPLES))]
    slopes = [weakness[:, None] * torque_slopes(figure, posture, torques.forces) for posture in postures]
    return max(float(np.square(slope).sum(axis=0).max(initial=0.0)) for slope in slopes) or 1.0
