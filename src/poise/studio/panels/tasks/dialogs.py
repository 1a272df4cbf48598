"""Dialogs that add a task, and edit a task or the figure as text."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from poise.errors import FormatError, PoiseError
from poise.formats.figure_toml import figure_text, parse_figure
from poise.studio.panels.notices import say_problem
from poise.studio.session.changes import scene_change, with_figure
from poise.studio.session.edits.scene import task_from_text, task_text, with_new_task, with_task
from poise.studio.session.new_tasks import new_task, task_menu
from poise.studio.session.session import Session
from poise.tasks.form import parts_of

ABOUT_NEW_TASKS = "It begins with things as they are now, at the lowest priority. Then drag its target, or edit it."


def add_dialog(session: Session) -> None:
    """Open the dialog that adds a task of a chosen kind."""
    menu, parts = task_menu(), parts_of(session.state.figure)
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 360px"):
        ui.label("Add a task").classes("text-subtitle1")
        kind = ui.select(list(menu), value="Position", label="Kind of task").classes("w-full")
        site = ui.select(parts, value=parts[0], label="Site or body", with_input=True).classes("w-full")
        site.bind_visibility_from(kind, "value", lambda value: menu[value].needs_site)
        ui.label(ABOUT_NEW_TASKS).classes("text-caption poise-quiet")

        def add() -> None:
            task = new_task(session.state, str(kind.value), str(site.value))
            session.update(scene_change(with_new_task, task))

        _finish(dialog, "Add", add)


def edit_dialog(session: Session, number: int) -> None:
    """Open the dialog that edits a task as TOML text; errors are shown with their line."""
    scene = session.state.scene
    task = scene.tasks[number]
    try:
        text = task_text(scene, task)
    except PoiseError as trouble:
        say_problem(str(trouble))
        return
    with ui.dialog(value=True) as dialog, ui.card().style("min-width: 520px"):
        ui.label(f"Edit {task.label}").classes("text-subtitle1")
        field = ui.textarea(value=text).props("outlined autogrow input-class=poise-code").classes("w-full")
        ui.label("Keys as in scene files: name, priority, weight, axes, relative_to, joints, gain …").classes(
            "text-caption poise-quiet"
        )

        def apply() -> None:
            session.update(scene_change(with_task, number, task_from_text(scene, task, str(field.value))))

        _finish(dialog, "Apply", apply)


def figure_dialog(session: Session) -> None:
    """Open the dialog with the whole figure as text, in which everything can be changed that a figure file can say."""
    figure = session.state.figure
    with ui.dialog(value=True) as dialog, ui.card().style("width: 760px; max-width: 94vw"):
        ui.label(f"Edit {figure.name}").classes("text-subtitle1")
        field = (
            ui.textarea(value=figure_text(figure)).props("outlined input-class=poise-code rows=22").classes("w-full")
        )
        field.mark("figure text")
        ui.label(
            "As in figure files: limits of balls as polygons, regions and twist tables, couplings, loops …"
        ).classes("text-caption poise-quiet")

        def apply() -> None:
            edited = parse_figure(str(field.value))
            if edited.folder is None:
                edited = edited.replaced(folder=figure.folder)
            session.update(lambda state: with_figure(state, edited))

        _finish(dialog, "Apply", apply)


def _finish(dialog: ui.dialog, word: str, act: Callable[[], None]) -> None:
    """Build the buttons of a dialog; what prevents `act` is shown above them, else the dialog closes."""
    problem = ui.label().classes("text-negative text-caption")

    def attempt() -> None:
        try:
            act()
        except FormatError as trouble:
            problem.set_text(f"line {trouble.line}: {trouble.reason}" if trouble.line else trouble.reason)
        except PoiseError as trouble:
            problem.set_text(str(trouble))
        else:
            dialog.close()

    with ui.row().classes("w-full justify-end"):
        ui.button("Cancel", on_click=dialog.close).props("flat")
        ui.button(word, on_click=attempt).mark(word)
    dialog.on("hide", dialog.delete)
