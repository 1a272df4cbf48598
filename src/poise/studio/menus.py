"""The menu of examples and files, and the sheet of shortcuts."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from poise.studio.openings import EXAMPLES
from poise.studio.session import Session

SHORTCUTS = (
    ("drag a body", "pull it at that very point"),
    ("drag a target", "move what a task wants"),
    ("double-click, or P", "pin the point under the pointer"),
    ("drag beside the figure", "turn the view"),
    ("right drag, wheel", "move the view, zoom"),
    ("F", "show the whole figure"),
    ("4", "one view or four"),
    ("D", "dark or light"),
    ("Ctrl Z, Ctrl Shift Z", "undo, do again"),
    ("drop a file", "open a scene, URDF, MJCF, BVH, glTF or figure"),
    ("?", "this sheet"),
)


def examples_menu(session: Session, choose_file: Callable[[], object]) -> ui.menu:
    """Files above, examples below."""
    with ui.menu() as menu:
        ui.menu_item("Open a file …", on_click=lambda: choose_file())
        ui.menu_item("Save the scene", on_click=lambda: ui.navigate.to("/studio/scene.toml"))
        ui.separator()
        for name, make in EXAMPLES.items():
            ui.menu_item(name, on_click=lambda make=make: session.open(make()))
    return menu


def cheat_sheet() -> ui.dialog:
    """All shortcuts."""
    with ui.dialog() as dialog, ui.card():
        ui.label("Shortcuts").classes("text-subtitle1")
        with ui.grid(columns="auto auto").classes("gap-x-6 gap-y-1"):
            for keys, what in SHORTCUTS:
                ui.label(keys).classes("text-body2 text-weight-medium")
                ui.label(what).classes("text-body2")
    return dialog
