"""The menu of examples and files, and the sheet of shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from nicegui import ui

from poise.engine.scene import Scene
from poise.figures import BUILT_IN
from poise.studio.panels.downloads import keep
from poise.studio.scenes.examples import THESIS
from poise.studio.scenes.openings import EXAMPLES
from poise.studio.session.session import Session

SHORTCUTS = (
    ("drag a body", "pull it at that very point"),
    ("drag a target", "move what a task wants"),
    ("double-click, or P", "pin the point under the pointer"),
    ("right-click a body", "add tasks and forces, set it as root, choose its joints, edit it"),
    ("click a joint", "rings and arrows that move it"),
    ("click a target, an obstacle", "handles that move and turn it"),
    ("drag an arrow's tip", "change a force or torque"),
    ("drag beside the figure", "turn the view"),
    ("right drag, wheel", "move the view, zoom"),
    ("F, S", "show the whole figure, or what is selected"),
    ("4", "one view or four"),
    ("D", "dark or light"),
    ("Ctrl Z, Ctrl Shift Z", "undo, do again"),
    ("Esc", "stop the robot: its servos hold where they are"),
    ("drop a file", "open a scene, URDF, MJCF, BVH, glTF, figure, posture or motion"),
    ("?", "this sheet"),
)
SAVED = {"scene": "scene.toml", "figure": "figure.toml", "posture": "posture.json", "motion": "motion.csv"}
"""What can be saved, and as what."""


def examples_menu(session: Session, choose_file: Callable[[], object], save_picture: Callable[[], object]) -> ui.menu:
    """Files above, examples below."""
    with ui.menu().props('max-height="88vh"') as menu:
        _item("Open a file …", choose_file)
        for what, name in SAVED.items():
            _item(f"Save the {what}", partial(keep, name))
        _item("Save a picture", save_picture)
        ui.separator()
        _group("Scenes of the thesis", {name: partial(_open, session, make) for name, make in THESIS.items()})
        _group("Figures", {name: partial(session.choose_figure, name) for name in BUILT_IN})
        ui.separator()
        for name, make in EXAMPLES.items():
            _item(name, partial(_open, session, make))
    return menu


def _item(words: str, act: Callable[[], object]) -> None:
    ui.menu_item(words, on_click=lambda: act()).props("dense").mark(words)


def _open(session: Session, make: Callable[[], Scene]) -> None:
    session.open(make())


def _group(title: str, items: Mapping[str, Callable[[], object]]) -> None:
    """A menu in the menu, which opens to its right."""
    with ui.menu_item(title, auto_close=False).props("dense"):
        with ui.item_section().props("side"):
            ui.icon("keyboard_arrow_right")
        with ui.menu().props('anchor="center end" self="center start" auto-close max-height="80vh"'):
            for name, act in items.items():
                _item(name.replace("_", " "), act)


def cheat_sheet() -> ui.dialog:
    """All shortcuts."""
    with ui.dialog() as dialog, ui.card():
        ui.label("Shortcuts").classes("text-subtitle1")
        with ui.grid(columns="auto auto").classes("gap-x-6 gap-y-1"):
            for keys, what in SHORTCUTS:
                ui.label(keys).classes("text-body2 text-weight-medium")
                ui.label(what).classes("text-body2")
    return dialog
