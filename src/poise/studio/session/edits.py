"""Scenes with something changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from poise.engine.scene import Scene
from poise.errors import FormatError
from poise.formats.scene_toml.read import parse_scene
from poise.formats.scene_toml.write import scene_text
from poise.studio.session.temporary_figures import located
from poise.tasks.task import Task

_TASK = "[[task]]"


def with_parts(scene: Scene, **parts: Any) -> Scene:
    """The scene with some parts changed; raises `TaskError` or `FigureError` for what its figure cannot be asked."""
    names = ("figure", "tasks", "start", "forces", "criteria", "obstacles", "description", "origin")
    return Scene(**({name: getattr(scene, name) for name in names} | parts))


def with_tasks(scene: Scene, tasks: Iterable[Task]) -> Scene:
    """The scene with other tasks."""
    return with_parts(scene, tasks=tasks)


def with_start(scene: Scene, start: Any) -> Scene:
    """The scene, started from another posture."""
    return with_parts(scene, start=start)


def with_task(scene: Scene, number: int, task: Task) -> Scene:
    """The scene with one task in place of another."""
    return with_tasks(scene, [task if k == number else other for k, other in enumerate(scene.tasks)])


def changed(task: Task, **fields: Any) -> Task:
    """A task with some fields changed."""
    return replace(task, **fields)


def task_text(scene: Scene, task: Task) -> str:
    """A task as scene files say it."""
    return _halves(scene, task)[1]


def task_from_text(scene: Scene, old: Task, text: str) -> Task:
    """The task that a text describes; raises `FormatError` with the line of the text."""
    head, _ = _halves(scene, old)
    try:
        tasks = parse_scene(head + text).tasks
    except FormatError as problem:
        line = problem.line and max(1, problem.line - head.count("\n"))
        raise FormatError(problem.reason, None, line) from None
    if len(tasks) != 1:
        raise FormatError(f"the text must describe one task, which begins with {_TASK}; it describes {len(tasks)}.")
    return tasks[0]


def _halves(scene: Scene, task: Task) -> tuple[str, str]:
    """The lines about the figure, and those about the task."""
    here = located(scene)
    head, mark, body = scene_text(Scene(here.figure, [task], origin=here.origin)).partition(_TASK)
    return head, mark + body
