"""The expressive mode: a chain holds a posture while its tip looks at a target [Ribeiro & Paiva 2017, fig. 7 and 8].

The scene has two tasks: a `LookAt` with the target, which can be dragged, and a `Hold` with the posture. An expressive
solver computes a posture sixty times per second, and the motion filter smooths the motion.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from poise.chains.chain import chain_of
from poise.chains.targets import Gaze, facing
from poise.engine.result import Verdict
from poise.engine.scene import Origin, Scene
from poise.errors import PoiseError, TaskError
from poise.expressive.erik import Erik
from poise.expressive.expressive import Expressive
from poise.expressive.expressive import Hold as HoldInMotion
from poise.expressive.result import ExpressiveResult
from poise.expressive.solver import ExpressiveSolver
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, vector
from poise.figure.model.posture import Posture
from poise.figures import BUILT_IN, built_in
from poise.pictures.camera import world_axes
from poise.studio.modes.expressive.filter import Filtered, FilterSettings
from poise.studio.modes.expressive.glide import Glide
from poise.studio.modes.expressive.postures import posture_choices
from poise.studio.modes.expressive.robot import RobotLine
from poise.studio.session.changes import open_scene, scene_change, with_target
from poise.studio.session.driver import TICK, Driven, Driver, Mode
from poise.studio.session.edits.scene import with_tasks
from poise.studio.session.outcome import Outcome
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.overlays import bodies_row
from poise.tasks.look_at import LookAt
from poise.tasks.posture import Hold

SOLVER_NAMES = {"ours": "Expressive", "erik": "ERIK 2019", "2017": "ERIK 2017"}
HOLD_NAMES: dict[str, str] = {"gaze": "Gaze", "balanced": "Both", "expression": "Expression"}
"""What matters most to `poise.Expressive` in motion."""
CHAIN_FIGURES = ("adelino", "snake", *(f"erik_{letter}" for letter in "abcdefg"))
FIRST_CHAIN_FIGURE, FIRST_POSTURE = "adelino", "curious"
ON_TARGET_ANGLE = 0.01
"""Gaze error below which the figure counts as looking at the target [rad]."""
GAZE_EASING = 0.3
"""Share of the change of direction that is applied in one frame."""
EASING_DISTANCE = 0.6
"""Distance of the target from the tip below which the share is reduced, as a share of the figure's reach."""
RESTING_CHANGE = 1e-6
"""Largest change of a joint in one step at which the figure counts as resting [rad]."""


@dataclass(frozen=True)
class ExpressiveMode(Mode):
    """Settings of the expressive mode."""

    name: ClassVar[str] = "expressive"
    drives: ClassVar[bool] = True
    solver: str = "ours"
    """The solver, a key of `SOLVER_NAMES`."""
    hold: HoldInMotion = "balanced"
    """What matters most in motion, a key of `HOLD_NAMES`; for `poise.Expressive` only."""
    filter: FilterSettings = field(default_factory=FilterSettings)
    """Settings of the motion filter."""
    ghost: bool = True
    """Whether the held posture is drawn as a ghost."""


class Numbers(NamedTuple):
    """Numbers of the last solve that the panel shows."""

    result: ExpressiveResult
    """The solver's result."""
    gaze: float
    """Angle between the gaze of the shown posture and the target [rad]."""
    seconds: float
    """Time that the solve took [s]."""


