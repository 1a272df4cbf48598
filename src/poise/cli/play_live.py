"""The live view of `poise play` in a terminal: a small picture of the figure, and keys that change what it does."""

from __future__ import annotations

import math
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import RenderableType

    from poise.character.character import Character
    from poise.figure.model.figure import Figure
    from poise.figure.model.pose import FloatArray
    from poise.figure.model.posture import Posture
    from poise.motion.filter.filter import MotionFilter

ROWS, COLUMNS = 20, 44
"""Size of the picture [characters]."""
PICTURES_PER_SECOND = 8.0
GAZE_STEP = math.radians(10.0)
"""Turn of the gaze by one arrow key [rad]."""
STEEPEST = math.radians(80.0)
"""Greatest elevation of the gaze that keys set [rad]."""
ARROWS = {"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left"}
"""What a terminal sends for the arrow keys."""


class SolverName(StrEnum):
    """The solver that keeps the posture while the figure looks."""

    EXPRESSIVE = "expressive"
    ERIK = "erik"
    ERIK_2017 = "erik-2017"


class FilterName(StrEnum):
    """How the figure moves."""

    FAST = "fast"
    SMOOTH = "smooth"
    BOUNCY = "bouncy"


FILTERS: dict[FilterName, dict[str, float]] = {
    FilterName.FAST: {},
    FilterName.SMOOTH: {"smoothness": 0.4},
    FilterName.BOUNCY: {"bounce": 0.25},
}
"""Settings of the motion filter, beside the limits of a fast servo."""


def make_filter(name: FilterName) -> MotionFilter | None:
    """A motion filter by name; None is that of `poise.Character`."""
    from poise.motion.filter.filter import MotionFilter

    chosen = FILTERS[name]
    return MotionFilter(velocity=6.0, acceleration=40.0, jerk=800.0, **chosen) if chosen else None


def make_solver(name: SolverName, figure: Figure) -> Any:
    """A solver by name; None is that of `poise.Character`."""
    if name == SolverName.EXPRESSIVE:
        return None
    from poise.expressive.erik import Erik

    return Erik(figure, variant="2019" if name == SolverName.ERIK else "2017")


@dataclass
class Choices:
    """What the keys have chosen."""

    solver: SolverName = SolverName.EXPRESSIVE
    filter: FilterName = FilterName.FAST
    posture: str = ""
    heading: float = 0.0
    """Azimuth of the gaze [rad]."""
    elevation: float = 0.0
    looks: bool = False
    """Whether a key has set the gaze."""
    ended: bool = False


@dataclass
class LivePlay:
    """A character that keys can change, and its picture."""

    figure: Figure
    make: Callable[[SolverName, FilterName, Posture], Character]
    """Makes the character anew, in a posture."""
    choices: Choices = field(default_factory=Choices)

    def press(self, key: str, live: Character) -> Character:
        """Do what a key asks; returns the character, a new one if solver or filter changed."""
        names = self.figure.posture_names
        chosen = self.choices
        if key == "q":
            chosen.ended = True
        elif key.isdigit() and 0 < int(key) <= len(names):
            chosen.posture = names[int(key) - 1]
            live.hold(chosen.posture)
        elif key == "p" and names:
            known = names.index(chosen.posture) if chosen.posture in names else -1
            chosen.posture = names[(known + 1) % len(names)]
            live.hold(chosen.posture)
        elif key in ("s", "f"):
            return self._change(key, live)
        elif key in ARROWS.values():
            turn = {"left": (1, 0), "right": (-1, 0), "up": (0, 1), "down": (0, -1)}[key]
            chosen.heading += GAZE_STEP * turn[0]
            chosen.elevation = min(max(chosen.elevation + GAZE_STEP * turn[1], -STEEPEST), STEEPEST)
            chosen.looks = True
            live.face(self.direction())
        return live

    def _change(self, key: str, live: Character) -> Character:
        chosen = self.choices
        if key == "s":
            chosen.solver = _next(SolverName, chosen.solver)
        else:
            chosen.filter = _next(FilterName, chosen.filter)
        made = self.make(chosen.solver, chosen.filter, live.posture)
        if chosen.posture:
            made.hold(chosen.posture)
        if chosen.looks:
            made.face(self.direction())
        return made

    def direction(self) -> FloatArray:
        """(3,) where the keys let the figure look."""
        up = self.figure.up_vector
        ahead = np.roll(up, 1) if abs(up[2]) < 0.5 else np.array([1.0, 0.0, 0.0])
        left = np.cross(up, ahead)
        level = math.cos(self.choices.heading) * ahead + math.sin(self.choices.heading) * left
        return np.asarray(math.cos(self.choices.elevation) * level + math.sin(self.choices.elevation) * up)

    def picture(self, frame: Posture, status: str) -> RenderableType:
        """The figure, its state, and the keys."""
        from rich.console import Group
        from rich.text import Text

        from poise.pictures.draw import draw
        from poise.pictures.terminal import half_blocks

        shown = half_blocks(draw(self.figure, frame, size=(4 * COLUMNS, 8 * ROWS)), COLUMNS, ROWS)
        chosen = self.choices
        state = f"{chosen.posture or 'posture'} · {chosen.solver} · {chosen.filter}    {status}"
        keys = "1-9 p posture   ←→↑↓ gaze   s solver   f filter   q quit"
        return Group(shown, Text(state, no_wrap=True, overflow="ellipsis"), Text(keys, style="dim"))


def _next(kind: Any, value: Any) -> Any:
    """The member of an enumeration after this one."""
    members = list(kind)
    return members[(members.index(value) + 1) % len(members)]


@contextmanager
def pressed_keys() -> Iterator[Callable[[], list[str]]]:
    """A function that returns the keys pressed since its last call; none where the input is no terminal."""
    try:
        import termios
        import tty

        stream = sys.stdin.fileno()
        before = termios.tcgetattr(stream)
    except (ImportError, OSError, ValueError, AttributeError):  # Windows, a pipe, a closed or replaced input
        yield list
        return
    except termios.error:
        yield list
        return
    tty.setcbreak(stream)
    try:
        yield lambda: keys_in(_available(stream))
    finally:
        with suppress(termios.error):
            termios.tcsetattr(stream, termios.TCSADRAIN, before)


def _available(stream: int) -> str:
    """What can be read without waiting."""
    text = b""
    while select.select([stream], [], [], 0.0)[0] and (part := os.read(stream, 256)):
        text += part
    return text.decode(errors="ignore")


def keys_in(text: str) -> list[str]:
    """The keys in what a terminal has sent; arrow keys by their names."""
    keys = []
    while text:
        arrow = next((code for code in ARROWS if text.startswith(code)), None)
        keys.append(ARROWS[arrow] if arrow else text[0])
        text = text[len(arrow or text[0]) :]
    return keys
