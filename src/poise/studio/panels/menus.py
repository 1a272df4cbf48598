"""The menu of files and examples, and the list of shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from nicegui import ui

from poise.engine.scene import Scene
from poise.errors import TaskError
from poise.figures import BUILT_IN
from poise.studio.control.modes import Modes
from poise.studio.panels.downloads import download
from poise.studio.panels.fields import attempt, attempt_apart
from poise.studio.panels.library import Library
from poise.studio.panels.robots import osc_dialog, robot_dialog
from poise.studio.scenes.examples import THESIS
from poise.studio.scenes.openings import EXAMPLE_SCENES
from poise.studio.session.changes import open_scene, with_named_posture
from poise.studio.session.keys import animation_of
from poise.studio.session.new_tasks import with_handles
from poise.studio.session.postures import with_mirrored
from poise.studio.session.session import Session

SHORTCUTS = (
    ("Drag a body part", "Move the point under the pointer"),
    ("Drag a target", "Move the target of a task"),
    ("Double-click, or P", "Pin the point under the pointer"),
    ("Right-click a body part", "Add tasks, forces and sites, set the root, choose movable joints, edit"),
    ("Click a joint", "Show rings and arrows that move it"),
    ("Click a target or obstacle", "Show handles that move and rotate it; click again for the next mark there"),
    ("Arrow keys", "Nudge the selected target by 1 cm; with Shift 10 cm, with Alt 1 mm"),
    ("Hold a finger on a body part", "The same menu as a right click"),
    ("Drag the tip of an arrow", "Change a force or torque"),
    ("Drag the background", "Rotate the view"),
    ("Right drag, wheel", "Move the view, zoom"),
    ("F, S", "Frame the whole figure, frame the selection"),
    ("M", "Mirror the posture"),
    ("Ctrl C, Ctrl V", "Copy the posture, paste it (also to another figure with joints of the same names)"),
    ("4", "Switch between one and four views"),
    ("[ and ]", "Fold or unfold the panel on the left, on the right"),
    ("D", "Switch between dark and light"),
    ("K", "Key the posture at this time of the timeline"),
    ("Space", "Play or stop the animation"),
    ("←, →", "Go to the key before or after; with Shift, one frame"),
    ("Ctrl C, Ctrl V on the timeline, Delete", "Copy, paste or delete the key at this time"),
    ("Drag a key", "Move it; with Alt, copy it; with Shift, move all later ones too"),
    ("Ctrl Z, Ctrl Shift Z", "Undo, redo"),
    ("Esc", "Stop the robot; its servos hold their positions"),
    (
        "Drop files or a folder on the page",
        "Open a robot with its meshes, a scene, BVH, glTF, figure, posture or motion",
    ),
    ("?", "Show this list"),
)
"""Keys and pointer actions, and what they do."""
DOWNLOADS = {"scene": "scene.toml", "figure": "figure.toml", "posture": "posture.json"}
"""Files that can be downloaded, by what they contain."""


def examples_menu(modes: Modes, choose_file: Callable[[], object], save_picture: Callable[[], object]) -> ui.menu:
    """The menu: files at the top, examples below."""
    with ui.menu().props('max-height="88vh"') as menu:
        _item("Open file …", choose_file)
        _item("Open robot …", lambda: robot_dialog(modes))
        _item("Joint states over OSC …", lambda: osc_dialog(modes.osc))
        for what, name in DOWNLOADS.items():
            _item(f"Save {what}", partial(download, name))
        _item("Save motion", lambda: save_motion(modes.session))
        _item("Save picture", save_picture)
        ui.separator()
        _group("Posture", posture_actions(modes.session))
        scenes = {name: partial(_open, modes.session, make) for name, make in THESIS.items()}
        _group("Scenes of Baerlocher's thesis", scenes, _opening)
        _group("Figures", {name: partial(modes.open_figure, name) for name in BUILT_IN}, _opening)
        ui.separator()
        for name, make in EXAMPLE_SCENES.items():
            _opening(name, partial(_open, modes.session, make))
    return menu


def save_motion(session: Session) -> None:
    """Download the motion of the present mode: of the animation, or the one that was retargeted."""
    state = session.state
    if state.mode.name == "retarget":
        download("motion.csv")
    elif animation_of(state).is_empty:
        raise TaskError("there is no motion yet: make keys on the timeline (K), or retarget a clip.")
    else:
        download("animation/motion.csv")


def posture_actions(session: Session) -> dict[str, Callable[[], object]]:
    """Actions on the present posture, by label."""
    return {
        "Mirror (M)": lambda: session.update(with_mirrored),
        "Copy left side to right": lambda: session.update(lambda state: with_mirrored(state, "left")),
        "Copy right side to left": lambda: session.update(lambda state: with_mirrored(state, "right")),
        "Keep under a name …": lambda: name_dialog(session),
        "Library …": lambda: Library(session),
        "Handles: hands, feet, head, pelvis": lambda: session.update(with_handles),
    }


def name_dialog(session: Session) -> None:
    """Open the dialog that keeps the present posture under a name."""
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 320px"):
        ui.label("Keep this posture").classes("text-subtitle1")
        ui.label("It appears in the list of postures above, and is saved with the figure.").classes(
            "text-caption poise-quiet"
        )
        name = ui.input("Name of the posture").classes("w-full").mark("posture name")

        def keep() -> None:
            wanted = str(name.value or "").strip()
            if attempt(lambda: session.update(lambda state: with_named_posture(state, wanted))):
                dialog.close()

        name.on("keydown.enter", keep)
        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Keep", on_click=keep).mark("keep posture")
    dialog.on("hide", dialog.delete)


def choice_dialog(names: Sequence[str], choose: Callable[[str], object]) -> None:
    """Open the dialog that asks which of several files is to be opened."""
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 320px"):
        ui.label("Which one do you want to open?").classes("text-subtitle1")
        with ui.column().classes("w-full gap-0").style("max-height: 60vh; overflow-y: auto"):
            for name in names:
                button = ui.button(name, on_click=lambda name=name: (dialog.close(), choose(name)), color=None)
                button.props("flat no-caps align=left").classes("w-full").mark(f"choice {name}")
    dialog.on("hide", dialog.delete)


def _item(words: str, act: Callable[[], object]) -> None:
    ui.menu_item(words, on_click=lambda: attempt(act)).props("dense role=menuitem").mark(words)


def _opening(words: str, act: Callable[[], object]) -> None:
    """An item that opens another scene."""
    ui.menu_item(words, on_click=lambda: attempt_apart(act)).props("dense role=menuitem").mark(words)


def _open(session: Session, make: Callable[[], Scene]) -> None:
    open_scene(session, make())


Item = Callable[[str, Callable[[], object]], None]


def _group(title: str, items: Mapping[str, Callable[[], object]], item: Item = _item) -> None:
    """A submenu, which opens to the right."""
    with ui.menu_item(title, auto_close=False).props("dense role=menuitem aria-haspopup=true"):
        with ui.item_section().props("side"):
            ui.icon("keyboard_arrow_right")
        with ui.menu().props('anchor="center end" self="center start" auto-close max-height="80vh"'):
            for name, act in items.items():
                item(name.replace("_", " "), act)


def cheat_sheet() -> ui.dialog:
    """The dialog with all shortcuts."""
    with ui.dialog() as dialog, ui.card():
        ui.label("Shortcuts").classes("text-subtitle1")
        with ui.grid(columns="auto auto").classes("gap-x-6 gap-y-1"):
            for keys, what in SHORTCUTS:
                ui.label(keys).classes("text-body2 text-weight-medium")
                ui.label(what).classes("text-body2")
    return dialog