class ExpressiveDriver(Driver):
    """Runs an expressive solver and the motion filter, and sends postures to a robot."""

    def __init__(self) -> None:
        """Start without a solver."""
        super().__init__()
        self.robot = RobotLine()
        self.numbers: Numbers | None = None
        self._filtered = Filtered(self.samples)
        self._solver: ExpressiveSolver | None = None
        self._chosen = ("", "")
        self._last: ExpressiveResult | None = None
        self._shown: Posture | None = None
        self._direction: FloatArray | None = None
        self._target = Glide()

    def figures(self) -> tuple[str, ...]:
        """Names of the built-in figures that are chains of hinges."""
        return CHAIN_FIGURES

    def enter(self, session: Session) -> None:
        """Open the session's figure if it is a chain of hinges, else the first figure of the mode."""
        figure = session.state.figure
        chain = figure if is_chain(figure) else built_in(FIRST_CHAIN_FIGURE)
        open_scene(session, expressive_scene(chain), mode=ExpressiveMode())

    def choose(self, session: Session, figure: str) -> None:
        """Open another chain with the present settings."""
        mode = session.state.mode
        kept = mode if isinstance(mode, ExpressiveMode) else None
        open_scene(session, expressive_scene(built_in(figure)), mode=kept)

    def hold(self, session: Session, name: str) -> None:
        """Hold another posture."""
        state = session.state
        look, held = gaze_and_posture(state)
        tasks = [look, replace(held, posture=posture_choices(state.figure)[name], name=name)]
        session.update(scene_change(with_tasks, tasks))

    def drive(self, state: State) -> Driven | None:
        """Solve once and step the motion filter once."""
        mode = state.mode
        assert isinstance(mode, ExpressiveMode)
        look, held = gaze_and_posture(state)
        if self._shown is not state.posture:
            self._restart(state.posture)
        solver = self._solver_of(state.figure, mode.solver, mode.hold)
        begun = time.perf_counter()
        result = solver.solve(held.posture, self._facing(state.posture, look), previous=self._last or state.posture)
        seconds = time.perf_counter() - begun
        posture = self._filtered.step(mode.filter, result.posture)
        gaze = _gaze_error(posture, look)
        settled = self._last is not None and _largest_change(self._last.posture, result.posture) < RESTING_CHANGE
        rests = settled and _largest_change(state.posture, posture) < RESTING_CHANGE and self._filtered.is_still
        self._last, self._shown = result, posture
        self.numbers = Numbers(result, gaze, seconds)
        self.robot.write(posture)
        rests = rests and self._target.has_arrived
        under_way = not rests or _gaze_error(result.posture, look) < ON_TARGET_ANGLE
        outcome = _outcome(look, held, self.numbers, under_way=under_way)
        return Driven(posture, outcome, not rests or self.robot.is_on)

    def _facing(self, shown: Posture, look: LookAt) -> Gaze:
        """The direction from the last solved tip to the target, smoothed over frames.

        The tip moves while it turns towards the target, which changes the direction, the more so the nearer the target
        is. Without smoothing, tip and direction would oscillate and never come to rest.
        """
        tip = shown.figure.pose_of(look.site, self._last.posture if self._last is not None else shown).position
        to = self._target.on_the_way_to(looked_at_point(look)) - tip
        far = float(np.linalg.norm(to))
        new = to / far if far > 0.0 else shown.figure.up_vector
        share = GAZE_EASING * min(1.0, far / (EASING_DISTANCE * _figure_reach(shown.figure)))
        mixed = new if self._direction is None else (1.0 - share) * self._direction + share * new
        size = float(np.linalg.norm(mixed))
        self._direction = mixed / size if size > ON_TARGET_ANGLE else new
        return facing(self._direction, roll=None)

    def _restart(self, posture: Posture) -> None:
        self._last, self._direction, self._target = None, None, Glide()
        self._filtered.begin(posture)

    def _solver_of(self, figure: Figure, name: str, hold: HoldInMotion) -> ExpressiveSolver:
        if self._solver is None or self._solver.figure is not figure or self._chosen != (name, hold):
            self._solver, self._chosen, self._last = make_solver(figure, name, hold), (name, hold), None
        return self._solver

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Four plots of all joints: position, velocity, acceleration and jerk, with their limits."""
        mode = state.mode
        assert isinstance(mode, ExpressiveMode)
        joints = list(state.figure.moving_joints)
        return {"key": f"expressive {state.figure_number} {mode.filter}", **mode.filter.plots(joints)}

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """The held posture as a ghost."""
        mode = state.mode
        assert isinstance(mode, ExpressiveMode)
        _, held = gaze_and_posture(state)
        if not mode.ghost:
            return {"key": "none"}
        wanted = state.figure.posture(held.posture)
        return {"key": hash((wanted._q.tobytes(), state.figure_number)), "ghost": bodies_row(wanted)}

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """Handle "gaze" messages: move the target to the mouse."""
        if message["do"] == "gaze":
            gesture = ("aim", 0, message["gesture"])
            session.update(lambda state: with_target(state, 0, message["at"]), gesture=gesture)

    def leave(self) -> None:
        """Disconnect the robot."""
        self.robot.stop()


def is_chain(figure: Figure) -> bool:
    """Whether expressive solvers support a figure: a serial chain of hinges and slides without loops."""
    try:
        chain_of(figure, None, solver="expressive", slides=True)
    except PoiseError:
        return False
    return figure.nq == figure.nv and not len(figure.loops)


def make_solver(figure: Figure, name: str, hold: HoldInMotion = "balanced") -> ExpressiveSolver:
    """The expressive solver for a key of `SOLVER_NAMES`, with a key of `HOLD_NAMES`."""
    if name == "ours":
        return Expressive(figure, hold=hold)
    return Erik(figure, variant="2017" if name == "2017" else "2019")


def expressive_scene(figure: Figure) -> Scene:
    """The first scene of the mode: the figure holds a posture and looks ahead."""
    choices = posture_choices(figure)
    first = FIRST_POSTURE if FIRST_POSTURE in choices else next(iter(choices))
    tip = chain_of(figure, None, solver="expressive", slides=True).tip
    ahead = _figure_reach(figure) * (0.7 * figure.up_vector + 1.4 * world_axes(figure.up)[0])
    look = LookAt(tip, at=ahead, priority=1, name="gaze")
    held = Hold(choices[first], priority=2, name=first)
    known = figure.name in BUILT_IN and figure == built_in(figure.name)
    return Scene(
        figure,
        [look, held],
        description="Holds a posture and looks at the target",
        origin=Origin(figure.name) if known else None,
    )


def _figure_reach(figure: Figure) -> float:
    """Largest coordinate of a body in the neutral posture [m]."""
    return float(np.abs(figure.frames(figure.neutral()).position).max())


def gaze_and_posture(state: State) -> tuple[LookAt, Hold]:
    """The gaze task and the posture task of a state's scene."""
    look = next((task for task in state.scene.tasks if isinstance(task, LookAt)), None)
    held = next((task for task in state.scene.tasks if isinstance(task, Hold)), None)
    if look is None or look.at is None or held is None:
        raise TaskError(
            "the expressive mode needs a look-at task and a held posture; choose the mode again in the top bar."
        )
    return look, held


