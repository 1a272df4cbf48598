"""Functions that return a scene with one thing changed, and tasks as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from poise.engine.scene import Origin, Scene
from poise.errors import FormatError, TaskError
from poise.formats.scene_toml.read import parse_scene
from poise.formats.scene_toml.write import scene_text
from poise.studio.session.edits.temporary_figures import figure_file
from poise.tasks.task import Task

_TASK_HEADING = "[[task]]"


def with_parts(scene: Scene, **parts: Any) -> Scene:
    """The scene with some parts replaced; raises `TaskError` or `FigureError` if they do not fit the figure."""
    names = (
        "figure",
        "tasks",
        "start",
        "forces",
        "criteria",
        "obstacles",
        "solid",
        "animation",
        "description",
        "origin",
    )
    return Scene(**({name: getattr(scene, name) for name in names} | parts))


def with_tasks(scene: Scene, tasks: Iterable[Task]) -> Scene:
    """The scene with other tasks."""
    return with_parts(scene, tasks=tasks)


def with_new_task(scene: Scene, task: Task) -> Scene:
    """The scene with a task added."""
    return with_tasks(scene, [*scene.tasks, task])


def with_task(scene: Scene, number: int, task: Task) -> Scene:
    """The scene with one task replaced."""
    task_of(scene, number)
    return with_tasks(scene, [task if k == number else other for k, other in enumerate(scene.tasks)])


def with_changed_task(scene: Scene, /, number: int, **fields: Any) -> Scene:
    """The scene with some fields of one task changed, such as its priority."""
    return with_task(scene, number, replace(task_of(scene, number), **fields))


def without_task(scene: Scene, number: int) -> Scene:
    """The scene without one task."""
    task_of(scene, number)
    return with_tasks(scene, [other for k, other in enumerate(scene.tasks) if k != number])


def task_of(scene: Scene, number: int) -> Task:
    """A task by its number; raises `TaskError` if there is none."""
    if not 0 <= number < len(scene.tasks):
        raise TaskError(f"there is no task number {number}; the scene has {len(scene.tasks)}.")
    return scene.tasks[number]


def with_figure_file(scene: Scene) -> Scene:
    """The scene with a file for its figure; a figure that was edited is written to a temporary file first."""
    return scene if scene.origin is not None else with_parts(scene, origin=Origin(str(figure_file(scene.figure))))


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
