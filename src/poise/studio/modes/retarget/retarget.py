"""Retarget: an animation becomes a motion of another figure; both play side by side."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from poise.engine.scene import Origin, Scene
from poise.errors import PoiseError, TaskError
from poise.figure.model.figure import Figure
from poise.figures import BUILT_IN, built_in
from poise.motion.clip.clip import Clip
from poise.motion.mapping.mapping import JointMap, Link
from poise.motion.report.report import Quality
from poise.studio.modes.retarget.first_clip import greeting
from poise.studio.modes.retarget.work import Wish, Work, solved
from poise.studio.session.driver import Driven, Driver, Mode
from poise.studio.session.outcome import Outcome
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.overlays import rounded

FIGURES = ("human", "walker", "dancer")
FIRST_FIGURE = "human"
INK = "#7a8794"
FAR = 0.05
"""A motion that is farther from its clip than this is not called good [m]."""
FEWEST = 3
"""Parts of a figure that a clip must lead for it to be worth a try."""


@dataclass(frozen=True, eq=False)
class RetargetMode(Mode):
    """What was retargeted; None while the first is being solved."""

    name: ClassVar[str] = "retarget"
    drives: ClassVar[bool] = True
    work: Work | None = None


def can_perform(figure: Figure) -> bool:
    """Whether a clip of people can lead enough parts of a figure."""
    try:
        return len(JointMap.propose(greeting(), figure).links) >= FEWEST
    except PoiseError:
        return False


class _OvertakenError(Exception):
    """Somebody wished for something else meanwhile."""


class RetargetDriver(Driver):
    """Solves in a thread of its own, and plays what is solved."""

    def __init__(self) -> None:
        """Begin at the start, playing."""
        super().__init__()
        self.time, self.playing = 0.0, True
        self.progress: tuple[int, int] | None = None
        self.problem = ""
        self._played = time.perf_counter()
        self._wishes = 0
        self._wish: Wish | None = None
        self._drawn: tuple[Work, dict[str, Any]] | None = None
        self._guests: dict[str, Figure] = {}

    def figures(self) -> tuple[str, ...]:
        """Built-in figures that people's clips fit, and those that were brought along."""
        return tuple(dict.fromkeys((*FIGURES, *self._guests)))

    def enter(self, session: Session) -> None:
        """The figure at hand if a clip can lead it, else the human."""
        self._perform(session, greeting(), self._performer(session.state))

    def choose(self, session: Session, figure: str) -> None:
        """Somebody else performs the same clip."""
        self._perform(session, self._clip(session.state), self._guests.get(figure) or built_in(figure))

    def take_clip(self, session: Session, clip: Clip) -> None:
        """The same figure performs another clip."""
        self._perform(session, clip, self._performer(session.state))

    def take_figure(self, session: Session, figure: Figure) -> None:
        """A figure that was brought along performs the same clip; raises `TaskError` where it cannot be led."""
        self._perform(session, self._clip(session.state), figure)
        self._guests[figure.name] = figure

    def _perform(self, session: Session, clip: Clip, figure: Figure) -> None:
        self._begin(session, Wish(clip, figure, JointMap.propose(clip, figure)))

    def _clip(self, state: State) -> Clip:
        work = self.work(state)
        return work.wish.clip if work is not None else greeting()

    def _performer(self, state: State) -> Figure:
        """Who performs now, or would if the mode were on: the figure at hand if clips can lead it, else the human."""
        work = self.work(state)
        if work is not None:
            return work.wish.figure
        return state.figure if can_perform(state.figure) else built_in(FIRST_FIGURE)

    def change(self, session: Session, **fields: Any) -> None:
        """Retarget again with other pairs, tempo or balance."""
        wish = self._wished(session.state)
        if wish is not None:
            self._solve(session, replace(wish, **fields))

    def pair(self, session: Session, joint: str, site: str | None) -> None:
        """Let a joint of the clip lead another part of the figure, or none."""
        wish = self._wished(session.state)
        if wish is None:
            return
        links = [link for link in wish.mapping.links if link.joint != joint]
        if site is not None:
            old = next((link for link in wish.mapping.links if link.joint == joint), None)
            links.append(replace(old, site=site) if old is not None else Link(joint, site))
        self.change(session, mapping=JointMap.of(JointMap(tuple(links)), wish.clip, wish.figure))

    def _wished(self, state: State) -> Wish | None:
        """What was wished for last: what is being solved, or else what is shown."""
        if self.progress is not None:
            return self._wish
        work = self.work(state)
        return None if work is None else work.wish

    @staticmethod
    def work(state: State) -> Work | None:
        """What is shown."""
        return state.mode.work if isinstance(state.mode, RetargetMode) else None

    # Solving

    def _begin(self, session: Session, wish: Wish) -> None:
        """Show the figure at once, and its motion when it is solved."""
        figure = wish.figure
        if session.state.figure is not figure or not isinstance(session.state.mode, RetargetMode):
            session.open(_scene(figure), mode=RetargetMode())
        self._solve(session, wish)

    def _solve(self, session: Session, wish: Wish) -> None:
        self._wishes += 1
        number = self._wishes
        self._wish = wish
        self.progress, self.problem = (0, len(wish.clip)), ""

        def tell(done: int, count: int) -> None:
            if number != self._wishes:
                raise _OvertakenError
            self.progress = (done, count)
            session.wake()

        def work() -> None:
            try:
                self._show(session, solved(wish, tell))
            except _OvertakenError:
                return
            except PoiseError as problem:
                self.problem = str(problem)
            except Exception:
                logging.getLogger(__name__).exception("retargeting failed")
                self.problem = (
                    "Retargeting failed; what it said is in the terminal. Change a pair, or open another clip."
                )
            finally:
                if number == self._wishes:
                    self.progress = None
            session.wake()

        threading.Thread(target=work, name="poise retarget", daemon=True).start()

    def _show(self, session: Session, work: Work) -> None:
        if not isinstance(session.state.mode, RetargetMode):
            return
        self.time = 0.0
        figure = work.motion.figure
        if figure is session.state.figure:
            session.set_mode(RetargetMode(work=work))
        else:
            session.open(_scene(figure), mode=RetargetMode(work=work))

    # Playing

    def drive(self, state: State) -> Driven | None:
        """The posture at the time of the timeline."""
        now = time.perf_counter()
        passed, self._played = min(now - self._played, 0.1), now
        work = self.work(state)
        if work is None or work.motion.figure is not state.figure:
            return Driven(state.posture, self._outcome(work), more=False)
        if self.playing:
            self.time = (self.time + passed) % max(work.motion.duration, 1.0 / work.motion.rate)
        return Driven(work.motion[work.frame_at(self.time)], self._outcome(work), more=self.playing)

    def _outcome(self, work: Work | None) -> Outcome:
        if self.problem:
            return Outcome("red", self.problem)
        if self.progress is not None:
            return Outcome("orange", f"Frame {self.progress[0]} of {self.progress[1]} …")
        if work is None:
            return Outcome("orange", "Nothing is retargeted yet.")
        quality = work.quality
        good = not quality.spikes and not quality.violations and quality.tracking.mean() < FAR
        return Outcome("green" if good else "orange", _words(quality))

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """Play, stop, or go to a time."""
        work = self.work(session.state)
        if work is None:
            return
        if message["do"] == "play":
            self.playing = not self.playing
        elif message["do"] == "seek":
            self.playing = False
            self.time = min(max(float(message["time"]), 0.0), work.motion.duration)
        session.wake()

    def seek(self, session: Session, seconds: float) -> None:
        """Stop at a time [s]."""
        self.hear(session, {"do": "seek", "time": seconds})

    def leave(self) -> None:
        """Stop solving."""
        self._wishes += 1
        self.progress = None

    # What is drawn

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Error, joints, speed."""
        work = self.work(state)
        if work is None:
            return None
        if self._drawn is None or self._drawn[0] is not work:
            self._drawn = work, {"key": f"retarget {work.number}", **work.plots()}
        return self._drawn[1]

    def cursor(self, state: State) -> float | None:
        """Where it plays."""
        work = self.work(state)
        return None if work is None else round(work.frame_at(self.time) / work.motion.rate, 4)

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """The source as a stick figure."""
        work = self.work(state)
        if work is None:
            return None
        return {
            "key": f"bones {work.number} {state.figure_number}",
            "bones": work.pairs(),
            "ink": INK,
            "middle": rounded(work.middle),
            "radius": work.radius,
            "follow": True,
        }

    def views(self, state: State) -> Mapping[str, Mapping[str, Any]]:
        """Where the source's joints are, and whether it plays."""
        work = self.work(state)
        if work is None:
            return {}
        frame = work.frame_at(self.time)
        playing = {"key": self.playing, "on": self.playing}
        return {"source": {"key": (work.number, frame), "places": work.places(frame)}, "playing": playing}


