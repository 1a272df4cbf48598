"""Which joints may move for a body: for pulls and pins on it, and for the tasks it has [Baerlocher 2001, 7.2.3]."""

from __future__ import annotations

from nicegui import ui

from poise.studio.panels.fields import attempt
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.tasks.recruits import nearest_branch
from poise.tasks.task import NEAREST_BRANCH, Recruits

PULLS = "pulls and pins"


def recruit_dialog(session: Session, body: str) -> None:
    """Choose joints on the way from a body to the root, and whom the choice is for."""
    state = session.state
    path = joints_to_root(state, body)
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 340px"):
        ui.label(f"Joints that may move for the {body.replace('_', ' ')}").classes("text-subtitle1")
        boxes: dict[str, ui.checkbox] = {}
        whom = ui.select([PULLS, *tasks_of(state, body)], value=PULLS, label="for").classes("w-full")
        with ui.row().classes("gap-1"):
            for word, names in (("all", path), ("its limb", nearest_branch(state.figure, body)), ("none", [])):
                ui.button(word, on_click=lambda names=names: _tick(boxes, names)).props("flat dense no-caps size=sm")
        with ui.column().classes("gap-0").style("max-height: 46vh; overflow: auto"):
            boxes |= {name: ui.checkbox(name.replace("_", " "), value=True).props("dense") for name in path}
        _tick(boxes, _now(state, body) or path)

        def apply() -> None:
            names = tuple(name for name, box in boxes.items() if box.value)
            chosen = None if len(names) == len(path) else names
            if attempt(lambda: recruit(session, body, str(whom.value), chosen)):
                dialog.close()

        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Apply", on_click=apply)
    dialog.on("hide", dialog.delete)


def recruit(session: Session, body: str, whom: str, joints: Recruits) -> None:
    """Let pulls of a body, or one of its tasks, move these joints only; None for all."""
    if whom == PULLS:
        session.recruit(body, joints)
    else:
        session.change(tasks_of(session.state, body)[whom], joints=joints)


def tasks_of(state: State, body: str) -> dict[str, int]:
    """Tasks about a body or its sites, by what they are called."""
    own = {body, *(site.name for site in state.figure.sites if site.body == body)}
    tasks = enumerate(state.scene.tasks)
    return {task.label: number for number, task in tasks if getattr(task, "site", None) in own}


def joints_to_root(state: State, body: str) -> list[str]:
    """Joints that move a body, the nearest first."""
    above = dict(state.figure.tree_order)
    names, at = [], body
    while (joint := above[at]) is not None:
        if joint.nv:
            names.append(joint.name)
        if joint.parent is None:
            break
        at = joint.parent
    return names


def _now(state: State, body: str) -> list[str]:
    chosen = state.recruits.get(body)
    if chosen == NEAREST_BRANCH:
        return nearest_branch(state.figure, body)
    return [] if chosen is None else [chosen] if isinstance(chosen, str) else list(chosen)


def _tick(boxes: dict[str, ui.checkbox], names: list[str]) -> None:
    for name, box in boxes.items():
        box.set_value(name in names)
