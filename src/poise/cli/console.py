"""Printing: results go to standard output; progress, notes and errors go to standard error."""

from __future__ import annotations

from functools import cache

from rich.console import Console
from rich.text import Text


class _Console(Console):
    """A console that raises an error when the program reading its output has closed the pipe."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@cache
def stdout() -> Console:
    """The console on standard output, for results."""
    return _Console(highlight=False, soft_wrap=True)


@cache
def stderr() -> Console:
    """The console on standard error, for progress, notes and errors."""
    return _Console(stderr=True, highlight=False, soft_wrap=True)


def print_result(text: str) -> None:
    """Print a result as plain text on standard output."""
    stdout().print(Text(text))


def print_note(text: str) -> None:
    """Print a note on standard error, dimmed."""
    stderr().print(Text(text, style="dim"))


def print_error(sentence: str) -> None:
    """Print an error on standard error, in red."""
    stderr().print(Text(sentence, style="red"))
