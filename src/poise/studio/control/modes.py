"""All modes of one session: which is on, who moves the figure, and what pages are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poise.studio.control.files import Inbox
from poise.studio.modes.circles.circles import CirclesDriver
from poise.studio.modes.expressive.expressive import ExpressiveDriver
from poise.studio.modes.mechanism import MechanismDriver
from poise.studio.modes.pose import PoseDriver
from poise.studio.modes.retarget.retarget import RetargetDriver
from poise.studio.session.driver import Driven, Driver, Mode
from poise.studio.session.session import Session
from poise.studio.session.state import State

ICONS = {
    "pose": "accessibility_new",
    "expressive": "theater_comedy",
    "mechanism": "precision_manufacturing",
    "circles": "adjust",
    "retarget": "transfer_within_a_station",
}
TIPS = {
    "pose": "Pose: pull at a figure, with tasks and priorities",
    "expressive": "Expressive: hold a posture while looking at something",
    "mechanism": "Mechanism: loops, their motors and their passive joints",
    "circles": "Circles: joints go where circles meet, in a side view",
    "retarget": "Retarget: an animation becomes a motion of a robot",
}


@dataclass
class Told:
    """What a page knows already."""

    mode: str = ""
    plots: object = None
    overlay: object = None
    sample: int = 0
    cursor: float | None = None
    views: dict[str, object] = field(default_factory=dict)


class Modes:
    """The modes of a session."""

    def __init__(self, session: Session) -> None:
        """Take over whatever the engine does not move."""
        self.session = session
        self.expressive = ExpressiveDriver()
        self.mechanism = MechanismDriver()
        self.circles = CirclesDriver()
        self.retarget = RetargetDriver()
        self.pose = PoseDriver()
        self.inbox = Inbox(session, self.retarget)
        self.drivers: dict[str, Driver] = {
            "pose": self.pose,
            "expressive": self.expressive,
            "mechanism": self.mechanism,
            "circles": self.circles,
            "retarget": self.retarget,
        }
        self._on = session.state.mode.name
        session.driver = self.drive
        session.subscribe(self._watch)

    @property
    def mode(self) -> Mode:
        """What is remembered of the mode that is on."""
        return self.session.state.mode

    @property
    def driver(self) -> Driver:
        """The driver that is on."""
        return self.drivers[self.mode.name]

    def enter(self, name: str) -> None:
        """Switch to a mode; nothing happens where it is on already."""
        if name != self.mode.name:
            self.drivers[name].enter(self.session)

    def choose_figure(self, name: str) -> None:
        """Show another figure, in this mode if it can show it."""
        if name in self.driver.figures():
            self.driver.choose(self.session, name)
        else:
            self.session.choose_figure(name)

    def _watch(self) -> None:
        self.follow()
        state = self.session.state
        self.drivers[state.mode.name].watch(state)

    def follow(self) -> None:
        """Let go of what a mode that is over held; undo and other pages end modes too."""
        now = self.mode.name
        if now != self._on:
            before, self._on = self._on, now
            self.drivers[before].leave()

    def drive(self, state: State) -> Driven | None:
        """The next posture, from the driver of the state's mode."""
        return self.drivers[state.mode.name].drive(state)

    def hear(self, message: Mapping[str, Any]) -> None:
        """Do what a page's strip or view says."""
        self.driver.hear(self.session, message)

    def news(self, told: Told) -> dict[str, Any]:
        """What a page does not know yet; empty where it knows everything."""
        state = self.session.state
        driver = self.drivers[state.mode.name]
        news: dict[str, Any] = {}
        if told.mode != state.mode.name:
            told.mode, told.plots, told.overlay, told.cursor = state.mode.name, None, None, None
            told.views.clear()
            told.sample = driver.rows(0)[0]
            news["mode"] = told.mode
        self._tell_plots(driver, state, told, news)
        overlay = driver.overlay(state) or {"key": "none"}
        if overlay["key"] != told.overlay:
            told.overlay = overlay["key"]
            news["overlay"] = {**overlay, "figure": state.figure_number}
        number, rows = driver.rows(told.sample)
        if rows:
            told.sample = number
            news["rows"] = rows
        self._tell_views(driver, state, told, news)
        return news

    def _tell_views(self, driver: Driver, state: State, told: Told, news: dict[str, Any]) -> None:
        for kind, view in driver.views(state).items():
            if told.views.get(kind) != view["key"]:
                told.views[kind] = view["key"]
                news.setdefault("views", {})[kind] = view
        cursor = driver.cursor(state)
        if cursor is not None and cursor != told.cursor:
            told.cursor = cursor
            news["cursor"] = {"time": cursor}

    def _tell_plots(self, driver: Driver, state: State, told: Told, news: dict[str, Any]) -> None:
        plots = driver.plots(state) or {"key": "none", "kind": "none"}
        if plots["key"] != told.plots:
            told.plots = plots["key"]
            news["plots"] = plots
