"""What the command line says, and how: answers on stdout, all else on stderr."""

from __future__ import annotations

from functools import cache

from rich.console import Console
from rich.text import Text


class _Console(Console):
    """A console that lets the program notice when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@cache
def answers() -> Console:
    """Where answers go."""
    return _Console(highlight=False, soft_wrap=True)


@cache
def remarks() -> Console:
    """Where progress, remarks and complaints go."""
    return _Console(stderr=True, highlight=False, soft_wrap=True)


def answer(text: str) -> None:
    """Print plain text on stdout."""
    answers().print(Text(text))


def remark(text: str) -> None:
    """Print a remark on stderr."""
    remarks().print(Text(text, style="dim"))


def complain(sentence: str) -> None:
    """Print what went wrong on stderr, in red."""
    remarks().print(Text(sentence, style="red"))
