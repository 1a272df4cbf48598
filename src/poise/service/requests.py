"""What a client can ask: one method for each word, with the figures of that client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import poise
from poise.errors import FigureError, PoiseError
from poise.figure.model.figure import Figure
from poise.formats import load
from poise.formats.figure_toml import parse_figure
from poise.formats.text.toml_tables import Source, Table
from poise.kernels.jit.machine_code import is_complete
from poise.service.answers import FORMS
from poise.service.bones import figure_of_bones
from poise.service.motions import retargeted, watched
from poise.service.posed import Posed, verdicts
from poise.service.servos import Say, Servos

PROTOCOL = 1
"""Version of the protocol; it grows when an old client would no longer understand."""
MOST_FIGURES = 64
"""Largest number of figures of a client."""
STEPS, MOST_SOLVE_STEPS = 10, 1000
"""Largest number of steps of a solve: by default, and at all."""


class Requests:
    """The figures of one client, and what is done with them."""

    def __init__(self, say: Say, warn: Say) -> None:
        """Begin without figures.

        Args:
            say: Takes one line of a dry run of servos.
            warn: Takes one sentence about what happens to servos.
        """
        self._figures: dict[int, Posed] = {}
        self._last = 0
        self.servos = Servos(say, warn)
        self._known: Mapping[str, Callable[[Table], dict[str, Any]]] = {
            "hello": self._hello,
            "figure": self._figure,
            "forget": self._forget,
            "tasks": self._tasks,
            "pose": self._pose,
            "solve": self._solve,
            "settle": self._settle,
            "retarget": self._retarget,
            "gaze": self._gaze,
            "servos": self._servos,
            "stop": self._stop,
        }

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a message; an `error` says in a sentence why there is none, and nothing has changed."""
        beginning = {key: message[key] for key in ("id", "do") if key in message}
        try:
            given = _table_of(message)
            given.take("id", None)
            return beginning | self._known[given.choice("do", tuple(self._known))](given)
        except PoiseError as problem:
            return beginning | {"error": str(problem)}

    def close(self) -> None:
        """Stop all servos and forget all figures."""
        self.servos.stop_all()
        self._figures.clear()

    def _hello(self, message: Table) -> dict[str, Any]:
        message.finish()
        about = {"poise": poise.__version__, "protocol": PROTOCOL, "words": list(self._known)}
        return about | {"compiled": is_complete()}

    def _figure(self, message: Table) -> dict[str, Any]:
        if len(self._figures) >= MOST_FIGURES:
            raise FigureError(f"a client has at most {MOST_FIGURES} figures: forget some.")
        figure = _figure_in(message)
        self._last += 1
        posed = self._figures[self._last] = Posed(figure)
        kinds = {bone: joint.kind for bone, joint in posed.skeleton.joints.items()}
        return {
            "figure": self._last,
            "name": figure.name,
            "bones": list(posed.skeleton.names),
            "kinds": [kinds.get(bone, "fixed") for bone in posed.skeleton.names],
            "movers": list(posed.skeleton.movers),
            "sites": list(figure.sites.names),
            "freedoms": figure.nv,
            "person": posed.is_person,
            "mass": figure.mass,
        }

    def _posed(self, message: Table, key: str = "figure") -> tuple[int, Posed]:
        handle = message.take(key)
        if type(handle) is not int or handle not in self._figures:
            known = ", ".join(map(str, self._figures)) or "none"
            raise FigureError(f"there is no figure {handle!r}; yours: {known}.")
        return handle, self._figures[handle]

    def _forget(self, message: Table) -> dict[str, Any]:
        handle, _ = self._posed(message)
        message.finish()
        self.servos.stop(handle)
        del self._figures[handle]
        return {}

    def _tasks(self, message: Table) -> dict[str, Any]:
        _, posed = self._posed(message)
        return {"tasks": posed.take_tasks(message)}

    def _pose(self, message: Table) -> dict[str, Any]:
        handle, posed = self._posed(message)
        begin, answered = self._beginning(message, posed), self._after(message, handle, posed)
        message.finish()
        begin()
        return answered()

    def _solve(self, message: Table) -> dict[str, Any]:
        handle, posed = self._posed(message)
        begin, answered = self._beginning(message, posed), self._after(message, handle, posed)
        most = _whole(message, "steps", STEPS, MOST_SOLVE_STEPS)
        message.finish()
        begin()
        return {"steps": posed.step(most)} | answered()

    def _settle(self, message: Table) -> dict[str, Any]:
        handle, posed = self._posed(message)
        begin, answered = self._beginning(message, posed), self._after(message, handle, posed)
        tolerance = message.number("tolerance", 1e-6)
        message.finish()
        begin()
        result = posed.settle(tolerance)
        about = {"status": result.status, "report": result.report(), "verdicts": verdicts(result)}
        return about | answered()

    def _beginning(self, message: Table, posed: Posed) -> Callable[[], None]:
        """Checks the posture and the targets of a message; returns what takes them."""
        given, start = message.take("pose", None), posed.posture
        if given is not None:
            start = posed.skeleton.posture(message.as_table(given, "pose", "the pose"), start)
        targets = message.take("targets", {})
        if not isinstance(targets, Mapping):
            raise message.error("'targets' is an object of targets by the names of tasks.", "targets")

        def begin() -> None:
            if targets:
                posed.aim(targets)
            posed.posture = start

        return begin

    def _after(self, message: Table, handle: int, posed: Posed) -> Callable[[], dict[str, Any]]:
        """Checks what is wanted of the posture that a message leads to; returns what answers it."""
        forms = tuple(message.array("give")) if "give" in message else FORMS[:1]
        for form in forms:
            if form not in FORMS:
                raise message.error(f"'give' lists some of {', '.join(FORMS)}, not {form!r}.", "give")
        robot = self.servos.of(handle, posed) if message.flag("servos", default=False) else None

        def answered() -> dict[str, Any]:
            if robot is not None:
                robot.write(posed.posture)
            return posed.skeleton.answer(posed.posture, forms)

        return answered

    def _retarget(self, message: Table) -> dict[str, Any]:
        _, posed = self._posed(message)
        _, source = self._posed(message, "from")
        return retargeted(message, posed, source)

    def _gaze(self, message: Table) -> dict[str, Any]:
        _, posed = self._posed(message)
        return watched(message, posed)

    def _servos(self, message: Table) -> dict[str, Any]:
        handle, posed = self._posed(message)
        return self.servos.start(handle, posed, message)

    def _stop(self, message: Table) -> dict[str, Any]:
        handle, _ = self._posed(message)
        message.finish()
        return {"stopped": self.servos.stop(handle)}


def _table_of(message: Mapping[str, Any]) -> Table:
    """The fields of a message."""
    return Source.table_of(message, "the message")


def _whole(message: Table, key: str, default: int, most: int) -> int:
    value = message.take(key, default)
    if type(value) is not int or not 1 <= value <= most:
        raise message.error(f"{key!r} is a whole number from 1 to {most}, not {value!r}.", key)
    return value


def _figure_in(message: Table) -> Figure:
    """The figure of a message: of bones, of the text of a figure file, or by its name."""
    given = [key for key in ("bones", "text", "built_in") if key in message]
    if len(given) != 1:
        raise message.error("a figure has one of 'bones', 'text' (of a figure file) and 'built_in' (a name).")
    if given == ["bones"]:
        name, up = message.text("name", "figure"), message.choice("up", ("x", "y", "z"), "z")
        bones = message.tables("bones", "bone")
        message.finish()
        return figure_of_bones(bones, name, up)  # type: ignore[arg-type]
    if given == ["text"]:
        text = message.text("text")
        message.finish()
        return parse_figure(text)
    from poise.figures import BUILT_IN

    name = message.choice("built_in", tuple(BUILT_IN))
    message.finish()
    return load(name)
