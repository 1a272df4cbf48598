"""The dialog that chooses the joints that tasks and pulls of a body may move [Baerlocher 2001, 7.2.3]."""

from __future__ import annotations

from nicegui import ui

from poise.studio.panels.fields import attempt
from poise.studio.session.changes import scene_change, with_recruits
from poise.studio.session.edits.scene import with_changed_task
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.tasks.task import NEAREST_BRANCH, Recruits, nearest_branch

PULLS_AND_PINS = "Drags and pins"


def recruit_dialog(session: Session, body: str) -> None:
    """Open the dialog: choose among the joints from a body to the root, for pulls and pins or for one of its tasks."""
    state = session.state
    path = joints_to_root(state, body)
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 340px"):
        ui.label(f"Joints that may move the {body.replace('_', ' ')}").classes("text-subtitle1")
        boxes: dict[str, ui.checkbox] = {}
        applies_to = ui.select(
            [PULLS_AND_PINS, *tasks_of(state, body)], value=PULLS_AND_PINS, label="Applies to"
        ).classes("w-full")
        with ui.row().classes("gap-1"):
            for word, names in (("All", path), ("Limb only", nearest_branch(state.figure, body)), ("None", [])):
                ui.button(word, on_click=lambda names=names: _tick(boxes, names)).props("flat dense no-caps size=sm")
        with ui.column().classes("gap-0").style("max-height: 46vh; overflow: auto"):
            boxes |= {name: ui.checkbox(name.replace("_", " "), value=True).props("dense") for name in path}
        _tick(boxes, _present_choice(state, body) or path)

        def apply() -> None:
            names = tuple(name for name, box in boxes.items() if box.value)
            chosen = None if len(names) == len(path) else names
            if attempt(lambda: recruit(session, body, str(applies_to.value), chosen)):
                dialog.close()

        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Apply", on_click=apply)
    dialog.on("hide", dialog.delete)


def recruit(session: Session, body: str, applies_to: str, joints: Recruits) -> None:
    """Set the joints that pulls and pins of a body, or one of its tasks, may move; None for all."""
    if applies_to == PULLS_AND_PINS:
        session.update(lambda state: with_recruits(state, body, joints))
    else:
        number = tasks_of(session.state, body)[applies_to]
        session.update(scene_change(with_changed_task, number, joints=joints))


def tasks_of(state: State, body: str) -> dict[str, int]:
    """Index in the scene of every task of a body or of its sites, by the task's label."""
    own = {body, *(site.name for site in state.figure.sites if site.body == body)}
    tasks = enumerate(state.scene.tasks)
    return {task.label: number for number, task in tasks if getattr(task, "site", None) in own}


def joints_to_root(state: State, body: str) -> list[str]:
    """The joints on the path from a body to the root, the nearest first."""
    above = dict(state.figure.tree_order)
    names, at = [], body
    while (joint := above[at]) is not None:
        if joint.nv:
            names.append(joint.name)
        if joint.parent is None:
            break
        at = joint.parent
    return names


def _present_choice(state: State, body: str) -> list[str]:
    chosen = state.recruits.get(body)
    if chosen == NEAREST_BRANCH:
        return nearest_branch(state.figure, body)
    return [] if chosen is None else [chosen] if isinstance(chosen, str) else list(chosen)


def _tick(boxes: dict[str, ui.checkbox], names: list[str]) -> None:
    for name, box in boxes.items():
        box.set_value(name in names)
