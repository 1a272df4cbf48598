"""Motions from keys: feet stay, limits hold, keys are met, nothing jumps."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import poise
from poise import Animation, Key, LookAt, Pose, Position, Scene
from poise.engine.animation import EASES
from poise.errors import TaskError
from poise.figure.collision.soles import polygon_through, sole_corners
from poise.figure.model.posture import Posture
from poise.motion.clip.motion import Motion
from poise.motion.keys.inbetweens import Inbetweens
from poise.studio.scenes.openings import opening
from poise.tasks.place import Frame
from poise.tasks.task import Task

TOUCHES = 4e-3
"""Height up to which a corner of a sole carries weight [m]."""


def moved(task: Task, by: tuple[float, float, float]) -> Task:
    assert isinstance(task, Frame)
    return replace(task, pose=Pose(task.wanted.position + np.array(by), task.wanted.rotation))


def posed(scene: Scene, tasks: list[Task], start: Posture) -> Posture:
    return poise.solve(scene.figure, tasks, start=start, solid=True).posture


@cache
def walk_and_crouch(*, loop: bool = False) -> Scene:
    """The human makes a step, walks on with both feet, turns, crouches and reaches, and stands up again."""
    scene = opening(poise.human())
    figure = scene.figure
    left, right, balance = scene.tasks
    stand = figure.posture("standing")
    keys = [Key(0.0, stand, scene.tasks)]
    for time, tasks in (
        (1.2, [moved(left, (0.0, 0.0, 0.3)), right, balance]),
        (4.0, [moved(left, (0.1, 0.0, 0.9)), moved(right, (0.1, 0.0, 0.9)), balance]),
    ):
        keys.append(Key(time, posed(scene, tasks, figure.posture(keys[-1].posture)), tasks))
    there = (-0.2, 0.4, 1.5)
    reach: list[Task] = [
        *keys[-1].tasks,
        Position("right_hand", there, priority=3, name="right hand"),
        LookAt("eyes", at=there, priority=4, name="gaze"),
    ]
    keys.append(Key(5.5, posed(scene, reach, figure.posture(keys[-1].posture)), reach, "stop"))
    if not loop:
        keys.append(replace(keys[2], time=7.0))
    return Scene(
        figure,
        scene.tasks,
        start="standing",
        solid=True,
        animation=Animation(keys, loop=loop, end=9.0 if loop else None),
        origin=scene.origin,
    )


@cache
def motion_of(scene: Scene) -> Motion:
    return poise.animate(scene)


def test_tasks_are_met_in_every_frame() -> None:
    scene = walk_and_crouch()
    motion, asked = motion_of(scene), Inbetweens(scene)
    for k, time in enumerate(asked.times.tolist()):
        frames = scene.figure.frames(motion[k])
        for task, target in asked.stretch_at(time).values_at(time):
            if isinstance(task, Frame):
                assert np.linalg.norm(frames[task.site].position - target.position) < 1e-6


def test_feet_that_both_keys_plant_stay() -> None:
    scene = walk_and_crouch()
    motion = motion_of(scene)
    path = motion.positions(["left_foot", "right_foot"])
    crouching = motion.times >= 4.0
    assert np.abs(np.ptp(path[crouching], axis=0)).max() < 1e-6
    first_step = motion.times <= 1.2
    assert np.abs(np.ptp(path[first_step][:, 1], axis=0)).max() < 1e-6, "the right foot stands during the first step"
    assert path[first_step][-1, 0, 2] - path[0, 0, 2] == pytest.approx(0.3, abs=1e-6)


def test_a_foot_stands_or_swings_and_never_slides() -> None:
    """A foot whose heel and toes touch the ground does not move along it; both feet never swing at once."""
    scene = walk_and_crouch()
    figure, motion = scene.figure, motion_of(scene)
    flat = []
    for site in ("left_foot", "right_foot"):
        poses = [figure.pose_of(site, posture) for posture in motion]
        heights = np.array([[pose.apply(corner)[1] for corner in sole_corners(figure, site)[:4]] for pose in poses])
        stands = heights.max(axis=1) < 1e-5
        way = np.linalg.norm(np.diff([pose.position for pose in poses], axis=0), axis=1)
        assert way[stands[1:] & stands[:-1]].max() < 1e-6
        assert heights.min() > -1e-6
        flat.append(stands)
    assert np.logical_or(*flat).all()


def test_balance_holds_in_every_frame() -> None:
    scene = walk_and_crouch()
    figure = scene.figure
    for posture in motion_of(scene):
        corners = [
            point
            for part in ("left_foot", "right_foot", "left_toes", "right_toes")
            for corner in sole_corners(figure, part)
            if (point := figure.pose_of(part, posture).apply(corner))[1] < TOUCHES
        ]
        assert polygon_through(posture, np.array(corners)).inside > 0.0


def test_limits_hold_and_nothing_jumps() -> None:
    scene = walk_and_crouch()
    motion = motion_of(scene)
    assert not any(scene.figure.violations(posture) for posture in motion)
    steps = motion.velocity / motion.rate
    # In one frame no joint turns by more than a quick turn of a person's joint, and no speed changes by as much.
    assert np.abs(steps).max() < 0.3
    assert np.abs(np.diff(steps, axis=0)).max() < 0.2


def test_keys_are_met_at_their_times() -> None:
    scene = walk_and_crouch()
    motion = motion_of(scene)
    assert scene.animation is not None
    for key in scene.animation.keys:
        frame = round(key.time * motion.rate)
        assert np.abs(scene.figure.difference(motion[frame], scene.figure.posture(key.posture))).max() < 1e-5


def test_same_keys_same_bytes() -> None:
    scene = walk_and_crouch()
    again = Scene(
        poise.human(), scene.tasks, start="standing", solid=True, animation=scene.animation, origin=scene.origin
    )
    assert poise.animate(again).q.tobytes() == motion_of(scene).q.tobytes()


def test_a_loop_comes_back_to_its_first_key() -> None:
    motion = motion_of(walk_and_crouch(loop=True))
    assert motion.duration == pytest.approx(9.0)
    assert np.abs(motion.figure.difference(motion[0], motion[-1])).max() < 1e-5


def test_a_key_of_chosen_tasks_leaves_the_rest() -> None:
    """The gaze is keyed alone between two whole keys: the feet stay, and the eyes look there at that time."""
    scene = opening(poise.human())
    stand, there = scene.figure.posture("standing"), (1.0, 1.2, 1.0)
    gaze = LookAt("eyes", at=there, priority=3, name="gaze")
    keys = [Key(0.0, stand, scene.tasks), Key(1.0, None, (gaze,)), Key(2.0, stand, scene.tasks)]
    motion = poise.animate(Scene(scene.figure, scene.tasks, solid=True, animation=Animation(keys)))
    eye = scene.figure.pose_of("eyes", motion[30])
    sight = eye.matrix[:3, :3] @ gaze.axis_on(scene.figure)
    wanted = np.array(there) - eye.position
    assert sight @ wanted / np.linalg.norm(wanted) > 1.0 - 1e-9
    assert np.abs(np.ptp(motion.positions(["left_foot"]), axis=0)).max() < 1e-6
    assert np.abs(scene.figure.difference(motion[-1], stand)).max() < 1e-5


def test_loops_stay_closed_between_keys() -> None:
    figure = poise.load("stewart")
    a, b = figure.neutral(), None
    platform = figure.sites.names[-1]
    here = figure.pose_of(platform, a).position
    b = poise.solve(figure, [Position(platform, here + np.array([0.03, 0.02, 0.02]))], start=a).posture
    motion = poise.animate(Scene(figure, animation=Animation([Key(0.0, a), Key(1.0, b)], rate=15.0)))
    assert max(figure.closure_error(posture) for posture in motion) < 1e-9
    assert np.abs(figure.difference(motion[-1], b)).max() < 1e-5


def test_the_filter_bounds_speeds() -> None:
    figure = poise.chain("zxx", [0.3, 0.2, 0.2])
    end = figure.posture(dict.fromkeys(figure.moving_joints, 0.8))
    scene = Scene(figure, animation=Animation([Key(0.0, figure.neutral()), Key(0.3, end), Key(3.0, end)]))
    plain = poise.animate(scene)
    smooth = poise.animate(scene, filter=poise.MotionFilter(1.0, 20.0, 400.0))
    assert np.abs(plain.velocity).max() > 2.0
    assert np.abs(smooth.velocity).max() <= 1.0 + 1e-9
    assert np.abs(figure.difference(smooth[-1], end)).max() < 1e-2


def test_a_clip_plays_under_keys() -> None:
    """Feet follow the clip, and a gaze that is keyed over it is met."""
    scene = walk_and_crouch()
    clip, there = motion_of(scene), (1.0, 1.4, 2.0)
    gaze = LookAt("eyes", at=there, priority=3, name="gaze")
    feet = tuple(
        replace(task, pose=scene.figure.pose_of(task.site, clip.at(2.0)))
        for task in scene.tasks
        if isinstance(task, Frame)
    )
    animation = Animation([Key(2.0, None, (*feet, gaze))], end=4.0, clip=clip)
    motion = poise.animate(Scene(scene.figure, scene.tasks, solid=True, animation=animation))
    sites = ["left_foot", "right_foot"]
    assert np.abs(motion.positions(sites) - clip[: len(motion)].positions(sites)).max() < 1e-6
    eye = scene.figure.pose_of("eyes", motion[60])
    wanted = np.array(there) - eye.position
    assert (eye.matrix[:3, :3] @ gaze.axis_on(scene.figure)) @ wanted / np.linalg.norm(wanted) > 1.0 - 1e-9


def test_editing_keys() -> None:
    figure = poise.chain("zx", [0.3, 0.2])
    animation = Animation([Key(float(k), figure.neutral()) for k in range(3)])
    assert [key.time for key in animation.with_key_at(0, 1.5).keys] == [1.0, 1.5, 2.0]
    assert [key.time for key in animation.without_keys([1]).keys] == [0.0, 2.0]
    assert [key.time for key in animation.retimed(2.0, since=1.0).keys] == [0.0, 1.0, 3.0]
    assert animation.with_ease(1, "stop").keys[1].ease == "stop"
    assert animation.key_at(1.00001) == 1
    assert animation.key_at(1.2) is None


def test_mistakes_get_one_sentence() -> None:
    figure = poise.chain("zx", [0.3, 0.2])
    with pytest.raises(TaskError, match="no keys"):
        poise.animate(Scene(figure))
    with pytest.raises(TaskError, match="same time"):
        Animation([Key(1.0, figure.neutral()), Key(1.0, figure.neutral())])
    with pytest.raises(TaskError, match="posture, tasks"):
        Key(1.0)
    with pytest.raises(TaskError, match=", ".join(EASES)):
        Key(1.0, figure.neutral(), ease="quick")  # type: ignore[arg-type]
    with pytest.raises(TaskError, match="no key number 3"):
        Animation([Key(1.0, figure.neutral())]).with_key_at(3, 2.0)
