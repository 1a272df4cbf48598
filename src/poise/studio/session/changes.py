"""Changes of the state: functions that return it with another scene, figure, target or drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.scene import Scene
from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose, unit_vector
from poise.pictures.camera import world_axes
from poise.studio.session.driver import Mode
from poise.studio.session.edits.scene import task_of, with_parts, with_task
from poise.studio.session.keys import carried_animation, time_of_posture
from poise.studio.session.outcome import Outcome
from poise.studio.session.postures import carried_over
from poise.studio.session.pulls import checked_point
from poise.studio.session.state import State, continued, has_work, state_of, with_scene
from poise.tasks.avoid import floors_of
from poise.tasks.task import Recruits

if TYPE_CHECKING:
    from poise.studio.session.session import Session

Options = ParamSpec("Options")
GETTING_READY = "Getting ready …"
"""Sentence shown until a scene has been evaluated; the first solve may have to compile kernels."""


def scene_change(
    change: Callable[Concatenate[Scene, Options], Scene], *args: Options.args, **options: Options.kwargs
) -> Callable[[State], State]:
    """The change of a state that replaces its scene by `change(scene, …)`, for `Session.update`."""
    return lambda state: with_scene(state, change(state.scene, *args, **options))


def open_scene(session: Session, scene: Scene, *, mode: Mode | None = None) -> None:
    """Open a scene in its start posture, in the pose mode unless another mode is given."""
    new = replace(state_of(scene), mode=mode or Mode())
    new = replace(new, time=time_of_posture(new))
    if new.mode.drives or has_work(new):
        new = replace(new, outcome=Outcome("orange", GETTING_READY))
    session.update(lambda state: continued(state, new))


def with_figure(state: State, figure: Figure) -> State:
    """The state with a changed version of its figure; joints that both have keep their values."""
    posture = carried_over(state.posture, figure)
    animation = carried_animation(state.scene.animation, state.figure, figure)
    new = state_of(with_parts(state.scene, figure=figure, start=posture, animation=animation, origin=None))
    return continued(state, replace(new, posture=posture, mode=state.mode, recruits=state.recruits, time=state.time))


def with_named_posture(state: State, name: str) -> State:
    """The state whose figure has its present posture under a name, with which it is saved."""
    if not name or name == "neutral":
        raise FigureError(f"{name!r} cannot be the name of a posture: choose another one.")
    figure, posture = state.figure, state.posture
    known = {each: figure.named_values(each) for each in figure.posture_names}
    values = {joint.name: posture.q[figure.q_slice(joint.name)] for joint in figure.joints if joint.nq}
    return with_figure(state, figure.replaced(postures=known | {name: values}))


def without_named_posture(state: State, name: str) -> State:
    """The state whose figure has no posture of this name."""
    figure = state.figure
    others = {each: figure.named_values(each) for each in figure.posture_names if each != name}
    return with_figure(state, figure.replaced(postures=others))


def with_root(state: State, body: str) -> State:
    """The state with another body as the root of the figure; every body stays where it is in the world."""
    return with_figure(state, state.figure.rerooted(body, state.posture))


def with_recruits(state: State, body: str, joints: Recruits) -> State:
    """The state with other joints that pulls and pins of a body may move; None for all joints."""
    others = {name: chosen for name, chosen in state.recruits.items() if name != body}
    return replace(state, recruits=others | ({} if joints is None else {body: joints}))


def with_target(state: State, number: int, at: ArrayLike, rotation: ArrayLike | None = None) -> State:
    """The state with the target of a task moved to a world position and rotated; drags go on [m].

    A solid figure cannot go below the floor, so a place for one of its parts that is dragged there stays on the floor.
    It is the same state for a task without a target.
    """
    there, task = checked_point(at), task_of(state.scene, number)
    target = task.target_in(state.posture)
    if target is None:
        return state
    if state.scene.solid and not target.is_seen:
        there = _on_or_above_floors(state.scene, there)
    moved = task.dragged(state.posture, Pose(there, target.rotation if rotation is None else rotation))
    return replace(state, scene=with_task(state.scene, number, moved), scene_number=state.scene_number + 1)


def with_targets_moved(state: State, number: int, others: Iterable[int], at: ArrayLike) -> State:
    """The state with a task's target moved to a world position, and those of other tasks by the same way [m]."""
    target = task_of(state.scene, number).target_in(state.posture)
    if target is None:
        return state
    way = checked_point(at) - target.wanted
    moved = with_target(state, number, at)
    for other in others:
        there = task_of(moved.scene, other).target_in(moved.posture)
        if other != number and there is not None:
            moved = with_target(moved, other, there.wanted + way)
    return moved


def with_target_at(state: State, number: int, site: str) -> State:
    """The state with a task's target at a site or body of the figure, where that is now."""
    return with_target(state, number, state.figure.pose_of(site, state.posture).position)


def with_foot_beside(state: State, number: int, other: str) -> State:
    """The state with the target of a foot level with the other foot, and turned as it is; it keeps its place aside."""
    figure, task = state.figure, task_of(state.scene, number)
    target = task.target_in(state.posture)
    if target is None:
        return state
    there = figure.pose_of(other, state.posture)
    _, left, _ = world_axes(figure.up)
    across = figure.pose_of(other, figure.neutral()).rotation
    aside = Pose(np.zeros(3), there.rotation) @ Pose(np.zeros(3), across).inverse()
    left = aside.apply(left)
    return with_target(state, number, there.position + left * float(left @ (target.wanted - there.position)))


def _on_or_above_floors(scene: Scene, at: FloatArray) -> FloatArray:
    for floor in floors_of(scene.figure, scene.obstacles):
        normal = unit_vector(floor.normal)
        at = at + max(0.0, floor.offset - float(normal @ at)) * normal
    return at


def with_drawing(state: State, what: str, shown: bool) -> State:
    """The state with an optional drawing shown or hidden on all pages, such as "torques"."""
    others = state.shown - {what}
    return replace(state, shown=others | {what} if shown else others)
