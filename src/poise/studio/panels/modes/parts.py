"""Elements of the panels of modes: headings, choice buttons, sliders and tables of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from nicegui import ui

from poise.studio.panels.fields import attempt, attempt_apart
from poise.studio.session.driver import Mode
from poise.studio.session.session import Session


def change_mode(session: Session, kind: type[Mode], *, gesture: object = None, **fields: object) -> None:
    """Change settings of the present mode if it is of this kind and they differ."""
    mode = session.state.mode
    if isinstance(mode, kind):
        new = replace(mode, **fields)  # type: ignore[arg-type]
        if new != mode:
            session.update(lambda state: replace(state, mode=new), gesture=gesture)


def heading(text: str) -> None:
    """The heading of a group."""
    ui.label(text).classes("poise-heading")


class ChoiceButtons:
    """A row of buttons, one of which is on."""

    def __init__(self, choose: Callable[[str], object], *, opens: bool = False) -> None:
        """Build an empty row inside the current NiceGUI element; `opens` says that a choice opens another scene."""
        self.choose, self.opens = choose, opens
        self.names: tuple[str, ...] = ()
        self.row = ui.row().classes("w-full gap-1")
        self.buttons: dict[str, ui.button] = {}

    def show(self, names: Iterable[str], on: str | None, words: dict[str, str] | None = None) -> None:
        """Show buttons for these names, with one of them on; `words` are their labels."""
        if tuple(names) != self.names:
            self.names = tuple(names)
            self.row.clear()
            with self.row:
                self.buttons = {name: self._button(name, (words or {}).get(name, name)) for name in self.names}
        for name, button in self.buttons.items():
            button.props(f"data-on={'true' if name == on else 'false'}")

    def _button(self, name: str, word: str) -> ui.button:
        tried = attempt_apart if self.opens else attempt
        button = ui.button(word.replace("_", " "), on_click=lambda: tried(lambda: self.choose(name)), color=None)
        return button.props("flat").classes("poise-choice").mark(f"choose {name}")


class Setting:
    """A slider between its name and its value."""

    def __init__(
        self,
        name: str,
        span: tuple[float, float, float],
        change: Callable[[float], object],
        words: Callable[[float], str],
    ) -> None:
        """Build the slider inside the current NiceGUI element; `span` is its smallest value, largest value and step."""
        self.following, self.words, self.span = False, words, span
        with ui.element("div").classes("poise-setting"):
            ui.label(name).classes("text-caption ellipsis").tooltip(name)
            self.slider = ui.slider(
                min=span[0], max=span[1], step=span[2], on_change=lambda event: self._moved(event.value)
            )
            self.slider.props("dense color=orange-7 selection-color=transparent thumb-size=14px track-size=3px")
            self.slider.props(f'aria-label="{name}"')
            self.slider.classes("poise-slider").mark(f"set {name.lower()}")
            self.value = ui.label().classes("text-caption poise-number text-right no-wrap")
        self.change = change

    def show(self, value: float) -> None:
        """Set the slider to a value."""
        self.following = True
        try:
            if self.slider.value is None or abs(self.slider.value - value) > 0.5 * self.span[2]:
                self.slider.set_value(value)
            self.value.set_text(self.words(value))
        finally:
            self.following = False

    def _moved(self, value: float | None) -> None:
        if value is not None and not self.following:
            low, high, _ = self.span
            attempt(lambda: self.change(min(max(float(value), low), high)))


class Facts:
    """A table of names and values."""

    def __init__(self, names: Iterable[str]) -> None:
        """Build the table inside the current NiceGUI element."""
        self.values: dict[str, ui.label] = {}
        with ui.element("div").classes("poise-figures"):
            for name in names:
                ui.label(name).classes("poise-quiet")
                self.values[name] = ui.label("–").classes("poise-number text-right").mark(f"fact {name.lower()}")

    def show(self, values: dict[str, str]) -> None:
        """Set the values."""
        for name, text in values.items():
            self.values[name].set_text(text)
