"""The opening scenes of figures, and the example scenes of the menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from poise.engine.natural.humanoid import humanoid_rest, rest_posture
from poise.engine.scene import Origin, Scene
from poise.figure.model.figure import Figure
from poise.figures import BUILT_IN, built_in
from poise.figures.people.likely_posture import FEET
from poise.tasks.criteria import Natural, NearPosture
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task

STANDING = "standing"
BALANCE_MARGIN = 0.02
"""Distance from the edge of the support polygon that the centre of mass of a standing figure keeps [m]."""


def opening(figure: Figure, origin: Origin | None = None) -> Scene:
    """The scene a figure opens with: people and humanoids stand in balance; other figures have no tasks."""
    if origin is None and figure.name in BUILT_IN and figure == built_in(figure.name):
        origin = Origin(figure.name)
    figure, origin = _on_its_feet(figure, origin)
    feet = feet_of(figure)
    if feet is None:
        about = "Drag any part: every loop stays closed" if len(figure.loops) else "Drag any part: no tasks yet"
        return Scene(figure, description=about, solid=is_solid(figure), origin=origin)
    return Scene(
        figure,
        standing_tasks(figure, feet),
        start=rest_posture(figure),
        solid=is_solid(figure),
        criteria=None if feet == FEET else [Natural()],
        description="Standing on both feet: drag any part",
        origin=origin,
    )


def _on_its_feet(figure: Figure, origin: Origin | None) -> tuple[Figure, Origin | None]:
    """The figure and its origin, with a floating base for a humanoid whose pelvis is fixed to the world.

    A root that moves on another joint, such as the first hinge of an arm, stays on it.
    """
    if any(joint.kind == "free" or (joint.parent is None and joint.kind != "fixed") for joint in figure.joints):
        return figure, origin
    floating = figure.with_floating_base()
    if humanoid_rest(floating) is None:
        return figure, origin
    return floating, None if origin is None else replace(origin, floating=True)


def feet_of(figure: Figure) -> tuple[str, str] | None:
    """The two feet on which a figure with a floating base stands; None if it has none."""
    if not any(joint.kind == "free" for joint in figure.joints):
        return None
    if STANDING in figure.posture_names and set(FEET) <= set(figure.sites.names):
        return FEET
    rest = humanoid_rest(figure)
    return None if rest is None else (rest.parts["left_ankle"], rest.parts["right_ankle"])


def is_solid(figure: Figure) -> bool:
    """Whether a figure is solid when it is opened: it has shapes, and no loops, whose links are drawn in one plane."""
    return not len(figure.loops) and any(body.shapes for body in figure.bodies)


def standing_tasks(figure: Figure, feet: tuple[str, str] = FEET) -> list[Task]:
    """Tasks that keep both feet where they stand, and below them a task that keeps the centre of mass over them.

    A skeleton without masses, or without shapes to stand on, has no balance to keep.
    """
    start = rest_posture(figure)
    frames: list[Task] = [
        Frame(foot, figure.pose_of(foot, start), name=foot.replace("_", " "), priority=1) for foot in feet
    ]
    soles = [figure.body_of(foot) for foot in feet]
    if not figure.mass > 0.0 or not all(figure.bodies[body].shapes for body in soles):
        return frames
    return [*frames, CenterOfMass(over=feet, margin=BALANCE_MARGIN, priority=2, name="balance")]


def _human(description: str, *tasks: Task, **parts: object) -> Scene:
    human = built_in("human")
    return Scene(
        human,
        [*standing_tasks(human), *tasks],
        start=STANDING,
        solid=True,
        description=description,
        origin=Origin("human"),
        **parts,  # type: ignore[arg-type]
    )


def _standing() -> Scene:
    return opening(built_in("human"))


def _reach_for_a_ball() -> Scene:
    ball = (-0.7, 1.1, 0.9)
    return _human(
        "Looks at a ball and reaches for it without falling over",
        LookAt("eyes", at=ball, priority=3, name="gaze"),
        Position("right_hand", ball, priority=4, name="right hand"),
    )


def _both_hands() -> Scene:
    return _human(
        "Two hands with different targets: give one the higher priority",
        Position("left_hand", (1.1, 1.2, 0.3), priority=3, name="left hand"),
        Position("right_hand", (-1.1, 1.2, 0.3), priority=4, name="right hand"),
    )


def _curl_up() -> Scene:
    return _human(
        "Curls up: a task makes its moment of inertia small", MomentOfInertia("y", 0.0, priority=3, name="curl up")
    )


def _adelino_looks() -> Scene:
    lamp = built_in("adelino")
    tip = lamp.sites.names[-1]
    there = lamp.pose_of(tip, lamp.neutral())
    at = there.position + np.array([0.25, 0.0, 0.3])
    tasks = [LookAt(tip, at=at, priority=1, name="gaze"), Hold("curious", priority=2, name="curious")]
    return Scene(lamp, tasks, description="A lamp holds a posture while it looks at a target", origin=Origin("adelino"))


def _relaxed() -> Scene:
    return _human("Returns to standing when you release it", criteria=[NearPosture(STANDING)])


EXAMPLE_SCENES: dict[str, Callable[[], Scene]] = {
    "Standing": _standing,
    "Reach for a ball": _reach_for_a_ball,
    "Two hands": _both_hands,
    "Curl up": _curl_up,
    "Return to standing": _relaxed,
    "Adelino looks": _adelino_looks,
}
"""Example scenes, by their name in the menu."""