def _scene(figure: Figure) -> Scene:
    known = figure.name in BUILT_IN and figure == built_in(figure.name)
    stands = "standing" if "standing" in figure.posture_names else None
    about = "The clip is the grey figure: drag the timeline, or click on a plot, to see any moment"
    return Scene(figure, [], start=stands, description=about, origin=Origin(figure.name) if known else None)


def _words(quality: Quality) -> str:
    """How well it went, in a line that fits above the viewport."""
    broken = "every limit kept" if not quality.violations else f"limits broken in {quality.violations} frames"
    spikes = {0: "no spikes", 1: "1 spike"}.get(len(quality.spikes), f"{len(quality.spikes)} spikes")
    mean, most = 1e3 * quality.tracking.mean(), 1e3 * quality.tracking.max()
    return f"Off by {mean:.1f} mm, at most {most:.1f} mm; feet drift {1e3 * quality.drift:.2f} mm; {broken}; {spikes}."


def exported(state: State, path: Path) -> None:
    """Write the motion that is shown; raises `TaskError` where there is none."""
    work = RetargetDriver.work(state)
    if work is None:
        raise TaskError("there is no motion to export: retarget a clip first.")
    if path.suffix == ".toml":
        work.wish.mapping.save(path)
    else:
        work.motion.save(path)
