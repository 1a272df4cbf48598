"""The circles mode: inverse kinematics by intersecting circles, in a side view [Ramachandran & John 2013, fig. 5 to 7].

There are demos of three kinds: arms whose end-point stays in its safe zone while it is dragged, a cyclist whose feet
stay on the pedals, and a hand that closes on a ball when the ball comes within reach.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from poise.engine.scene import Origin, Scene
from poise.errors import TaskError
from poise.figures import BUILT_IN, built_in
from poise.studio.modes.circles.demo import Demo, Placed
from poise.studio.modes.circles.demos import DEMOS
from poise.studio.session.changes import open_scene
from poise.studio.session.driver import TICK, Driven, Driver, Mode
from poise.studio.session.outcome import Outcome
from poise.studio.session.pulls import checked_point
from poise.studio.session.session import Session
from poise.studio.session.state import State, with_scene

FULL_TURN = 6.283185307179586


@dataclass(frozen=True)
class CirclesMode(Mode):
    """Settings of the circles mode."""

    name: ClassVar[str] = "circles"
    drives: ClassVar[bool] = True
    demo: str = "arm"
    """Name of the demo."""
    at: tuple[float, float] = (0.6, 0.6)
    """Position of the dragged end-point, pedal or ball: forward and up [m]."""
    turn: float = 0.0
    """Angle of the arm's turntable [rad]."""
    pedalling: bool = False
    """Whether the crank turns by itself."""
    cadence: float = 45.0
    """Turns of the crank per minute."""


class CirclesDriver(Driver):
    """Moves the figure of the circles mode: solves the chosen demo in every frame."""

    def __init__(self) -> None:
        """Start without a demo."""
        super().__init__()
        self.placed: Placed | None = None
        self.seconds = 0.0

    def figures(self) -> tuple[str, ...]:
        """The names of the demos."""
        return tuple(DEMOS)

    def enter(self, session: Session) -> None:
        """Open the demo of the session's figure, or the first one."""
        name = session.state.figure.name
        self.choose(session, name if name in DEMOS else next(iter(DEMOS)))

    def choose(self, session: Session, figure: str) -> None:
        """Open another demo."""
        demo = DEMOS[figure]
        mode = CirclesMode(demo=figure, at=demo.first, pedalling=figure == "cyclist")
        open_scene(session, _scene(demo, mode), mode=mode)

    def point(self, session: Session, at: tuple[float, float], gesture: object) -> None:
        """Move the end-point, the pedal or the ball."""
        mode = self._mode(session.state)
        demo = DEMOS[mode.demo]
        kept = demo.kept(at, session.state.posture)
        new = replace(mode, at=kept, pedalling=False)
        scene = _scene(demo, new) if demo.has_ball else None

        def change(state: State) -> State:
            pointed = replace(state, mode=new)
            return pointed if scene is None else with_scene(pointed, scene)

        session.update(change, gesture=("circles", gesture))

    def drive(self, state: State) -> Driven | None:
        """Solve the demo for the current position of the dragged end-point, pedal or ball."""
        mode = self._mode(state)
        begun = time.perf_counter()
        turned = TICK * mode.cadence * FULL_TURN / 60.0 if mode.pedalling else 0.0
        placed = DEMOS[mode.demo].placed(state.posture, mode.at, turn=mode.turn, advance=turned)
        self.seconds = time.perf_counter() - begun
        self.placed = placed
        light, sentence = placed.status
        return Driven(placed.posture, Outcome(light, sentence), placed.more or mode.pedalling)

    def views(self, state: State) -> Mapping[str, Mapping[str, Any]]:
        """The contents of the side view."""
        mode = self._mode(state)
        return {"circles": {"key": state.step, "demo": mode.demo, **DEMOS[mode.demo].drawn(state.posture, mode.at)}}

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """Handle "point" messages: a drag in the side view."""
        if message["do"] == "point":
            forward, up = (float(value) for value in message["at"])
            checked_point((0.0, up, forward))
            self.point(session, (forward, up), message["gesture"])

    @staticmethod
    def _mode(state: State) -> CirclesMode:
        if not isinstance(state.mode, CirclesMode):
            raise TaskError("the circles mode is not on; choose it in the top bar.")
        return state.mode


def _scene(demo: Demo, mode: CirclesMode) -> Scene:
    figure = demo.figure
    known = figure.name in BUILT_IN and figure == built_in(figure.name)
    return Scene(
        figure,
        [],
        start=demo.start,
        obstacles=demo.obstacles(mode.at),
        description=demo.description,
        origin=Origin(figure.name) if known else None,
    )
