"""The timeline below the view of the pose mode: keys, playing, recording and export."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.element import Element

from poise.formats import MOTION_ENDINGS
from poise.formats.trainers.kinds import KINDS
from poise.studio.control.modes import Modes
from poise.studio.modes.animate.playing import PlayMode
from poise.studio.panels.downloads import download
from poise.studio.panels.fields import attempt, attempt_apart
from poise.studio.panels.notices import say, say_problem
from poise.studio.panels.viewport import WEB
from poise.studio.session.keys import animation_of, timeline_length

BAR_HEIGHT = 40
"""Height of the row of buttons [pixels]."""
RULER_HEIGHT = 46
"""Height of the ruler with the keys [pixels]."""
HEIGHT = BAR_HEIGHT + RULER_HEIGHT + 1
"""Height of the timeline [pixels]."""
STATUS_HEIGHT, STRIP_HEIGHT = 88, 176
"""Heights of what is above the view, and of the plots below it [pixels]."""
EASE_WORDS = {"smooth": "Smooth", "stop": "Stop", "linear": "Linear"}
"""Labels of the ways to pass a key, by their names in `poise.Key`."""
SPEEDS = {0.5: "Half as fast", 0.8: "A little slower", 1.25: "A little faster", 2.0: "Twice as fast"}
"""Labels of retimings, by the factor of the speed."""
FILM_SIZE = {"width": 1280, "height": 720}
"""Size of films and frames [pixels]."""
TIMELINE_STYLE = f"""
.poise-keys {{ display: none; width: 100%; height: {HEIGHT}px; border-top: 1px solid rgba(128, 128, 128, 0.25); }}
.poise-keys-bar {{ height: {BAR_HEIGHT}px; padding: 0 8px; gap: 2px; overflow-x: auto; overflow-y: hidden; }}
.poise-keys-bar .q-btn {{ min-height: 30px; padding: 2px 4px; font-size: 12px; text-transform: none; flex: none; }}
.poise-keys-bar .q-field {{ flex: none; }}
.poise-keys-bar .q-btn[data-on=true] {{ background: rgba(242, 140, 30, 0.28); }}
.poise-keys-bar .q-field__control, .poise-keys-bar .q-field__native, .poise-keys-bar .q-field__marginal {{
  min-height: 30px; height: 30px; font-size: 12px;
}}
.poise-keys-bar .q-btn .q-icon {{ font-size: 20px; }}
.poise-keys-bar .q-btn .block {{ margin-left: 3px; }}
.poise-keys-bar .q-btn .q-btn__content {{ flex-wrap: nowrap; }}
.poise-keys-bar .poise-recording[data-on=true] {{ color: #d9263e; }}
.poise-keys-bar input::-webkit-inner-spin-button {{ display: none; }}
.poise-keys-ruler:focus:not(:focus-visible) {{ outline: none; }}
.poise-keys-bar .q-separator--vertical {{ margin: 8px 3px; }}
.poise-keys-time {{ min-width: 54px; text-align: right; padding-right: 4px; font-size: 12px; }}
.poise-keys-ruler {{ width: 100%; height: {RULER_HEIGHT}px; touch-action: none; outline-offset: -2px; }}
body.poise-has-keys[data-mode=pose] .poise-keys {{ display: block; }}
body.poise-has-keys[data-mode=pose] .poise-viewport {{ height: calc(100vh - {STATUS_HEIGHT + HEIGHT}px); }}
body.poise-has-keys.poise-has-strip[data-mode=pose] .poise-viewport {{
  height: calc(100vh - {STATUS_HEIGHT + HEIGHT + STRIP_HEIGHT}px);
}}
"""


class Ruler(Element, component=str(WEB / "animate" / "timeline.js")):
    """The ruler with the keys, drawn by the browser; it also listens to the keyboard and makes films."""


class TimelinePanel:
    """The buttons of the timeline, and its ruler."""

    def __init__(self, modes: Modes) -> None:
        """Build the timeline inside the current NiceGUI element."""
        self.modes, self.session, self.timeline = modes, modes.session, modes.pose.timeline
        self.following = False
        self.notice: ui.notification | None = None
        ui.add_css(TIMELINE_STYLE)
        with ui.element("div").classes("poise-keys").mark("timeline"):
            with ui.row().classes("poise-keys-bar items-center no-wrap"):
                self._moving()
                _line()
                self._keying()
                _line()
                self._playing()
                ui.space()
                self._looking()
            self.ruler = Ruler()
            self.ruler.on("command", lambda event: self._do(lambda: self._hear(event.args)))
            self.ruler.on("filmed", lambda event: self._say(event.args))
        self.follow()

    def _moving(self) -> None:
        self._button("skip_previous", "Go to the key before (←)", lambda: self._hear({"do": "next key", "step": -1}))
        self.play = self._button("play_arrow", "Play or stop (Space)", lambda: self._hear({"do": "play"}))
        self._button("skip_next", "Go to the next key (→)", lambda: self._hear({"do": "next key", "step": 1}))
        self.time = ui.label().classes("poise-keys-time poise-number no-wrap").mark("time")
        with self.time:
            self.frame = ui.tooltip()

    def _keying(self) -> None:
        key = self._button("add_circle", "Key the whole posture at this time (K)", lambda: self._hear({"do": "key"}))
        key.set_text("Key")
        with self._button("rule", "Key chosen tasks only", lambda: None), ui.menu() as self.tasks:
            pass
        self.tasks.on("show", self._list_tasks)
        self._button("content_copy", "Copy this key (Ctrl C on the timeline)", lambda: self._hear({"do": "copy"}))
        self._button(
            "content_paste", "Paste the copied key here (Ctrl V on the timeline)", lambda: self._hear({"do": "paste"})
        )
        self.delete = self._button("delete", "Delete this key (Delete)", lambda: self._hear({"do": "delete"}))
        self.ease = ui.select(EASE_WORDS, value="smooth", on_change=lambda event: self._ease(event.value))
        self.ease.props('dense borderless options-dense aria-label="How the motion passes this key"').mark("ease")
        self.ease.style("width: 70px").tooltip("How the motion passes this key")

    def _playing(self) -> None:
        self.loop = self._button("repeat", "Loop: go back to the first key at the end", self._loop)
        self.length = ui.number(min=0.1, max=3600, step=0.5, on_change=lambda event: self._end(event.value))
        self.length.props('dense borderless debounce=500 aria-label="Length of the animation"').mark("length")
        self.length.style("width: 46px").tooltip("Length of the animation in seconds")
        with self._button("speed", "Retime: make everything faster or slower", lambda: None), ui.menu():
            for factor, words in SPEEDS.items():
                act = partial(self.timeline.retime, self.session, 1.0 / factor)
                ui.menu_item(words, on_click=partial(self._do, act)).props("dense").mark(words)
        self.record = self._button(
            "fiber_manual_record",
            "Record: drag the figure or a target, and it becomes keys; press again to stop",
            lambda: self._hear({"do": "record"}),
        )
        self.record.classes("poise-recording")
        layers = self._button("layers", "Play a clip under the keys", lambda: None)
        with layers, ui.menu(), ui.column().classes("q-pa-sm gap-1"):
            self.clip = ui.label("No clip plays under the keys.").classes("text-caption").mark("clip under keys")
            choose = ui.button("Choose a clip …", on_click=lambda: self.ruler.run_method("choose_clip"))
            choose.props("flat dense no-caps").mark("choose clip")
            remove = lambda: self.timeline.change(self.session, clip=None)  # noqa: E731
            ui.button("Remove the clip", on_click=lambda: self._do(remove)).props("flat dense no-caps")

    def _looking(self) -> None:
        self.ghosts = self._button("people", "Show the postures of all keys", lambda: self._switch("ghosts"))
        self.trails = self._button("timeline", "Show the paths of hands, feet and head", lambda: self._switch("trails"))
        with self._button("file_download", "Export", lambda: None), ui.menu():
            for ending in MOTION_ENDINGS:
                _item(f"Motion as {ending[1:].upper()}", partial(download, f"animation/motion{ending}"))
            with ui.menu_item("Motion for training a robot", auto_close=False).props("dense"):
                with ui.item_section().props("side"):
                    ui.icon("keyboard_arrow_right")
                with ui.menu().props('anchor="center end" self="center start" auto-close'):
                    for kind in KINDS:
                        _item(kind, partial(download, f"animation/for/{kind}"))
            words, act = "Retarget to another figure …", self.modes.retarget_animation
            ui.menu_item(words, on_click=lambda: attempt_apart(act)).props("dense").mark(words)
            ui.separator()
            _item("Film (WebM)", lambda: self.ruler.run_method("save_film", FILM_SIZE))
            _item("Frames (PNG)", lambda: self.ruler.run_method("save_frames", FILM_SIZE))
            clear = {**FILM_SIZE, "transparent": True}
            _item("Frames, transparent (PNG)", lambda: self.ruler.run_method("save_frames", clear))
            ui.separator()
            _item("Picture without marks", lambda: self.ruler.run_method("save_plain_picture", {}))
            _item("Picture, transparent", lambda: self.ruler.run_method("save_plain_picture", {"transparent": True}))

    def _button(self, icon: str, words: str, act: Callable[[], object]) -> ui.button:
        button = ui.button(icon=icon, on_click=lambda: self._do(act), color=None)
        button.props(f'flat dense no-wrap aria-label="{words}"').mark(icon).tooltip(words)
        return button

    # What buttons do

    def _do(self, act: Callable[[], object]) -> None:
        attempt(act)
        self.follow()

    def _hear(self, message: dict[str, Any]) -> None:
        self.timeline.hear(self.session, message)

    def switch(self) -> None:
        """Show or hide the timeline; one with keys stays."""
        if animation_of(self.session.state).keys:
            say("The timeline stays while there are keys.")
        self.timeline.shown = not self.timeline.shown
        self.session.wake()

    def _switch(self, what: str) -> None:
        setattr(self.timeline, what, not getattr(self.timeline, what))
        self.session.wake()

    def _loop(self) -> None:
        self.timeline.change(self.session, loop=not animation_of(self.session.state).loop)

    def _end(self, value: float | None) -> None:
        if value is not None and not self.following:
            end = min(max(float(value), 0.1), 3600.0)
            self._do(lambda: self.timeline.change(self.session, end=end))

    def _ease(self, ease: str) -> None:
        if not self.following:
            self._do(lambda: self.timeline.ease(self.session, ease))

    def _list_tasks(self) -> None:
        """Fill the menu of tasks that can be keyed alone."""
        self.tasks.clear()
        with self.tasks:
            for number, task in enumerate(self.session.state.scene.tasks):
                if task.active:
                    _item(task.label, partial(self.timeline.key, self.session, [number]))

    def _say(self, words: str) -> None:
        """Show how far a film has got; nothing when it is done, and an error after an exclamation mark."""
        if words.startswith("! ") or not words:
            if self.notice is not None:
                self.notice.dismiss()
                self.notice = None
            if words:
                say_problem(words[2:])
            return
        if self.notice is None:
            self.notice = ui.notification(words, spinner=True, timeout=None, position="bottom-right")
        self.notice.message = words

    # Following the session

    def follow(self) -> None:
        """Show the current state of the session."""
        state = self.session.state
        animation = animation_of(state)
        self.following = True
        try:
            self.time.set_text(f"{state.time:.2f} s")
            self.frame.set_text(f"Frame {round(state.time * animation.rate)}, {animation.rate:g} in a second")
            self.play.props(f"icon={'stop' if isinstance(state.mode, PlayMode) else 'play_arrow'}")
            number = animation.key_at(state.time)
            self.delete.set_enabled(number is not None)
            self.ease.set_enabled(number is not None)
            if number is not None:
                self.ease.set_value(animation.keys[number].ease)
            self.length.set_enabled(bool(animation.keys))
            shown = animation.duration if animation.keys else timeline_length(animation)
            if self.length.value != round(shown, 3):
                self.length.set_value(round(shown, 3))
            clip = animation.clip
            self.clip.set_text("No clip plays under the keys." if clip is None else f"Under the keys: {clip.name}")
            for button, on in (
                (self.loop, animation.loop),
                (self.record, self.timeline.recording),
                (self.ghosts, self.timeline.ghosts),
                (self.trails, self.timeline.trails),
            ):
                button.props(f"data-on={'true' if on else 'false'}")
        finally:
            self.following = False


def _line() -> None:
    ui.separator().props("vertical")


def _item(words: str, act: Callable[[], object]) -> None:
    ui.menu_item(words, on_click=lambda: attempt(act)).props("dense").mark(words)
