"""Expressive: a posture is held while the tip of a chain looks at a target [Ribeiro & Paiva 2017, fig. 7 and 8].

The scene says what is wanted, as everywhere: a `LookAt` has the target, which is dragged like any other, and a `Hold`
has the posture. The solver that was chosen answers sixty times per second, and the motion filter follows it.
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
from poise.expressive.result import ExpressiveResult
from poise.expressive.solver import ExpressiveSolver
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, vector
from poise.figure.model.posture import Posture
from poise.figures import BUILT_IN, built_in
from poise.pictures.camera import world_axes
from poise.studio.modes.expressive.filter import Filtered, FilterSettings
from poise.studio.modes.expressive.postures import posture_choices
from poise.studio.modes.expressive.robot import RobotLine
from poise.studio.session.driver import TICK, Driven, Driver, Mode
from poise.studio.session.edits import with_tasks
from poise.studio.session.outcome import Outcome
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.overlays import bodies_row
from poise.tasks.place import LookAt
from poise.tasks.posture import Hold

SOLVERS = {"ours": "Expressive", "erik": "ERIK 2019", "2017": "ERIK 2017"}
FIGURES = ("adelino", "snake", *(f"erik_{letter}" for letter in "abcdefg"))
FIRST_FIGURE, FIRST_POSTURE = "adelino", "curious"
MET = 0.01
"""Gaze within this of its target has it [rad]."""
EASE = 0.3
"""Share of the way to a new direction that is taken in one frame."""
EASY = 0.6
"""Points nearer than this to the tip, in heights of the figure, are turned to more slowly."""
STILL = 1e-6
"""A figure whose joints move less than this in a step rests [rad]."""


@dataclass(frozen=True)
class ExpressiveMode(Mode):
    """Who solves, and how the motion is filtered."""

    name: ClassVar[str] = "expressive"
    drives: ClassVar[bool] = True
    solver: str = "ours"
    filter: FilterSettings = field(default_factory=FilterSettings)
    ghost: bool = True
    """Whether the wanted posture is drawn."""


class Numbers(NamedTuple):
    """What the panel shows live."""

    result: ExpressiveResult
    gaze: float
    """How far the gaze of the figure as shown is from the target [rad]."""
    seconds: float
    """How long the last solve took."""


class ExpressiveDriver(Driver):
    """Solves, filters, and tells robots."""

    def __init__(self) -> None:
        """Begin without a figure."""
        super().__init__()
        self.robot = RobotLine()
        self.numbers: Numbers | None = None
        self._filtered = Filtered(self.samples)
        self._solver: ExpressiveSolver | None = None
        self._chosen = ""
        self._last: ExpressiveResult | None = None
        self._shown: Posture | None = None
        self._direction: FloatArray | None = None

    def figures(self) -> tuple[str, ...]:
        """Chains of hinges."""
        return FIGURES

    def enter(self, session: Session) -> None:
        """Take the session's figure if it is a chain of hinges."""
        figure = session.state.figure
        session.open(expressive_scene(figure if is_chain(figure) else built_in(FIRST_FIGURE)), mode=ExpressiveMode())

    def choose(self, session: Session, figure: str) -> None:
        """Another chain, with the settings as they are."""
        mode = session.state.mode
        session.open(expressive_scene(built_in(figure)), mode=mode if isinstance(mode, ExpressiveMode) else None)

    def hold(self, session: Session, name: str) -> None:
        """Hold another posture."""
        state = session.state
        look, held = asked(state)
        tasks = [look, replace(held, posture=posture_choices(state.figure)[name], name=name)]
        session.set_mode(state.mode, scene=with_tasks(state.scene, tasks))

    def drive(self, state: State) -> Driven | None:
        """One solve, one step of the filter."""
        mode = state.mode
        assert isinstance(mode, ExpressiveMode)
        look, held = asked(state)
        if self._shown is not state.posture:
            self._begin(state.posture)
        solver = self._solver_of(state.figure, mode.solver)
        begun = time.perf_counter()
        result = solver.solve(held.posture, self._facing(state.posture, look), previous=self._last or state.posture)
        seconds = time.perf_counter() - begun
        posture = self._filtered.step(mode.filter, result.posture)
        gaze = _astray(posture, look)
        settled = self._last is not None and _moved(self._last.posture, result.posture) < STILL
        rests = settled and _moved(state.posture, posture) < STILL and self._filtered.is_still
        self._last, self._shown = result, posture
        self.numbers = Numbers(result, gaze, seconds)
        self.robot.write(posture)
        under_way = not rests or _astray(result.posture, look) < MET
        outcome = _outcome(look, held, self.numbers, under_way=under_way)
        return Driven(posture, outcome, not rests or self.robot.is_on)

    def _facing(self, shown: Posture, look: LookAt) -> Gaze:
        """The direction of the target from the tip that was solved last, eased.

        The tip moves while it turns towards a point, and the nearer the point, the more that changes the direction:
        followed at once, the two chase each other and never come to rest.
        """
        tip = shown.figure.pose_of(look.site, self._last.posture if self._last is not None else shown).position
        to = place_of(look) - tip
        far = float(np.linalg.norm(to))
        new = to / far if far > 0.0 else shown.figure.up_vector
        share = EASE * min(1.0, far / (EASY * _height(shown.figure)))
        mixed = new if self._direction is None else (1.0 - share) * self._direction + share * new
        size = float(np.linalg.norm(mixed))
        self._direction = mixed / size if size > MET else new
        return facing(self._direction, roll=None)

    def _begin(self, posture: Posture) -> None:
        self._last, self._direction = None, None
        self._filtered.begin(posture)

    def _solver_of(self, figure: Figure, chosen: str) -> ExpressiveSolver:
        if self._solver is None or self._solver.figure is not figure or self._chosen != chosen:
            self._solver, self._chosen, self._last = make_solver(figure, chosen), chosen, None
        return self._solver

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Position, velocity, acceleration and jerk of every joint, each with its limit."""
        mode = state.mode
        assert isinstance(mode, ExpressiveMode)
        joints = list(state.figure.moving_joints)
        return {"key": f"expressive {state.figure_number} {mode.filter}", **mode.filter.plots(joints)}

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """The wanted posture as a ghost, and the line of sight."""
        mode = state.mode
        assert isinstance(mode, ExpressiveMode)
        _, held = asked(state)
        if not mode.ghost:
            return {"key": "none"}
        wanted = state.figure.posture(held.posture)
        return {"key": hash((wanted._q.tobytes(), state.figure_number)), "ghost": bodies_row(wanted)}

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """The gaze follows the mouse."""
        if message["do"] == "gaze":
            session.aim(0, message["at"], gesture=message["gesture"])

    def leave(self) -> None:
        """Let go of a robot."""
        self.robot.stop()


def is_chain(figure: Figure) -> bool:
    """Whether expressive solvers take a figure."""
    try:
        chain_of(figure, None, solver="expressive", slides=True)
    except PoiseError:
        return False
    return figure.nq == figure.nv and not len(figure.loops)


def make_solver(figure: Figure, chosen: str) -> ExpressiveSolver:
    """The solver of a name."""
    if chosen == "ours":
        return Expressive(figure)
    return Erik(figure, variant="2017" if chosen == "2017" else "2019")


def expressive_scene(figure: Figure) -> Scene:
    """A figure that looks ahead, in its first posture."""
    choices = posture_choices(figure)
    first = FIRST_POSTURE if FIRST_POSTURE in choices else next(iter(choices))
    tip = chain_of(figure, None, solver="expressive", slides=True).tip
    ahead = _height(figure) * (0.7 * figure.up_vector + 1.4 * world_axes(figure.up)[0])
    look = LookAt(tip, at=ahead, priority=1, name="gaze")
    held = Hold(choices[first], priority=2, name=first)
    known = figure.name in BUILT_IN and figure == built_in(figure.name)
    return Scene(
        figure,
        [look, held],
        description="Holds a posture and looks at the target",
        origin=Origin(figure.name) if known else None,
    )


def _height(figure: Figure) -> float:
    """How far a figure reaches [m]."""
    return float(np.abs(figure.frames(figure.neutral()).position).max())


def asked(state: State) -> tuple[LookAt, Hold]:
    """What is to be looked at, and what to be held."""
    look = next((task for task in state.scene.tasks if isinstance(task, LookAt)), None)
    held = next((task for task in state.scene.tasks if isinstance(task, Hold)), None)
    if look is None or look.at is None or held is None:
        raise TaskError("the expressive mode needs a gaze at a point and a posture to hold; choose it again above.")
    return look, held


def place_of(look: LookAt) -> FloatArray:
    """(3,) the point that is looked at [m]."""
    assert look.at is not None
    return np.array(vector(look.at))


def _astray(posture: Posture, look: LookAt) -> float:
    """Angle between the gaze and the target [rad]."""
    tip = posture.figure.pose_of(look.site, posture)
    to = place_of(look) - tip.position
    gaze = tip.matrix[:, 1]
    return float(np.arctan2(np.linalg.norm(np.cross(gaze, to)), gaze @ to))


def _moved(a: Posture, b: Posture) -> float:
    return float(np.abs(a._q - b._q).max(initial=0.0))


def _outcome(look: LookAt, held: Hold, numbers: Numbers, *, under_way: bool) -> Outcome:
    """Green when it looks there, orange on the way, red when there is no way."""
    result, gaze = numbers.result, numbers.gaze
    verdicts = {
        look: Verdict(look, gaze, gaze < MET),
        held: Verdict(held, result.shape_error, result.shape_error < MET),
    }
    if gaze < MET:
        return Outcome("green", f"Looks at the target; its shape is off by {result.shape_error:.3f}.", verdicts)
    if under_way:
        return Outcome("orange", "On its way.", verdicts)
    return Outcome("red", f"The gaze misses the target by {np.degrees(gaze):.1f}°.", verdicts)


__all__ = ["SOLVERS", "TICK", "ExpressiveDriver", "ExpressiveMode", "expressive_scene", "is_chain"]
