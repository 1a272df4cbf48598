"""The mechanism mode: figures with kinematic loops, moved by their motors [Schumacher et al. 2021].

Sliders set the motors, and the passive joints follow (`figure.assemble`). When a point is dragged, the whole mechanism
follows as far as its workspace allows, and its loops stay closed.
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
from poise.studio.session.changes import open_scene
from poise.studio.session.driver import Driver, Mode
from poise.studio.session.freedoms import Freedom, shown_values
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.anchors import marked_joints

LOOP_FIGURES = ("four_bar", "five_bar", "delta", "stewart", "all_joints", "dancer", "walker")
FIRST_LOOP_FIGURE = "five_bar"
JOINTS_PLOTTED = 8
LOOP_COLORS = ("#7d5ba6", "#3c9d5d", "#c0722a", "#b5658c", "#2e86ab", "#8a7f2c")
"""Colours of the paths along loops, in order."""
PLOTTED_GAP_UNIT = 1e-12
"""Unit in which closure errors of loops are plotted [m or rad]."""


@dataclass(frozen=True)
class MechanismMode(Mode):
    """Settings of the mechanism mode; the engine moves the figure as in the pose mode."""

    name: ClassVar[str] = "mechanism"


class MechanismDriver(Driver):
    """Records motors, passive joints and loops for the plots, and draws the loops."""

    def figures(self) -> tuple[str, ...]:
        """Names of the built-in figures with loops."""
        return LOOP_FIGURES

    def enter(self, session: Session) -> None:
        """Open the session's figure if it has loops, else the first figure of the mode."""
        state = session.state
        known = len(state.figure.loops) > 0
        scene = opening(state.figure, state.scene.origin) if known else opening(built_in(FIRST_LOOP_FIGURE))
        open_scene(session, scene, mode=MechanismMode())

    def choose(self, session: Session, figure: str) -> None:
        """Open another mechanism."""
        open_scene(session, opening(built_in(figure)), mode=MechanismMode())

    def watch(self, state: State) -> None:
        """Record the joint values, the distance of the dragged point from the pointer, and the closure error."""
        motors, passive = motors_of(state), passive_of(state)
        values = shown_values(state.posture, state.freedoms)
        gap = state.figure.closure_error(state.posture) / PLOTTED_GAP_UNIT
        self.samples.add(
            [
                time.monotonic(),
                *(values[freedom.number] for freedom in motors[:JOINTS_PLOTTED]),
                *(values[freedom.number] for freedom in passive[:JOINTS_PLOTTED]),
                pull_error(state),
                gap,
            ]
        )

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Four plots: motors, passive joints, the dragged point's error, and the closure error."""
        motors, passive = motors_of(state)[:JOINTS_PLOTTED], passive_of(state)[:JOINTS_PLOTTED]
        return {
            "key": f"mechanism {state.figure_number}",
            "kind": "stream",
            "plots": [
                _joints_plot("motors", motors),
                _joints_plot("passive joints", passive),
                {"title": "distance to pointer", "unit": "mm", "names": ["dragged point"], "limit": None, "floor": 0},
                {"title": "gap of loops", "unit": "pm or prad", "names": ["gap"], "limit": None, "floor": 0},
            ],
        }

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """A coloured path along every loop."""
        cycles = loop_cycles(state.figure)
        paths = [{"ink": LOOP_COLORS[k % len(LOOP_COLORS)], "through": through} for k, through in enumerate(cycles)]
        return {"key": f"loops {state.figure_number}", "paths": paths}


def motors_of(state: State) -> list[Freedom]:
    """Degrees of freedom with a motor."""
    return [freedom for freedom in state.freedoms if freedom.active and not _is_base(state, freedom)]


def passive_of(state: State) -> list[Freedom]:
    """Degrees of freedom without a motor."""
    return [freedom for freedom in state.freedoms if not freedom.active]


def _is_base(state: State, freedom: Freedom) -> bool:
    return state.figure.joints[freedom.joint].kind == "free"


def pull_error(state: State) -> float:
    """Largest distance of a dragged point from its pointer; 0 if none is dragged [mm]."""
    gaps = [0.0]
    for pull in state.pulls:
        held = pull.task.target_in(state.posture)
        if held is not None:
            gaps.append(1e3 * float(np.linalg.norm(held.got - pull.at)))
    return max(gaps)


def _joints_plot(title: str, freedoms: list[Freedom]) -> dict[str, Any]:
    units = dict.fromkeys(freedom.unit for freedom in freedoms)
    names = [f"{freedom.joint} {freedom.coordinate}".strip() for freedom in freedoms]
    return {"title": title, "unit": " or ".join(units) or "–", "names": names, "limit": None}


@lru_cache(maxsize=16)
def loop_cycles(figure: Figure) -> list[list[int]]:
    """For every loop, the numbers of the marked joints along it; -1 - k stands for loop joint k itself."""
    numbers = {joint.name: k for k, joint in enumerate(marked_joints(figure))}
    cycles = []
    for k, loop in enumerate(figure.loops):
        up, down = _joints_to_root(figure, loop.parent), _joints_to_root(figure, loop.child)
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        around = [numbers[name] for name in (*up, *reversed(down)) if name in numbers]
        cycles.append([-1 - k, *around, -1 - k])
    return cycles


def _joints_to_root(figure: Figure, body: str | None) -> list[str]:
    """Names of the joints on the path from a body to the root."""
    parents = {joint.child: joint for joint in figure.joints}
    names = []
    while body in parents:
        names.append(parents[body].name)
        body = parents[body].parent
    return names
