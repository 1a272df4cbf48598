"""All modes of one session: the present mode, its driver, and the updates that pages receive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poise.figures import BUILT_IN, built_in
from poise.motion.clip.clip import Clip
from poise.studio.control.files import Inbox
from poise.studio.control.osc_link import OscLink
from poise.studio.modes.circles.circles import CirclesDriver
from poise.studio.modes.expressive.expressive import ExpressiveDriver
from poise.studio.modes.mechanism import MechanismDriver
from poise.studio.modes.pose import PoseDriver
from poise.studio.modes.retarget.retarget import RetargetDriver
from poise.studio.scenes.openings import opening
from poise.studio.session.changes import open_scene
from poise.studio.session.driver import Driven, Driver, Mode
from poise.studio.session.session import Session
from poise.studio.session.state import State

MODE_ICONS = {
    "pose": "accessibility_new",
    "expressive": "theater_comedy",
    "mechanism": "precision_manufacturing",
    "circles": "adjust",
    "retarget": "transfer_within_a_station",
}
MODE_TOOLTIPS = {
    "pose": "Pose: drag a figure, with tasks and priorities",
    "expressive": "Expressive: hold a posture while looking at a target",
    "mechanism": "Mechanism: move the motors of figures with loops",
    "circles": "Circles: inverse kinematics by intersecting circles, in a side view",
    "retarget": "Retarget: transfer an animation to another figure",
}
"""Tooltips of the buttons in the top bar."""


@dataclass
class Known:
    """The data that a page has received so far, so that only changes are sent."""

    mode: str = ""
    """Name of the mode."""
    plots: object = None
    """Key of the plots."""
    overlay: object = None
    """Key of the drawings around the figure."""
    sample: int = 0
    """Number of the newest plot sample."""
    cursor: float | None = None
    """Time of the timeline's cursor [s]."""
    views: dict[str, object] = field(default_factory=dict)
    """Keys of the mode's own views, by kind."""


class Modes:
    """The modes of a session and their drivers."""

    def __init__(self, session: Session, folder: Path | None = None) -> None:
        """Create the drivers, and let them move the session's figure in their modes.

        Args:
            session: The session.
            folder: Where files that are dropped are stored; None for a folder that is deleted when the studio ends.
        """
        self.session = session
        self.expressive = ExpressiveDriver()
        self.mechanism = MechanismDriver()
        self.circles = CirclesDriver()
        self.retarget = RetargetDriver()
        self.pose = PoseDriver()
        self.pose.timeline.session = session
        self.inbox = Inbox(session, self.retarget, folder)
        self.drivers: dict[str, Driver] = {
            "pose": self.pose,
            "expressive": self.expressive,
            "mechanism": self.mechanism,
            "circles": self.circles,
            "retarget": self.retarget,
        }
        self.osc = OscLink(session)
        self.copied: dict[str, tuple[float, ...]] = {}
        """The posture that was copied, by joint."""
        self.recovered = False
        """Whether the scene of the last session was opened at the start."""
        self._present = session.state.mode.name
        self._first = session.state
        session.stepper.driver = self.drive
        session.subscribe(self._watch)

    @property
    def mode(self) -> Mode:
        """The settings of the present mode."""
        return self.session.state.mode

    @property
    def driver(self) -> Driver:
        """The driver of the present mode."""
        return self.drivers[self.mode.name]

    def enter(self, name: str) -> None:
        """Switch to a mode; does nothing if it is the present one."""
        if name != self.mode.name:
            self.drivers[name].enter(self.session)

    def choose_figure(self, name: str) -> None:
        """Switch to another figure; the mode stays if it supports the figure."""
        if name in self.driver.figures():
            self.driver.choose(self.session, name)
        else:
            self.open_figure(name)

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Names of the figures to choose from: the built-in ones, and the one the studio was started with."""
        return tuple(dict.fromkeys((*BUILT_IN, self._first.figure.name)))

    def open_figure(self, name: str) -> None:
        """Open a figure in the pose mode, with its opening scene or the one that the studio was started with."""
        first = self._first
        if name == first.figure.name:
            open_scene(self.session, first.scene)
        else:
            open_scene(self.session, opening(built_in(name)))

    def _watch(self) -> None:
        self.follow()
        state = self.session.state
        self.drivers[state.mode.name].watch(state)

    def follow(self) -> None:
        """Release the resources of the last mode if the mode has changed, which undo and other pages can do too."""
        now = self.mode.name
        if now != self._present:
            before, self._present = self._present, now
            self.drivers[before].leave()

    def drive(self, state: State) -> Driven | None:
        """The next posture from the driver of the state's mode; None if the engine moves the figure."""
        return self.drivers[state.mode.name].drive(state)

    def take_clip_under_keys(self, name: str, data: bytes) -> None:
        """Play the clip in a file under the keys of the pose mode, retargeted to the figure if it is of another one."""
        clip = self.inbox.clip_of(name, data, self.session.state.figure)
        self.pose.timeline.change(self.session, clip=clip)

    def retarget_animation(self) -> None:
        """Switch to the retarget mode with the animation of the pose mode as its clip."""
        motion = self.pose.timeline.motion()
        clip = Clip(motion.figure, motion.q, motion.rate, f"animation of {motion.figure.name}")
        self.retarget.take_clip(self.session, clip)

    def hear(self, message: Mapping[str, Any]) -> None:
        """Handle a message from the plots or views of a page."""
        self.driver.hear(self.session, message)

    def news(self, known: Known) -> dict[str, Any]:
        """The changes that a page has not received yet, and note them in `known`; empty if there are none."""
        state = self.session.state
        driver = self.drivers[state.mode.name]
        news: dict[str, Any] = {}
        if known.mode != state.mode.name:
            known.mode, known.plots, known.overlay, known.cursor = state.mode.name, None, None, None
            known.views.clear()
            known.sample = driver.rows(0)[0]
            news["mode"] = known.mode
        self._add_plots(driver, state, known, news)
        overlay = driver.overlay(state) or {"key": "none"}
        if overlay["key"] != known.overlay:
            known.overlay = overlay["key"]
            news["overlay"] = {**overlay, "figure": state.figure_number}
        number, rows = driver.rows(known.sample)
        if rows:
            known.sample = number
            news["rows"] = rows
        self._add_views(driver, state, known, news)
        return news

    def _add_views(self, driver: Driver, state: State, known: Known, news: dict[str, Any]) -> None:
        for kind, view in driver.views(state).items():
            if known.views.get(kind) != view["key"]:
                known.views[kind] = view["key"]
                news.setdefault("views", {})[kind] = view
        cursor = driver.cursor(state)
        if cursor is not None and cursor != known.cursor:
            known.cursor = cursor
            news["cursor"] = {"time": cursor}

    def _add_plots(self, driver: Driver, state: State, known: Known, news: dict[str, Any]) -> None:
        plots = driver.plots(state) or {"key": "none", "kind": "none"}
        if plots["key"] != known.plots:
            known.plots = plots["key"]
            news["plots"] = plots