def looked_at_point(look: LookAt) -> FloatArray:
    """(3,) the point to look at [m]."""
    assert look.at is not None
    return np.array(vector(look.at))


def _gaze_error(posture: Posture, look: LookAt) -> float:
    """Angle between the gaze direction and the direction to the target [rad]."""
    tip = posture.figure.pose_of(look.site, posture)
    to = looked_at_point(look) - tip.position
    axis = posture.figure.facing_axis(look.site)
    gaze = tip.matrix[:, 1] if axis is None else tip.matrix @ axis
    return float(np.arctan2(np.linalg.norm(np.cross(gaze, to)), gaze @ to))


def _largest_change(a: Posture, b: Posture) -> float:
    return float(np.abs(a._q - b._q).max(initial=0.0))


def _outcome(look: LookAt, held: Hold, numbers: Numbers, *, under_way: bool) -> Outcome:
    """Green if the figure looks at the target, orange while it turns there, red if it cannot."""
    result, gaze = numbers.result, numbers.gaze
    verdicts = {
        look: Verdict(look, gaze, gaze < ON_TARGET_ANGLE),
        held: Verdict(held, result.shape_error, result.shape_error < ON_TARGET_ANGLE),
    }
    if gaze < ON_TARGET_ANGLE:
        return Outcome("green", f"Looks at the target; shape error {result.shape_error:.3f}.", verdicts)
    if under_way:
        return Outcome("orange", "Turning towards the target.", verdicts)
    return Outcome("red", f"The gaze misses the target by {np.degrees(gaze):.1f}°.", verdicts)


__all__ = ["HOLD_NAMES", "SOLVER_NAMES", "TICK", "ExpressiveDriver", "ExpressiveMode", "expressive_scene", "is_chain"]
