"""Fields of a form: each shows a value, and calls a function when the user enters another."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from poise.errors import PoiseError
from poise.studio.panels.notices import say_problem

Entered = Callable[[Any], object]
AXIS_NAMES = ("x", "y", "z")
SHOWN_DECIMALS = 4
"""Decimals of a number that are shown."""


class Field:
    """The base class of fields; values set by `show` do not count as entered."""

    def __init__(self, entered: Entered) -> None:
        """Call `entered` with every value that the user enters."""
        self._entered, self._showing = entered, False

    def show(self, value: Any) -> None:
        """Show another value."""
        self._showing = True
        try:
            self._display(value)
        finally:
            self._showing = False

    def _display(self, value: Any) -> None:
        raise NotImplementedError

    def _enter(self, value: Any) -> None:
        if not self._showing:
            attempt(lambda: self._entered(value))


class Number(Field):
    """A number inside a range; a value outside is marked while it is typed, and refused with a message on leaving."""

    def __init__(
        self,
        label: str,
        entered: Entered,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        step: float = 0.1,
        digits: int = SHOWN_DECIMALS,
    ) -> None:
        """Build the field inside the current NiceGUI element; `digits` is the number of decimals shown."""
        super().__init__(entered)
        self.label, self.low, self.high, self.digits = label, low, high, digits
        self.accepted: float | None = None
        """The last number that was shown or entered; None before the first."""
        self.refused = False
        """Whether a number outside the range is being typed."""
        # NiceGUI would change a number outside its own range without a word, so it is not told the range.
        self.box = ui.number(label, step=step)
        self.box.props("dense borderless debounce=300 no-error-icon hide-bottom-space").classes("poise-field")
        self.box.mark(label.lower())
        self.box.on_value_change(lambda event: self._number(event.value))
        self.box.on("blur", self._left)
        self.box.on("keydown.enter", self._left)

    def _number(self, value: float | None) -> None:
        inside = value is None or self._showing or self.low <= value <= self.high
        self.refused = not inside
        self.box.props(remove="error") if inside else self.box.props("error")
        if value is not None and math.isfinite(value) and inside and not self._showing:
            self.accepted = float(value)
            self._enter(float(value))

    def _left(self) -> None:
        """Say why the number was refused, if it was, and show the last one again."""
        if self.refused and self.accepted is not None:
            what = self.label.split(" [")[0] or "The number"
            say_problem(f"{what} must be {range_words(self.low, self.high)}, not {self.box.value:g}.")
            self.refused = False
            self.show(self.accepted)

    def _display(self, value: Any) -> None:
        if self.refused and float(value) == self.accepted:
            return
        self.accepted = float(value)
        shown = round(self.accepted, self.digits) + 0.0
        if self.box.value is None or round(float(self.box.value), self.digits) != shown:
            self.box.set_value(shown)


class Numbers(Field):
    """Several numbers in a row, such as the coordinates of a point."""

    def __init__(
        self,
        label: str,
        entered: Entered,
        *,
        step: float = 0.05,
        names: Sequence[str] = AXIS_NAMES,
        digits: int = SHOWN_DECIMALS,
    ) -> None:
        """Build the fields inside the current NiceGUI element."""
        super().__init__(entered)
        self.values: list[float] = [0.0] * len(names)
        ui.label(label).classes("text-caption poise-quiet")
        with ui.row().classes("w-full no-wrap gap-1"):
            self.parts = [Number(name, self._part(k), step=step, digits=digits) for k, name in enumerate(names)]
        for part, name in zip(self.parts, names, strict=True):
            part.box.classes("col").mark(f"{label} {name}".lower())

    def _part(self, k: int) -> Entered:
        def entered(value: float) -> None:
            self._enter([value if i == k else old for i, old in enumerate(self.values)])

        return entered

    def _display(self, value: Any) -> None:
        self.values = [float(number) for number in value]
        for part, number in zip(self.parts, self.values, strict=True):
            part.show(number)


class Choice(Field):
    """A choice of one option."""

    def __init__(self, label: str, options: Sequence[str], entered: Entered) -> None:
        """Build the field inside the current NiceGUI element."""
        super().__init__(entered)
        self.box = ui.select(list(options), label=label, with_input=len(options) > 12)
        self.box.props("dense options-dense").classes("w-full").mark(label.lower())
        self.box.on_value_change(lambda event: self._word(event.value))

    def _word(self, value: str | None) -> None:
        if value is not None:
            self._enter(value)

    def _display(self, value: Any) -> None:
        if value not in self.box.options:
            self.box.set_options([*self.box.options, value])
        if self.box.value != value:
            self.box.set_value(value)


class Choices(Field):
    """Any of several words."""

    def __init__(self, label: str, options: Sequence[str], entered: Entered) -> None:
        """Build the field inside the current NiceGUI element."""
        super().__init__(entered)
        self.box = ui.select(list(options), label=label, multiple=True).props("dense options-dense use-chips")
        self.box.classes("w-full poise-chips").mark(label.lower())
        self.box.on_value_change(lambda event: self._enter(tuple(event.value or ())))

    def _display(self, value: Any) -> None:
        if list(self.box.value or ()) != list(value):
            self.box.set_value(list(value))


class Flags(Field):
    """A checkbox for each letter, such as those of axes."""

    def __init__(self, label: str, letters: str, entered: Entered) -> None:
        """Build the checkboxes inside the current NiceGUI element."""
        super().__init__(entered)
        with ui.row().classes("items-center gap-2"):
            ui.label(label).classes("text-caption poise-quiet")
            self.boxes = {
                letter: ui.checkbox(letter, on_change=self._changed)
                .props("dense size=xs")
                .mark(f"{label} {letter}".lower())
                for letter in letters
            }

    def _changed(self) -> None:
        self._enter("".join(letter for letter, box in self.boxes.items() if box.value))

    def _display(self, value: Any) -> None:
        for letter, box in self.boxes.items():
            box.set_value(letter in value)


class Words(Field):
    """A line of text."""

    def __init__(self, label: str, entered: Entered) -> None:
        """Build the field inside the current NiceGUI element."""
        super().__init__(entered)
        self.box = ui.input(label).props("dense debounce=500").classes("w-full").mark(label.lower())
        self.box.on_value_change(lambda event: self._enter(str(event.value or "")))

    def _display(self, value: Any) -> None:
        if self.box.value != value:
            self.box.set_value(value)


class Switch(Field):
    """A switch."""

    def __init__(self, label: str, entered: Entered) -> None:
        """Build the switch inside the current NiceGUI element."""
        super().__init__(entered)
        self.box = ui.switch(label, on_change=lambda event: self._enter(bool(event.value)))
        self.box.props("dense").mark(label.lower())

    def _display(self, value: Any) -> None:
        self.box.set_value(bool(value))


def range_words(low: float, high: float) -> str:
    """A range in words, such as "at least 0" or "from 1 to 99"."""
    if math.isinf(high):
        return f"at least {low:g}"
    return f"at most {high:g}" if math.isinf(low) else f"from {low:g} to {high:g}"


def attempt(act: Callable[[], object]) -> bool:
    """Call a function; a `PoiseError` is shown on the page as a notice, and the answer is False."""
    try:
        act()
    except PoiseError as problem:
        say_problem(str(problem))
        return False
    return True


async def attempt_apart(act: Callable[[], object]) -> bool:
    """As `attempt`, in another thread: for what takes long, such as building a figure, so that all pages stay alive."""
    try:
        await asyncio.to_thread(act)
    except PoiseError as problem:
        say_problem(str(problem))
        return False
    return True


def header_tip(words: str) -> None:
    """A tooltip for a button in the top bar, which appears below the status line and does not cover its sentence."""
    ui.tooltip(words).props('anchor="bottom middle" self="top middle" :offset="[0, 46]"')


def small_button(icon: str, tip: str, action: Callable[[], object]) -> ui.button:
    """A small round button with a tooltip."""
    button = ui.button(icon=icon, on_click=lambda: attempt(action)).props("flat round dense size=sm color=grey-7")
    with button.props(f'aria-label="{tip}"'):
        ui.tooltip(tip)
    return button.mark(tip)
