"""The opening scenes of figures, and the example scenes of the menu."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.engine.scene import Origin, Scene
from poise.figure.model.figure import Figure
from poise.figures import BUILT_IN, built_in
from poise.tasks.criteria import NearPosture
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")
STANDING = "standing"
BALANCE_MARGIN = 0.02
"""Distance from the edge of the support polygon that the centre of mass of a standing figure keeps [m]."""


def opening(figure: Figure, origin: Origin | None = None) -> Scene:
    """The scene a figure opens with: a figure with two feet stands in balance; other figures have no tasks."""
    if origin is None and figure.name in BUILT_IN and figure == built_in(figure.name):
        origin = Origin(figure.name)
    stands = STANDING in figure.posture_names and set(FEET) <= set(figure.sites.names)
    if not (stands and any(joint.kind == "free" for joint in figure.joints)):
        about = "Drag any part: every loop stays closed" if len(figure.loops) else "Drag any part: no tasks yet"
        return Scene(figure, description=about, origin=origin)
    return Scene(
        figure,
        standing_tasks(figure),
        start=STANDING,
        description="Standing on both feet: drag any part",
        origin=origin,
    )


def standing_tasks(figure: Figure) -> list[Task]:
    """Tasks that keep both feet where they stand, and below them a task that keeps the centre of mass over them."""
    feet: list[Task] = [
        Frame(foot, figure.pose_of(foot, STANDING), name=foot.replace("_", " "), priority=1) for foot in FEET
    ]
    return [*feet, CenterOfMass(over=FEET, margin=BALANCE_MARGIN, priority=2, name="balance")]


def _human(description: str, *tasks: Task, **parts: object) -> Scene:
    human = built_in("human")
    return Scene(
        human,
        [*standing_tasks(human), *tasks],
        start=STANDING,
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
