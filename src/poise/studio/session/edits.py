"""Functions that return a scene with one thing changed, and tasks as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from poise.engine.scene import Scene
from poise.errors import FormatError
from poise.formats.scene_toml.read import parse_scene
from poise.formats.scene_toml.write import scene_text
from poise.studio.session.temporary_figures import with_figure_file
from poise.tasks.task import Task

_TASK_HEADING = "[[task]]"


def with_parts(scene: Scene, **parts: Any) -> Scene:
    """The scene with some parts replaced; raises `TaskError` or `FigureError` if they do not fit the figure."""
    names = ("figure", "tasks", "start", "forces", "criteria", "obstacles", "description", "origin")
    return Scene(**({name: getattr(scene, name) for name in names} | parts))


def with_tasks(scene: Scene, tasks: Iterable[Task]) -> Scene:
    """The scene with other tasks."""
    return with_parts(scene, tasks=tasks)


def with_start(scene: Scene, start: Any) -> Scene:
    """The scene with another start posture."""
    return with_parts(scene, start=start)


def with_task(scene: Scene, number: int, task: Task) -> Scene:
    """The scene with one task replaced."""
    return with_tasks(scene, [task if k == number else other for k, other in enumerate(scene.tasks)])


def task_text(scene: Scene, task: Task) -> str:
    """The TOML text of a task, as in a scene file."""
    return _figure_and_task_text(scene, task)[1]


def task_from_text(scene: Scene, old: Task, text: str) -> Task:
    """The task described by a TOML text; raises `FormatError` with the line in that text."""
    head, _ = _figure_and_task_text(scene, old)
    try:
        tasks = parse_scene(head + text).tasks
    except FormatError as problem:
        line = problem.line and max(1, problem.line - head.count("\n"))
        raise FormatError(problem.reason, None, line) from None
    if len(tasks) != 1:
        raise FormatError(
            f"the text must contain one task, which begins with {_TASK_HEADING}; it contains {len(tasks)}."
        )
    return tasks[0]


def _figure_and_task_text(scene: Scene, task: Task) -> tuple[str, str]:
    """The text of a scene with only this task, split into the lines before the task and the task itself."""
    here = with_figure_file(scene)
    head, mark, body = scene_text(Scene(here.figure, [task], origin=here.origin)).partition(_TASK_HEADING)
    return head, mark + body
