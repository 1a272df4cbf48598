"""The menu of files and examples, and the list of shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from nicegui import ui

from poise.engine.scene import Scene
from poise.figures import BUILT_IN
from poise.studio.control.modes import Modes
from poise.studio.panels.downloads import download
from poise.studio.panels.fields import attempt
from poise.studio.scenes.examples import THESIS
from poise.studio.scenes.openings import EXAMPLE_SCENES
from poise.studio.session.changes import open_scene
from poise.studio.session.session import Session

SHORTCUTS = (
    ("Drag a body part", "Move the point under the pointer"),
    ("Drag a target", "Move the target of a task"),
    ("Double-click, or P", "Pin the point under the pointer"),
    ("Right-click a body part", "Add tasks, forces and sites, set the root, choose movable joints, edit"),
    ("Click a joint", "Show rings and arrows that move it"),
    ("Click a target or obstacle", "Show handles that move and rotate it"),
    ("Drag the tip of an arrow", "Change a force or torque"),
    ("Drag the background", "Rotate the view"),
    ("Right drag, wheel", "Move the view, zoom"),
    ("F, S", "Frame the whole figure, frame the selection"),
    ("4", "Switch between one and four views"),
    ("D", "Switch between dark and light"),
    ("Ctrl Z, Ctrl Shift Z", "Undo, redo"),
    ("Esc", "Stop the robot; its servos hold their positions"),
    ("Drop a file on the page", "Open a scene, URDF, MJCF, BVH, glTF, figure, posture or motion"),
    ("?", "Show this list"),
)
"""Keys and pointer actions, and what they do."""
DOWNLOADS = {"scene": "scene.toml", "figure": "figure.toml", "posture": "posture.json", "motion": "motion.csv"}
"""Files that can be downloaded, by what they contain."""


def examples_menu(modes: Modes, choose_file: Callable[[], object], save_picture: Callable[[], object]) -> ui.menu:
    """The menu: files at the top, examples below."""
    with ui.menu().props('max-height="88vh"') as menu:
        _item("Open file …", choose_file)
        for what, name in DOWNLOADS.items():
            _item(f"Save {what}", partial(download, name))
        _item("Save picture", save_picture)
        ui.separator()
        _group("Thesis scenes", {name: partial(_open, modes.session, make) for name, make in THESIS.items()})
        _group("Figures", {name: partial(modes.open_figure, name) for name in BUILT_IN})
        ui.separator()
        for name, make in EXAMPLE_SCENES.items():
            _item(name, partial(_open, modes.session, make))
    return menu


def _item(words: str, act: Callable[[], object]) -> None:
    ui.menu_item(words, on_click=lambda: attempt(act)).props("dense").mark(words)


def _open(session: Session, make: Callable[[], Scene]) -> None:
    open_scene(session, make())


def _group(title: str, items: Mapping[str, Callable[[], object]]) -> None:
    """A submenu, which opens to the right."""
    with ui.menu_item(title, auto_close=False).props("dense"):
        with ui.item_section().props("side"):
            ui.icon("keyboard_arrow_right")
        with ui.menu().props('anchor="center end" self="center start" auto-close max-height="80vh"'):
            for name, act in items.items():
                _item(name.replace("_", " "), act)


def cheat_sheet() -> ui.dialog:
    """The dialog with all shortcuts."""
    with ui.dialog() as dialog, ui.card():
        ui.label("Shortcuts").classes("text-subtitle1")
        with ui.grid(columns="auto auto").classes("gap-x-6 gap-y-1"):
            for keys, what in SHORTCUTS:
                ui.label(keys).classes("text-body2 text-weight-medium")
                ui.label(what).classes("text-body2")
    return dialog
