"""`poise.Expressive` on a whole body: a human or humanoid looks at a target and keeps its posture.

A body has more freedom than a chain, and people have habits about it: the eyes take the first degrees of a turn, the
head most of the rest, the trunk follows large turns, the legs last. Natural motion (`poise.engine.natural`) knows that:
it draws the body to the wanted posture, turned by those shares. So a single solve is one solve of the engine that
starts at the wanted posture, with the feet held where that posture has them and the gaze below them. It is a smooth
function of posture and target except where the target passes straight behind, or where a joint reaches its end.

In a motion, every frame is the single solve of the frame, if no joint of it moves by more than the rate. Where that is
farther away, because the target or the posture jumped, the frame moves towards it as far as the rate allows, and from
there looks at the target, or at least puts its feet where they belong, if the rate allows that too.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from poise.arguments import kind_of
from poise.chains.targets import Gaze, GazeLike
from poise.engine.solver import Solver
from poise.errors import FigureError, TaskError
from poise.expressive.cuda import CudaMethod
from poise.expressive.expressive import Expressive, ExpressiveSettings, Hold, checked_hold
from poise.expressive.measures import Weights
from poise.expressive.problems import Postures, Targets, one_target
from poise.expressive.result import ExpressiveBatch, ExpressiveResult
from poise.expressive.solver import Device
from poise.figure.model.facing import head_of
from poise.figure.model.figure import Figure, PostureLike, checked_figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.kernels.body.tree import FREE
from poise.tasks.criteria import Natural
from poise.tasks.look_at import LookAt
from poise.tasks.place import Frame
from poise.tasks.task import Task

FAR = 1e4
"""Distance of the point that stands for a direction [m]."""
RATE_SHARE = 0.7
"""Share of the rate used to approach the result of a single solve that one frame cannot reach."""
SOLE_PARTS = ("left_ankle", "right_ankle")
"""Roles of the bodies that stay where they are: the feet."""


@dataclass(frozen=True)
class BodyResult(ExpressiveResult):
    """A posture of a whole body that looks at a target.

    `posture_error` and `shape_error` are both the mean of (1 - cos d) / 2 over all joints, for a joint turned by d from
    the wanted posture.
    """

    direction_error: float = 0.0
    """Angle between the line of sight and the target [rad]."""


class ExpressiveBody(Expressive):
    """What `poise.Expressive` is for a figure that looks with a face and is no single chain of hinges."""

    def __init__(
        self,
        figure: Figure,
        *,
        tip: str | None = None,
        hold: Hold = "balanced",
        weights: Weights | None = None,
        settings: ExpressiveSettings | None = None,
    ) -> None:
        """Prepare the engine; see `Expressive` for the arguments."""
        face = face_of(checked_figure(figure, "expressive"), tip)
        axis = None if face is None else figure.facing_axis(face)
        if face is None or axis is None:
            raise FigureError(f"expressive: {tip or 'the head'!r} of figure {figure.name!r} has no face to look with.")
        self.figure, self.tip, self.hold = figure, face, checked_hold(hold)
        self.weights = kind_of(weights, Weights, "weights") or Weights()
        self.settings = kind_of(settings, ExpressiveSettings, "settings") or ExpressiveSettings()
        self._feet = _feet(figure)
        self._axis = axis
        self._turning = np.array([bool(turns) for turns in figure.compiled.tree.dof_turns])
        self._own = threading.local()

    def solve(
        self, posture: PostureLike, orientation: GazeLike, previous: ExpressiveResult | PostureLike | None = None
    ) -> BodyResult:
        """The wanted posture, turned so that the eyes look at the target; see `Expressive.solve`."""
        wanted, target = self.figure.posture(posture), one_target(orientation)
        if target.rotation is not None:
            raise TaskError("a body looks in a direction or at a point: give poise.facing(…) or poise.at(…).")
        if previous is None:
            return self._result(self._look(wanted, wanted, target), wanted, target)
        before = previous.posture if isinstance(previous, ExpressiveResult) else self.figure.posture(previous)
        return self._result(self._advanced(wanted, target, before), wanted, target)

    def follow(self, wanted: Posture, target: Gaze, last_wanted: Posture, last: ExpressiveResult) -> BodyResult:
        """The next frame of a clip: the body moves as the clip does, and towards the gaze by at most the rate."""
        carried = self.figure.integrate(last.posture, self.figure.difference(last_wanted, wanted))
        return self._result(self._advanced(wanted, target, self.figure.clamp(carried)), wanted, target)

    def _advanced(self, wanted: Posture, target: Gaze, before: Posture) -> Posture:
        """The posture of the next frame."""
        found = self._look(wanted, wanted, target)
        limited = self._limited(before, found)
        if limited is found:
            return found
        for goal in (None,) if self.hold == "expression" else (target, None):
            better = self._look(limited, wanted, goal)
            if self._limited(before, better) is better:
                return better
        return limited

    def _limited(self, before: Posture, after: Posture) -> Posture:
        """`after`; if a joint turns faster than the rate, a posture on the way that leaves room for gaze and feet."""
        way = self.figure.difference(before, after)
        most = float(np.abs(way[self._turning]).max(initial=0.0))
        if most <= self.settings.rate:
            return after
        return self.figure.clamp(self.figure.integrate(before, way * (RATE_SHARE * self.settings.rate / most)))

    def _look(self, start: Posture, wanted: Posture, target: Gaze | None) -> Posture:
        """Solve for the gaze from `start`, with the feet where `wanted` has them; without a target, for the feet."""
        frames = self.figure.frames(wanted)
        targets: dict[str, Any] = {foot: frames[foot] for foot in self._feet}
        if target is not None:
            targets[self.tip] = self._point(target, frames[self.tip].position)
        elif not targets:
            return start
        engines: dict[bool, tuple[Solver, dict[str, Task]]] = self._own.__dict__.setdefault("engines", {})
        if (target is None) not in engines:
            tasks: dict[str, Task] = {foot: Frame(foot, frames[foot]) for foot in self._feet}
            if target is not None:
                tasks[self.tip] = LookAt(self.tip, at=targets[self.tip], priority=2)
            engines[target is None] = Solver(self.figure, list(tasks.values()), criteria=[Natural()]), tasks
        solver, tasks = engines[target is None]
        for part, value in targets.items():
            solver.target(tasks[part], value)
        return solver.settle(start).posture

    def _point(self, target: Gaze, eye: FloatArray) -> FloatArray:
        """The point to look at [m]."""
        if target.point is not None:
            return target.point
        assert target.direction is not None
        return eye + FAR * target.direction

    def _result(self, found: Posture, wanted: Posture, target: Gaze) -> BodyResult:  # type: ignore[override]
        seat: Pose = self.figure.pose_of(self.tip, found)
        sight, towards = seat.matrix @ self._axis, self._point(target, seat.position) - seat.position
        towards = towards / max(float(np.linalg.norm(towards)), 1e-12)
        off = math.atan2(float(np.linalg.norm(np.cross(sight, towards))), float(sight @ towards))
        turned = self.figure.difference(wanted, found)[self._turning]
        shape = float(np.mean(0.5 * (1.0 - np.cos(turned))))
        missed = math.sqrt(2.0) * math.sin(0.25 * off)
        error = self.weights.orientation * missed + self.weights.posture * shape
        return BodyResult(found, error, missed, shape, shape, 1, seat.rotation, off)

    def solve_batch(
        self, postures: Postures, orientations: Targets, *, device: Device | None = None
    ) -> ExpressiveBatch:
        """Not for bodies: raises an error."""
        return self._refuse("batches")

    def timed(self, postures: Postures, orientations: Targets) -> FloatArray:
        """Not for bodies: raises an error."""
        return self._refuse("timed solves")

    def cuda_method(self) -> tuple[CudaMethod, tuple[Any, ...]]:
        """Not for bodies: raises an error."""
        return self._refuse("a GPU")

    def _refuse(self, what: str) -> NoReturn:
        raise TaskError(f"expressive has no {what} for a whole body such as {self.figure.name!r}; call solve.")


def face_of(figure: Figure, tip: str | None) -> str | None:
    """The part that looks: `tip` if it has a face, else the figure's eyes or head; None if it has none."""
    if tip is not None:
        return tip if figure.facing_axis(tip) is not None else None
    head = head_of(figure)
    if head is None:
        return None
    for part in (*_eyes(figure, head), head):
        if figure.facing_axis(part) is not None:
            return part
    return None


def _eyes(figure: Figure, head: str) -> Sequence[str]:
    """Sites that say themselves where they look, on the head or on what the head carries."""
    above = {joint.child: joint.parent for joint in figure.joints}
    carried = (figure.body_of(head),)
    return [
        site.name
        for site in figure.sites
        if site.facing is not None and (site.body in carried or above.get(site.body) in carried)
    ]


def _feet(figure: Figure) -> list[str]:
    """The bodies that stay in place: the feet of a figure whose base is free to move."""
    if not any(int(kind) == FREE for kind in figure.compiled.tree.kind):
        return []
    return [figure.roles[role].part for role in SOLE_PARTS if role in figure.roles]
