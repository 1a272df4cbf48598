"""Criteria: objective functions to minimise in the freedom that the tasks leave; their sum counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import number, shown
from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.figures.people.likely_posture import people_of
from poise.forces.acting import Acting
from poise.forces.loads import Load
from poise.forces.torques import TorqueCriterion, torque_slopes
from poise.tasks.equilibrium import Equilibrium, Loads
from poise.tasks.kinds import Kind
from poise.tasks.posture import Hold
from poise.tasks.ranges import ranges_of
from poise.tasks.task import Recruits, Task, name_list

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, PostureLike
    from poise.figure.model.posture import Posture

Strength: TypeAlias = "float | Mapping[str, float] | None"

MIN_ASYMMETRY = 0.2
"""A joint flexes or extends only if the middle of its range is at least this far from neutral, as a fraction of the
range."""
CURVATURE_SAMPLES = 4
"""Number of random postures, besides the neutral one, at which the curvature of an effort is measured."""


class Near(NamedTuple):
    """The term ½ Σ weight (posture - q)²."""

    posture: FloatArray
    """(nq,) the posture to be near to."""
    weight: FloatArray
    """(nv,) weight of each velocity."""


class Slope(NamedTuple):
    """The term gradient · q."""

    gradient: FloatArray
    """(nv,) constant gradient."""


class Effort(NamedTuple):
    """The term ½ Σ (weakness τ)², with τ the joint torques that hold the figure under loads."""

    acting: Acting
    """The loads."""
    weakness: FloatArray
    """(nv,) weight of each joint torque, 1 / strength."""


class ExternalGradient(NamedTuple):
    """A term whose gradient a Python function computes for every posture."""

    gradient: Callable[[Posture], FloatArray]


class FollowsTargets(NamedTuple):
    """A term ½ Σ weight (posture - q)² whose posture and weights follow the targets: see `poise.engine.natural`."""

    strength: float
    """Factor on the weights."""


Term: TypeAlias = Near | Slope | Effort | ExternalGradient | FollowsTargets


@dataclass(frozen=True)
class Criterion(Kind):
    """An objective function to minimise in the freedom that the tasks leave."""

    menu: ClassVar[str] = ""
    """Its name on the studio's page; "" if it is not there."""
    first_weight: ClassVar[float] = 1.0
    """Initial weight in the studio: it visibly changes a standing person, but does not make it crouch."""

    def __post_init__(self) -> None:
        """Check the weight."""
        number(getattr(self, "weight", 1.0), f"{type(self).__name__}: weight", least=0.0)

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Term:
        """The criterion's term of the sum; raises `TaskError` or `FigureError` if the figure has no such joints."""
        raise NotImplementedError

    @classmethod
    def made(cls, posture: Posture) -> Criterion:
        """A new criterion of this kind for a figure in a posture, to be used at its `first_weight`."""
        return cls()


TASK_HINTS = (
    (Criterion, "Criteria are given as criteria=[…]."),
    (str, "Make one, such as Position(name, at=(x, y, z))."),
)
"""What to do with other things that are given as tasks, by their type."""


@dataclass(frozen=True)
class NearPosture(Criterion):
    """Joints stay as near to a posture as the tasks let them."""

    menu: ClassVar[str] = "Stay near a posture"

    posture: PostureLike
    joints: Recruits = None
    """Names of the joints; all but a floating base unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Near:
        """The squared distance to the posture, weighted on the chosen joints."""
        return Near(np.array(figure.posture(self.posture).q), self.weight * chosen(figure, self.joints))

    @classmethod
    def made(cls, posture: Posture) -> NearPosture:
        """The criterion to stay near the posture."""
        return cls(posture)


@dataclass(frozen=True)
class Natural(Criterion):
    """The figure moves as people do: the limb that is asked first, then the trunk, the legs last.

    What no task asks to move stays as it is at the start. The built-in human also takes the postures that people take
    for far targets: it squats for low ones, and lifts a foot with a bent knee.
    """

    menu: ClassVar[str] = "Move naturally"

    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> FollowsTargets:
        """A distance to a posture that follows the targets."""
        return FollowsTargets(self.weight)


@dataclass(frozen=True)
class Comfort(Criterion):
    """Joints stay near the middle of their ranges: Σ ((q - middle) / range)²."""

    menu: ClassVar[str] = "Comfort: joints near mid-range"
    first_weight: ClassVar[float] = 0.02

    joints: Recruits = None
    """Names of the joints; all with limits unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Near:
        """The squared distance to the middle of all ranges, each divided by its squared size."""
        middle, size = ranges_of(figure)
        return Near(np.array(middle.q), 2.0 * self.weight * chosen(figure, self.joints) / np.square(size))


