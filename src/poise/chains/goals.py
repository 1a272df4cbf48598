"""Targets of the chain solvers: a position, a direction, an orientation, or a point to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.chains.chain import only_tip
from poise.chains.targets import Gaze, gaze, quaternion_text
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import LARGEST, FloatArray, Pose
from poise.kernels.chains.chain import pointing
from poise.kernels.chains.goal import DIRECTION_GOAL, LOOK_GOAL, ORIENTATION_GOAL, POSITION_GOAL
from poise.kernels.gaze.measures import FULL

GoalKind = Literal["position", "direction", "orientation", "point"]
TargetLike: TypeAlias = "Gaze | ArrayLike"
"""Three numbers are a position [m]; four are a unit quaternion; `poise.facing(…)` and `poise.at(…)` turn the tip."""

GoalNumbers = tuple[float, float, float, float, float, float, float, float]
"""Kind, vector and rotation of a kernel's `ChainGoal`."""
_NO_TURN = (1.0, 0.0, 0.0, 0.0)
_WORDS = {
    "position": "a position",
    "direction": "a direction",
    "orientation": "an orientation",
    "point": "a point to look at",
}


@dataclass(frozen=True)
class Goal:
    """One checked target."""

    kind: GoalKind
    position: FloatArray | None = None
    """(3,) wanted position of the tip [m]."""
    gaze: Gaze | None = None
    """Wanted direction, orientation or point of the tip."""

    @property
    def follows_tip(self) -> bool:
        """Whether the wanted orientation depends on the tip's position, as for a look at a point with a given roll."""
        return self.gaze is not None and self.gaze.point is not None and self.gaze.roll is not None

    @property
    def faces(self) -> bool:
        """Whether the tip is to face something, so that the axis counts with which it faces; else its frame counts."""
        return self.gaze is not None and self.gaze.rotation is None

    def numbers(self, up: FloatArray, eye: FloatArray) -> GoalNumbers:
        """The goal for the kernels, for a tip at `eye` on a figure with the up axis `up`; see `ChainGoal`."""
        if self.gaze is None:
            x, y, z = np.asarray(self.position).tolist()
            return (POSITION_GOAL, x, y, z, *_NO_TURN)
        if self.gaze.point is not None and self.gaze.roll is None:
            x, y, z = self.gaze.point.tolist()
            return (LOOK_GOAL, x, y, z, *_NO_TURN)
        aim = self.gaze.aim(up, eye)
        kind = ORIENTATION_GOAL if aim.kind == FULL else DIRECTION_GOAL
        direction = pointing(aim.rotation)
        return (kind, direction.x, direction.y, direction.z, *aim.rotation)


def goal_of(target: TargetLike, solver: str, can: Iterable[GoalKind]) -> Goal:
    """Check one target; raises an error if the solver does not support its kind."""
    goal = _goal(target)
    allowed = tuple(can)
    if goal.kind not in allowed:
        known = " or ".join(_WORDS[kind] for kind in allowed)
        raise TaskError(f"{solver} takes {known}, and the target is {_WORDS[goal.kind]}.")
    return goal


def positions_by_tip(
    solver: str, figure: Figure, target: TargetLike | Mapping[str, TargetLike], tip: str | None
) -> dict[str, FloatArray]:
    """Target positions by the name of the end-point, for one end-point or several."""
    if not isinstance(target, Mapping):
        target = {tip if tip is not None else only_tip(figure, solver): target}
    if not target:
        raise TaskError(f"{solver} needs at least one end-point with a target.")
    return {end: np.asarray(goal_of(wanted, solver, ("position",)).position) for end, wanted in target.items()}


def _goal(target: TargetLike) -> Goal:
    if isinstance(target, Gaze):
        return Goal(_gaze_kind(target), gaze=target)
    if isinstance(target, Pose):
        raise TaskError(
            "a chain solver takes a position or an orientation, not both: give pose.position, pose.rotation, or use "
            "poise.reach for both."
        )
    try:
        numbers = np.array(target, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape == (4,):
        return Goal("orientation", gaze=gaze(numbers))
    if numbers.shape != (3,):
        raise TaskError(
            f"a target is a position (x, y, z), a unit quaternion (w, x, y, z), poise.facing(…) or poise.at(…), "
            f"not {target!r}."
        )
    if not (np.abs(numbers) <= LARGEST).all():
        raise TaskError(f"the position to reach must be three finite numbers, not {quaternion_text(numbers)}.")
    return Goal("position", position=numbers)


def _gaze_kind(target: Gaze) -> GoalKind:
    if target.point is not None:
        return "point"
    return "direction" if target.rotation is None and target.roll is None else "orientation"
