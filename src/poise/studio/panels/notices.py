"""Notices: sentences that appear below the status line for a while, and can be closed."""

from __future__ import annotations

from nicegui import ui

NOTICE_TIME = 10_000
"""Time after which a notice goes away by itself [ms]."""


def say_problem(sentence: str) -> None:
    """Show why something could not be done."""
    ui.notify(sentence, type="negative", position="top", multi_line=True, close_button="Close", timeout=NOTICE_TIME)


def say(sentence: str) -> None:
    """Show what happened, or what to do next."""
    ui.notify(sentence, position="top", multi_line=True, close_button="Close", timeout=NOTICE_TIME)
