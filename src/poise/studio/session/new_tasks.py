"""New tasks; each asks for the figure's present state, so that adding it moves nothing."""

from __future__ import annotations

from dataclasses import replace

from poise.studio.session.pulls import lowest_priority
from poise.studio.session.state import State
from poise.tasks.form import MenuEntry
from poise.tasks.kinds import all_kinds
from poise.tasks.task import Task


def task_menu() -> dict[str, MenuEntry]:
    """The menu of new tasks by label, those about a site first."""
    entries = {entry.label: entry for kind in all_kinds(Task).values() for entry in vars(kind).get("menu", ())}
    return dict(sorted(entries.items(), key=lambda item: (not item[1].needs_site, item[0])))


def new_task(state: State, label: str, site: str) -> Task:
    """A new task, with a priority below all others, from the label of its entry in the menu."""
    return replace(task_menu()[label].make(state.posture, site), priority=lowest_priority(state.scene.tasks))
