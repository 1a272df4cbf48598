"""The retarget mode: transfers an animation to another figure and plays both side by side."""

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
from poise.formats.trainers.kinds import write_for
from poise.motion.clip.clip import Clip
from poise.motion.mapping.mapping import JointMap, Link
from poise.motion.report.report import Quality
from poise.studio.modes.retarget.first_clip import greeting
from poise.studio.modes.retarget.work import Draft, Request, Work, draft_of, solved
from poise.studio.session.changes import open_scene
from poise.studio.session.driver import Driven, Driver, Mode
from poise.studio.session.outcome import Outcome
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.wire.overlays import bones, rounded

PERFORMER_FIGURES = ("human", "walker", "dancer")
FIRST_PERFORMER = "human"
STICK_COLOR = "#7a8794"
GOOD_TRACKING_ERROR = 0.05
"""Mean tracking error below which the status light is green [m]."""
FINISHING = "All frames are retargeted; the motion is being smoothed and measured …"
"""Sentence between the last frame and the moment at which the motion is shown."""
NOTHING_MATCHES = "Nothing in the figure matches the clip: click a joint of the clip, then the part that follows it."
"""Sentence while there are no pairs."""
FEWEST_LINKS = 3
"""Smallest number of links between a clip and a figure with which retargeting is offered."""


@dataclass(frozen=True, eq=False)
class RetargetMode(Mode):
    """Settings of the retarget mode."""

    name: ClassVar[str] = "retarget"
    drives: ClassVar[bool] = True
    work: Work | None = None
    """The retargeted motion that is shown; None while the first one is being solved."""

    def memory(self) -> tuple[object, int]:
        """The retargeted motion, its clip and its stick figure."""
        return self.work, 0 if self.work is None else self.work.nbytes


def can_perform(figure: Figure) -> bool:
    """Whether enough parts of a figure can be linked to the joints of a human clip."""
    try:
        return len(JointMap.propose(greeting(), figure).links) >= FEWEST_LINKS
    except PoiseError:
        return False


class _SupersededError(Exception):
    """A newer request has replaced the one that is being solved."""


