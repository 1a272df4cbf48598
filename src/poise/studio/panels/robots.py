"""The dialog that opens a robot by its name."""

from __future__ import annotations

import asyncio

from nicegui import ui

from poise.engine.scene import Origin, Scene
from poise.errors import PoiseError
from poise.formats import load
from poise.formats.catalog.robots import ROBOTS, robots_here
from poise.studio.panels.notices import say_problem
from poise.studio.scenes.openings import opening
from poise.studio.session.changes import open_scene
from poise.studio.session.session import Session


def robot_dialog(session: Session) -> None:
    """Open the dialog with all robots that have a name; those on this machine come first."""
    here = {found.name: found.source for found in robots_here()}
    absent = [name for name in ROBOTS if name not in here]
    words = {name: f"{name} ({source})" for name, source in here.items()} | {n: f"{n} (not installed)" for n in absent}
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 360px"):
        ui.label("Open a robot").classes("text-subtitle1")
        chosen = ui.select(words, label="Robot", with_input=True).classes("w-full").mark("robot name")
        waiting = ui.linear_progress(show_value=False).props("indeterminate").mark("robot loads")
        waiting.set_visibility(False)

        async def bring() -> None:
            if chosen.value is None:
                return
            waiting.set_visibility(True)
            try:
                open_scene(session, await asyncio.to_thread(robot_scene, str(chosen.value)))
                dialog.close()
            except PoiseError as problem:
                say_problem(str(problem))
            waiting.set_visibility(False)

        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Open", on_click=bring).mark("open robot")
    dialog.on("hide", dialog.delete)


def robot_scene(name: str) -> Scene:
    """The opening scene of a robot; raises `FigureError` with the command that brings one that is not here."""
    return opening(load(name), Origin(name))