@dataclass(frozen=True)
class Flex(Criterion):
    """Joints such as knees, hips and elbows bend: each turns towards the side on which its range is larger."""

    menu: ClassVar[str] = "Flex"
    first_weight: ClassVar[float] = 0.005

    joints: Recruits = None
    """Names of the joints; all with an asymmetric range unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Slope:
        """A slope that decreases towards the bent posture."""
        return Slope(-self.weight * _bending(figure, self.joints, type(self).__name__))


@dataclass(frozen=True)
class Extend(Criterion):
    """Joints stretch: each turns away from the side on which its range is larger."""

    menu: ClassVar[str] = "Extend"
    first_weight: ClassVar[float] = 0.005

    joints: Recruits = None
    """Names of the joints; all with an asymmetric range unless given."""
    weight: float = 1.0

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Slope:
        """A slope that decreases towards the straight posture."""
        return Slope(self.weight * _bending(figure, self.joints, type(self).__name__))


@dataclass(frozen=True)
class LeastTorque(Criterion):
    """Small torques hold the posture: Σ (τ / strength)² [Baerlocher 2001, 6.5].

    The sum is scaled by its curvature, so that a weight of 1 counts for about as much as that of `NearPosture`.
    Supports without shares carry equal ones.
    """

    menu: ClassVar[str] = "Small joint torques"

    forces: Loads = None
    """Forces, supports and gravity that act on the figure; those given to `solve` unless given here."""
    strength: Strength = None
    """Strength of all joints, or of some by name [N m or N]; the strengths of the figure otherwise."""
    joints: Recruits = None
    """Names of the joints whose torques count; all but free and passive joints unless given."""
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Freeze the forces and check the strengths."""
        super().__post_init__()
        if self.forces is not None:
            object.__setattr__(self, "forces", tuple(self.forces))
        self._torques()

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> Effort:
        """The effort under the loads, scaled by its curvature."""
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
    """A function of your own to minimise, given by its gradient, as far as the tasks let it."""

    kind: ClassVar[str] = ""

    function: Callable[[Posture], ArrayLike]
    """Takes a posture and returns the gradient (nv,): the derivatives of your function by the velocities."""
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Check the function and the weight."""
        super().__post_init__()
        if not callable(self.function):
            raise TaskError(f"Gradient: give a function of a posture, not {shown(self.function)}.")

    def term(self, figure: Figure, forces: Iterable[Load] = ()) -> ExternalGradient:
        """The function, with a check of its result."""

        def gradient(posture: Posture) -> FloatArray:
            found = np.array(self.function(posture), dtype=np.float64)
            if found.shape != (figure.nv,) or not np.isfinite(found).all():
                raise TaskError(
                    f"Gradient: the function must return {figure.nv} finite numbers for figure {figure.name!r}, "
                    f"not {shown(found)}."
                )
            scaled: FloatArray = self.weight * found
            return scaled

        return ExternalGradient(gradient)


def default_criteria(figure: Figure, tasks: Iterable[Task] = ()) -> tuple[Criterion, ...]:
    """The criteria of a figure that is given none: people move as people do.

    They have none if their last task holds a posture, or if they balance forces: on the edge of what the ground can
    balance, a criterion may keep them from coming to rest.
    """
    active = [task for task in tasks if task.active]
    lowest = max((task.priority for task in active), default=0)
    holds = any(isinstance(task, Hold) and task.priority == lowest for task in active)
    loaded = any(isinstance(task, Equilibrium) for task in active)
    return (Natural(),) if people_of(figure) is not None and not holds and not loaded else ()


def chosen(figure: Figure, joints: Recruits) -> FloatArray:
    """(nv,) 1 for the velocities of the named joints, else 0; of all but floating bases if `joints` is None."""
    if joints is None:
        names: Iterable[str] = [name for name in figure.moving_joints if figure.joints[name].kind != "free"]
    else:
        names = name_list(joints)
    out = np.zeros(figure.nv)
    for name in names:
        out[figure.v_slice(name)] = 1.0
    return out


def _bending(figure: Figure, joints: Recruits, label: str) -> FloatArray:
    """(nv,) for each joint the unit direction towards the larger side of its range; 0 for symmetric ranges."""
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
        raise TaskError(f"{label}: none of the chosen joints has a larger range on one side; choose others by joints=.")
    return out


def _curvature(figure: Figure, torques: TorqueCriterion, weakness: FloatArray) -> float:
    """Largest diagonal entry of the Gauss–Newton Hessian of an effort over a few postures; 1 if all are zero."""
    postures = [figure.neutral(), *(figure.random(seed) for seed in range(CURVATURE_SAMPLES))]
    slopes = [weakness[:, None] * torque_slopes(figure, posture, torques.forces) for posture in postures]
    return max(float(np.square(slope).sum(axis=0).max(initial=0.0)) for slope in slopes) or 1.0