class RetargetDriver(Driver):
    """Retargets in a background thread, and plays the result."""

    def __init__(self) -> None:
        """Start without a motion."""
        super().__init__()
        self.time, self.playing = 0.0, True
        self.progress: tuple[int, int] | None = None
        self.problem = ""
        self._played = time.perf_counter()
        self._requests = 0
        self._request: Request | None = None
        self._drawn: tuple[Work, dict[str, Any]] | None = None
        self._opened_figures: dict[str, Figure] = {}
        self._draft: Draft | None = None
        self.marks_shown = False
        """Whether the pairs are drawn in the view."""

    def figures(self) -> tuple[str, ...]:
        """Names of the built-in figures that human clips fit, and of the figures that were opened from files."""
        return tuple(dict.fromkeys((*PERFORMER_FIGURES, *self._opened_figures)))

    def enter(self, session: Session) -> None:
        """Retarget the first clip to the session's figure if that is possible, else to the human."""
        self._perform(session, greeting(), self._performer(session.state))

    def choose(self, session: Session, figure: str) -> None:
        """Retarget the present clip to another figure."""
        self._perform(session, self._clip(session.state), self._opened_figures.get(figure) or built_in(figure))

    def take_clip(self, session: Session, clip: Clip) -> None:
        """Retarget another clip to the present figure."""
        self._perform(session, clip, self._performer(session.state))

    def take_figure(self, session: Session, figure: Figure) -> None:
        """Retarget the present clip to a figure from a file; raises `TaskError` if they cannot be linked."""
        self._perform(session, self._clip(session.state), figure)
        self._opened_figures[figure.name] = figure

    def take_mapping(self, session: Session, mapping: JointMap) -> None:
        """Retarget again with the pairs in a file; raises `TaskError` if they do not fit the clip or the figure."""
        request = self.last_request(session.state)
        if request is None:
            raise TaskError("these are pairs of a clip and a figure: switch to the retarget mode first.")
        self.change(session, mapping=JointMap.of(mapping, request.clip, request.figure))

    def _perform(self, session: Session, clip: Clip, figure: Figure) -> None:
        """Retarget with the proposed pairs; if nothing matches, the user has to choose them."""
        try:
            mapping = JointMap.propose(clip, figure)
        except TaskError:
            mapping = JointMap(())
        self._begin(session, Request(clip, figure, mapping))

    def _clip(self, state: State) -> Clip:
        request = self.last_request(state)
        return request.clip if request is not None else greeting()

    def _performer(self, state: State) -> Figure:
        """The figure to retarget to: the present performer, else the session's figure if possible, else the human."""
        request = self.last_request(state)
        if request is not None:
            return request.figure
        return state.figure if can_perform(state.figure) else built_in(FIRST_PERFORMER)

    def change(self, session: Session, **fields: Any) -> None:
        """Retarget again with another mapping, tempo or balance setting."""
        request = self.last_request(session.state)
        if request is not None:
            self._solve(session, replace(request, **fields))

    def pair(self, session: Session, joint: str, site: str | None) -> None:
        """Link a joint of the clip to another part of the figure, or to none, and retarget again."""
        request = self.last_request(session.state)
        if request is None:
            return
        links = [link for link in request.mapping.links if link.joint != joint]
        if site is None and not links:
            return
        if site is not None:
            old = next((link for link in request.mapping.links if link.joint == joint), None)
            links.append(replace(old, site=site) if old is not None else Link(joint, site))
        self.change(session, mapping=JointMap.of(JointMap(tuple(links)), request.clip, request.figure))

    def last_request(self, state: State) -> Request | None:
        """The newest request: the one being solved, or else the one of the shown motion."""
        work = self.work(state)
        if self.progress is not None or (work is None and isinstance(state.mode, RetargetMode)):
            return self._request
        return None if work is None else work.request

    @staticmethod
    def work(state: State) -> Work | None:
        """The retargeted motion that is shown."""
        return state.mode.work if isinstance(state.mode, RetargetMode) else None

    # Solving

    def _begin(self, session: Session, request: Request) -> None:
        """Show the figure at once, and start to retarget."""
        figure = request.figure
        if session.state.figure is not figure or not isinstance(session.state.mode, RetargetMode):
            open_scene(session, _scene(figure), mode=RetargetMode())
        self._solve(session, request)

    def _solve(self, session: Session, request: Request) -> None:
        self._requests += 1
        number = self._requests
        self._request = request
        self.problem = ""
        self.progress = (0, len(request.clip)) if request.mapping.links else None

        def report_progress(done: int, count: int) -> None:
            if number != self._requests:
                raise _SupersededError
            self.progress = (done, count)
            session.wake()

        def work() -> None:
            try:
                self._place_beside(session, request)
                if not request.mapping.links:
                    return
                self._show(session, solved(request, report_progress))
            except _SupersededError:
                return
            except PoiseError as problem:
                self.problem = str(problem)
            except Exception:
                logging.getLogger(__name__).exception("retargeting failed")
                self.problem = (
                    "Retargeting failed; see the terminal for the error. Change the mapping, or open another clip."
                )
            finally:
                if number == self._requests:
                    self.progress = None
                session.wake()

        threading.Thread(target=work, name="poise retarget", daemon=True).start()

    def _show(self, session: Session, work: Work) -> None:
        if not isinstance(session.state.mode, RetargetMode):
            return
        self.time = 0.0
        figure = work.motion.figure
        if figure is session.state.figure:
            session.update(lambda state: replace(state, mode=RetargetMode(work=work)))
        else:
            open_scene(session, _scene(figure), mode=RetargetMode(work=work))

    # Playing

    def drive(self, state: State) -> Driven | None:
        """The posture at the present time of the timeline."""
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
            done, count = self.progress
            words = f"Retargeting frame {done} of {count} …" if done < count else FINISHING
            return Outcome("orange", words)
        if work is None:
            return Outcome("orange", NOTHING_MATCHES)
        quality = work.quality
        good = not quality.spikes and not quality.violations and quality.tracking.mean() < GOOD_TRACKING_ERROR
        sentence = f"{work.slowed} {_quality_sentence(quality)}".strip()
        return Outcome("green" if good and not work.slowed else "orange", sentence)

    def hear(self, session: Session, message: Mapping[str, Any]) -> None:
        """Handle "play" (play or pause), "seek" and "pair" messages."""
        work = self.work(session.state)
        if message["do"] == "pair":
            self._pair_parts(session, int(message["joint"]), int(message["body"]))
            return
        if work is None:
            return
        if message["do"] == "play":
            self.playing = not self.playing
        elif message["do"] == "seek":
            self.playing = False
            self.time = min(max(float(message["time"]), 0.0), work.motion.duration)
        session.wake()

    def _pair_parts(self, session: Session, joint: int, body: int) -> None:
        """Link a body of the clip to a body of the figure, by their numbers."""
        request = self.last_request(session.state)
        if request is None:
            return
        try:
            self.pair(session, request.clip.figure.bodies[joint].name, request.figure.bodies[body].name)
        except PoiseError as problem:
            self.problem = str(problem)
            session.wake()

    def show_marks(self, session: Session, shown: bool) -> None:
        """Show or hide the pairs in the view, and with them the way to choose them by clicks."""
        self.marks_shown = shown
        session.wake()

    def draft(self, state: State) -> Draft | None:
        """The clip beside the figure while nothing has been retargeted."""
        request, draft = self._request, self._draft
        if self.work(state) is not None or request is None or draft is None or request.figure is not state.figure:
            return None
        return draft if draft.shows(request) else None

    def _place_beside(self, session: Session, request: Request) -> None:
        """Place the clip beside the figure, before it is retargeted."""
        if self._draft is None or not self._draft.shows(request):
            state = session.state
            posture = state.posture if state.figure is request.figure else request.figure.neutral()
            self._draft = draft_of(request, posture)
            session.wake()

    def seek(self, session: Session, seconds: float) -> None:
        """Pause at a time [s]."""
        self.hear(session, {"do": "seek", "time": seconds})

    def leave(self) -> None:
        """Cancel the request that is being solved."""
        self._requests += 1
        self.progress = None

    # Plots and drawings

    def plots(self, state: State) -> Mapping[str, Any] | None:
        """Three plots over the whole motion: error, joint angles, speed."""
        work = self.work(state)
        if work is None:
            return None
        if self._drawn is None or self._drawn[0] is not work:
            self._drawn = work, {"key": f"retarget {work.number}", **work.plots()}
        return self._drawn[1]

    def cursor(self, state: State) -> float | None:
        """The time of the shown frame [s]."""
        work = self.work(state)
        return None if work is None else round(work.frame_at(self.time) / work.motion.rate, 4)

    def overlay(self, state: State) -> Mapping[str, Any] | None:
        """The clip as a stick figure beside the figure, with the pairs of their parts."""
        shown = self.work(state) or self.draft(state)
        if shown is None:
            return None
        request = self.last_request(state) or shown.request
        marks = request.marks() if self.marks_shown or isinstance(shown, Draft) else None
        return {
            "key": f"bones {shown.number} {state.figure_number} {marks}",
            "bones": bones(shown.request.clip.figure),
            "ink": STICK_COLOR,
            "middle": rounded(shown.middle),
            "radius": shown.radius,
            "follow": isinstance(shown, Work),
            "marks": marks,
            "names": [body.name for body in shown.request.clip.figure.bodies],
        }

    def views(self, state: State) -> Mapping[str, Mapping[str, Any]]:
        """The joint positions of the clip's stick figure, and whether the motion plays."""
        work = self.work(state)
        if work is None:
            draft = self.draft(state)
            return {} if draft is None else {"source": {"key": draft.number, "places": rounded(draft.source)}}
        frame = work.frame_at(self.time)
        playing = {"key": self.playing, "on": self.playing}
        return {"source": {"key": (work.number, frame), "places": work.places(frame)}, "playing": playing}


