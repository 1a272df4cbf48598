"""Mechanism: figures with loops, by their motors [Schumacher et al. 2021].

Motors go where their sliders say and passive joints follow (`figure.assemble`); pulled at, the whole mechanism moves,
out of its workspace too, and its loops stay closed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from poise.figure.model.figure import Figure
from poise.figures import built_in
from poise.studio.scenes.openings import opening
from poise.studio.session.driver import Driver, Mode
from poise.studio.session.freedoms import Freedom, shown_values
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.session.targets import places
from poise.studio.wire.anchors import marked_joints

FIGURES = ("four_bar", "five_bar", "delta", "stewart", "all_joints", "dancer", "walker")
FIRST_FIGURE = "five_bar"
MOST_TRACES = 8
INKS = ("#7d5ba6", "#3c9d5d", "#c0722a", "#b5658c", "#2e86ab", "#8a7f2c")
"""Colours of loops, one after the other."""
TINY = 1e-12
"""Unit in which the gaps of loops are plotted [m or rad]."""


@dataclass(frozen=True)
class MechanismMode(Mode):
    """The engine moves the figure; what is shown about it differs."""

    name: ClassVar[str] = "mechanism"


class MechanismDriver(Driver):
    """Watches motors, passive joints and loops."""

    def figures(self) -> tuple[str, ...]:
        """Built-in figures with loops."""
        return FIGURES

    def enter(self, session: Session) -> None:
        """Take the session's figure if it has loops."""
        state = session.state
        known = len(state.figure.loops) > 0
        scene = opening(state.figure, state.scene.origin) if known else opening(built_in(FIRST_FIGURE))
        session.open(scene, folder=state.folder if known else None, mode=MechanismMode())

    def choose(self, session: Session, figure: str) -> None:
        """Another mechanism."""
        session.open(opening(built_in(figure)), mode=MechanismMode())

    def watch(self, state: State) -> None:
        """Where joints are, how far the pull is short, how far loops are open."""
        motors, passive = motors_of(state), passive_of(state)
        values = shown_values(state.posture, state.freedoms)
        gap = state.figure.closure_error(state.posture) / TINY
        self.samples.add(
            [
                time.monotonic(),
                *(values[freedom.number] for freedom in motors[:MOST_TRACES]),
                *(values[freedom.number] for freedom in passive[:MOST_TRACES]),
                short_of(state),
                gap,
            ]
        )

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Motors, passive joints, the pull, the loops."""
        motors, passive = motors_of(state)[:MOST_TRACES], passive_of(state)[:MOST_TRACES]
        return {
            "key": f"mechanism {state.figure_number}",
            "kind": "stream",
            "plots": [
                _joints_plot("motors", motors),
                _joints_plot("passive joints", passive),
                {"title": "pull is short by", "unit": "mm", "names": ["pull"], "limit": None, "floor": 0},
                {"title": "loops open by", "unit": "pm or prad", "names": ["gap"], "limit": None, "floor": 0},
            ],
        }

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """A coloured line along every loop."""
        cycles = loop_cycles(state.figure)
        paths = [{"ink": INKS[k % len(INKS)], "through": through} for k, through in enumerate(cycles)]
        return {"key": f"loops {state.figure_number}", "paths": paths}


def motors_of(state: State) -> list[Freedom]:
    """Degrees of freedom with a motor."""
    return [freedom for freedom in state.freedoms if freedom.active and not _is_base(state, freedom)]


def passive_of(state: State) -> list[Freedom]:
    """Degrees of freedom without."""
    return [freedom for freedom in state.freedoms if not freedom.active]


def _is_base(state: State, freedom: Freedom) -> bool:
    return state.figure.joints[freedom.joint].kind == "free"


def short_of(state: State) -> float:
    """How far the point that is pulled is from the pointer [mm]; 0 where none is."""
    gaps = [0.0]
    for pull in state.pulls:
        held = places(pull.task, state.posture)
        if held is not None:
            gaps.append(1e3 * float(np.linalg.norm(held.got - pull.at)))
    return max(gaps)


def _joints_plot(title: str, freedoms: list[Freedom]) -> dict[str, Any]:
    units = dict.fromkeys(freedom.unit for freedom in freedoms)
    names = [f"{freedom.joint} {freedom.coordinate}".strip() for freedom in freedoms]
    return {"title": title, "unit": " or ".join(units) or "–", "names": names, "limit": None}


@lru_cache(maxsize=16)
def loop_cycles(figure: Figure) -> list[list[int]]:
    """For every loop joint the marked joints on the way around, by number; -1 - k stands for loop joint k itself."""
    numbers = {joint.name: k for k, joint in enumerate(marked_joints(figure))}
    cycles = []
    for k, loop in enumerate(figure.loops):
        up, down = _way(figure, loop.parent), _way(figure, loop.child)
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        around = [numbers[name] for name in (*up, *reversed(down)) if name in numbers]
        cycles.append([-1 - k, *around, -1 - k])
    return cycles


def _way(figure: Figure, body: str | None) -> list[str]:
    """Joints from a body to the root."""
    parents = {joint.child: joint for joint in figure.joints}
    way = []
    while body in parents:
        way.append(parents[body].name)
        body = parents[body].parent
    return way
