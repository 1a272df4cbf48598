"""The panel of the retarget mode: clip, figure, quality, mapping and export."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import ui

from poise.formats.trainers.kinds import KINDS
from poise.studio.control.modes import Modes
from poise.studio.modes.retarget.work import Request, Work
from poise.studio.panels.downloads import download
from poise.studio.panels.fields import attempt
from poise.studio.panels.modes.parts import ChoiceButtons, Facts, Setting, heading
from poise.studio.panels.robots import robot_dialog
from poise.tasks.form import parts_of

NO_LINK = "–"
"""Option for a joint of the clip that is not linked."""
RETARGET_FACTS = (
    "Frames",
    "Clip → motion",
    "Floating base",
    "Mean error",
    "Largest error",
    "Feet slide",
    "Spikes",
)
"""Names of the numbers that are shown."""
EXPORT_ENDINGS = ("csv", "bvh", "json", "npz")
"""File formats in which the motion can be saved."""
SPIKES_LISTED = 30
"""Largest number of spikes that have a button."""


class RetargetPanel:
    """The clip, the figure that performs it, the quality of the motion, and the mapping."""

    def __init__(self, modes: Modes, choose_file: Callable[[], object]) -> None:
        """Build the panel inside the current NiceGUI element; `choose_file` asks for a file to open."""
        self.modes, self.session, self.driver = modes, modes.session, modes.retarget
        self.shown: Work | None = None
        self.drafted: Request | None = None
        self.paired: object = None
        self.following = False
        self.choosers: dict[str, ui.select] = {}
        heading("Clip")
        self.clip = ui.label().classes("poise-line").mark("clip name")
        self._opens("Open a clip: BVH, glTF, CSV", choose_file)
        heading("Figure")
        self.figures = ChoiceButtons(modes.choose_figure, opens=True)
        self._opens("Open a robot by name", lambda: robot_dialog(modes))
        self._opens("Open a figure: URDF, MJCF", choose_file)
        self.tempo = Setting("Tempo", (0.1, 2.0, 0.05), lambda v: self._change(tempo=v), lambda v: f"{v:.2f}")
        self.balance = ui.switch("Keep balance", on_change=lambda event: self._change(balance=bool(event.value)))
        self.balance.props("dense size=sm color=orange-7")
        heading("How well it follows")
        self.facts = Facts(RETARGET_FACTS)
        self.spikes = ui.row().classes("w-full gap-1").mark("spikes")
        heading("Pairs: joint of the clip → part of the figure")
        self.marks = ui.switch("Show pairs, choose them by clicks", on_change=lambda event: self._mark(event.value))
        self.marks.props("dense size=sm color=orange-7").mark("show pairs")
        self._opens("Open pairs: TOML", choose_file)
        self.pairs = ui.column().classes("w-full gap-0").mark("pairs")
        heading("Export")
        with ui.row().classes("w-full gap-1"):
            for ending in EXPORT_ENDINGS:
                self._export(ending.upper(), f"motion.{ending}")
            self._export("Pairs", "pairs.toml")
            with (
                ui.button("For training …", color=None)
                .props("flat")
                .classes("poise-choice")
                .mark("export for training"),
                ui.menu(),
            ):
                for kind in KINDS:
                    act = partial(download, f"motion/for/{kind}")
                    ui.menu_item(kind, on_click=lambda act=act: act()).props("dense role=menuitem")

    @staticmethod
    def _opens(words: str, choose_file: Callable[[], object]) -> None:
        button = ui.button(words, icon="folder_open", on_click=lambda: choose_file(), color=None)
        button.props("flat no-caps").classes("poise-choice w-full").mark(words)

    @staticmethod
    def _export(word: str, name: str) -> None:
        button = ui.button(word, on_click=lambda: download(name), color=None)
        button.props("flat").classes("poise-choice").mark(f"export {word.lower()}")

    def follow(self) -> None:
        """Update the panel to the session's state."""
        state = self.session.state
        work, request = self.driver.work(state), self.driver.last_request(state)
        name = request.figure.name if request is not None else state.figure.name
        self.marks.set_value(self.driver.marks_shown or (work is None and self.driver.progress is None))
        self.figures.show(dict.fromkeys((*self.driver.figures(), name)), name)
        if work is not None and work is not self.shown:
            self.shown, self.drafted = work, work.request
            self._show(work)
        elif work is None and request is not None and request is not self.drafted:
            self.drafted = request
            self.facts.show(dict.fromkeys(RETARGET_FACTS, ""))
            self.spikes.clear()
            self._show_request(request)

    def _show(self, work: Work) -> None:
        quality = work.quality
        base = "added" if len(work.motion.figure.joints) > len(work.request.figure.joints) else "as it was"
        asked = (len(work.motion) - 1) / work.request.clip.rate
        self.facts.show(
            {
                "Frames": str(len(work.motion)),
                "Clip → motion": f"{asked:.1f} s → {work.motion.duration:.1f} s",
                "Floating base": base,
                "Mean error": f"{1e3 * quality.tracking.mean():.1f} mm",
                "Largest error": f"{1e3 * quality.tracking.max():.1f} mm",
                "Feet slide": f"{1e3 * quality.drift:.2f} mm",
                "Spikes": str(len(quality.spikes)),
            }
        )
        self._show_spikes(work)
        self._show_request(work.request)

    def _show_request(self, request: Request) -> None:
        clip = request.clip
        self.clip.set_text(f"{clip.name or clip.figure.name}: {len(clip)} frames at {clip.rate:g} per second")
        self.tempo.show(request.tempo)
        self.balance.set_value(request.balance)
        self._show_pairs(request)

    def _mark(self, shown: bool) -> None:
        if shown != self.driver.marks_shown:
            self.driver.show_marks(self.session, shown)

    def _show_spikes(self, work: Work) -> None:
        self.spikes.clear()
        with self.spikes:
            for seconds in work.spikes[:SPIKES_LISTED]:
                act = lambda seconds=seconds: self.driver.seek(self.session, seconds)  # noqa: E731
                button = ui.button(f"{seconds:.2f} s", on_click=act, color=None)
                button.props("flat").classes("poise-choice").mark(f"spike {seconds:.2f}")

    def _show_pairs(self, request: Request) -> None:
        parts = [NO_LINK, *parts_of(self.session.state.figure)]
        by_joint = {link.joint: link.site for link in request.mapping.links}
        free = [body.name for body in request.clip.figure.bodies if body.name not in by_joint]
        key = (set(by_joint), free, parts)
        if key != self.paired:
            self.paired = key
            self._build_pairs(by_joint, free, parts)
        self.following = True
        for joint, site in by_joint.items():
            self.choosers[joint].set_value(site)
        self.following = False

    def _build_pairs(self, by_joint: dict[str, str], free: list[str], parts: list[str]) -> None:
        self.pairs.clear()
        self.choosers = {}
        with self.pairs:
            for joint, site in by_joint.items():
                self._pair(joint, site, parts)
            ui.select(free, label="Add joint", with_input=True, on_change=lambda e: self._add(e.value, parts)).props(
                "dense options-dense"
            ).classes("w-full")

    def _pair(self, joint: str, site: str, parts: list[str]) -> None:
        with ui.row().classes("w-full items-center no-wrap gap-2 poise-pair"):
            ui.label(joint).classes("text-caption ellipsis col-5").tooltip(joint)
            chooser = ui.select(parts, value=site, on_change=lambda event: self._choose(joint, event.value))
            chooser.props["aria-label"] = f"Part of the figure for {joint}"
            self.choosers[joint] = chooser.props("dense options-dense borderless").classes("col").mark(f"pair {joint}")

    def _choose(self, joint: str, site: str) -> None:
        if not self.following:
            attempt(lambda: self.driver.pair(self.session, joint, None if site == NO_LINK else site))

    def _add(self, joint: str | None, parts: list[str]) -> None:
        if joint is not None:
            with self.pairs:
                self._pair(joint, NO_LINK, parts)

    def _change(self, **fields: object) -> None:
        request = self.driver.last_request(self.session.state)
        if request is not None and any(getattr(request, name) != value for name, value in fields.items()):
            self.driver.change(self.session, **fields)