def _scene(figure: Figure) -> Scene:
    known = figure.name in BUILT_IN and figure == built_in(figure.name)
    stands = "standing" if "standing" in figure.posture_names else None
    about = "The grey stick figure is the clip: drag the timeline or click a plot to see any frame"
    return Scene(figure, [], start=stands, description=about, origin=Origin(figure.name) if known else None)


def _quality_sentence(quality: Quality) -> str:
    """The quality of a motion in one short line."""
    broken = "every limit kept" if not quality.violations else f"limits broken in {quality.violations} frames"
    spikes = {0: "no spikes", 1: "1 spike"}.get(len(quality.spikes), f"{len(quality.spikes)} spikes")
    mean, most = 1e3 * quality.tracking.mean(), 1e3 * quality.tracking.max()
    return (
        f"Off the clip by {mean:.1f} mm on average, {most:.1f} mm at most; feet slide {1e3 * quality.drift:.2f} mm; "
        f"{broken}; {spikes}."
    )


def motion_stem(state: State) -> str:
    """What to call files of the shown motion, such as "a child greets on human"."""
    work = RetargetDriver.work(state)
    if work is None:
        return "motion"
    clip = work.request.clip
    return f"{clip.name or clip.figure.name} on {work.request.figure.name}"


def exported_for(state: State, path: Path, kind: str) -> Path:
    """Write the shown motion for a program that trains robots; returns the file, which has the program's ending."""
    return write_for(_shown(state).motion, path, kind)


def _shown(state: State) -> Work:
    work = RetargetDriver.work(state)
    if work is None:
        raise TaskError("there is no motion to export: retarget a clip first.")
    return work


def exported(state: State, path: Path) -> None:
    """Write the shown motion, or its mapping as TOML; raises `TaskError` if there is none."""
    work = _shown(state)
    if path.suffix == ".toml":
        work.request.mapping.save(path)
    else:
        work.motion.save(path)
