"""The dialogs of robots: one opens a robot by its name, one sends and receives joint states."""

from __future__ import annotations

import asyncio

from nicegui import ui

from poise.engine.scene import Origin, Scene
from poise.errors import PoiseError
from poise.formats import load
from poise.formats.catalog.robots import ROBOTS, robots_here
from poise.studio.control.archives import missing_sentence
from poise.studio.control.modes import Modes
from poise.studio.control.osc_link import OscLink
from poise.studio.modes.retarget.retarget import RetargetMode
from poise.studio.panels.fields import attempt
from poise.studio.panels.notices import say, say_problem
from poise.studio.scenes.openings import opening
from poise.studio.session.changes import open_scene

OSC_HOST, OSC_PORT = "127.0.0.1", 9000
"""Where joint states are sent at first."""


def robot_dialog(modes: Modes) -> None:
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
                missing = await asyncio.to_thread(open_robot, modes, str(chosen.value))
                dialog.close()
                if missing:
                    say(missing)
            except PoiseError as problem:
                say_problem(str(problem))
            waiting.set_visibility(False)

        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Open", on_click=bring).mark("open robot")
    dialog.on("hide", dialog.delete)


def open_robot(modes: Modes, name: str) -> str:
    """Open a robot by its name; in the retarget mode, it performs the clip.

    Returns:
        What is missing of the robot, in a sentence; "" if nothing is.
    """
    scene = robot_scene(name)
    if isinstance(modes.mode, RetargetMode):
        modes.retarget.take_figure(modes.session, scene.figure)
    else:
        open_scene(modes.session, scene)
    return missing_sentence(scene.figure)


def robot_scene(name: str) -> Scene:
    """The opening scene of a robot; raises `FigureError` with the command that brings one that is not here."""
    return opening(load(name), Origin(name))


def osc_dialog(link: OscLink) -> None:
    """Open the dialog that sends and receives joint states over OSC."""
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 340px"):
        ui.label("Joint states over OSC").classes("text-subtitle1")
        ui.label("Each joint is a message /figure/joint with its value in radians or metres.").classes("poise-line")
        host, port = link.sends_to or (OSC_HOST, OSC_PORT)
        sends = ui.switch("Send", value=link.sends_to is not None).mark("osc sends")
        with ui.row().classes("w-full no-wrap gap-2"):
            host_box = ui.input("Host", value=host).props("dense").classes("col").mark("osc host")
            port_box = ui.number("Port", value=port, precision=0).props("dense").classes("col").mark("osc port")
        listens = ui.switch("Receive", value=link.listens_at is not None).mark("osc receives")
        own_box = ui.number("Port of this machine", value=link.listens_at or OSC_PORT + 1, precision=0).props("dense")
        own_box.classes("w-full").mark("osc own port")

        def put() -> None:
            to = (str(host_box.value).strip(), int(port_box.value or 0)) if sends.value else None
            if attempt(lambda: link.start(to, int(own_box.value or 0) if listens.value else None)):
                dialog.close()

        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Apply", on_click=put).mark("osc apply")
    dialog.on("hide", dialog.delete)
