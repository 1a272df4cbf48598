"""Scenes to begin with: what a figure is asked when it is opened, and examples to play with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.engine.scene import Origin, Scene
from poise.figure.model.figure import Figure
from poise.figures import BUILT_IN, built_in
from poise.tasks.criteria import NearPosture
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.place import Frame, LookAt, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task

FEET = ("left_foot", "right_foot")
STANDING = "standing"
MARGIN = 0.02
"""How far inside its support the weight of someone who stands is kept [m]."""


def opening(figure: Figure, origin: Origin | None = None) -> Scene:
    """Someone with two feet stands on them in balance; nothing is asked of others."""
    if origin is None and figure.name in BUILT_IN and figure == built_in(figure.name):
        origin = Origin(figure.name)
    stands = STANDING in figure.posture_names and set(FEET) <= set(figure.sites.names)
    if not (stands and any(joint.kind == "free" for joint in figure.joints)):
        about = "Pull anywhere: every loop stays closed" if len(figure.loops) else "Pull anywhere: nothing is asked yet"
        return Scene(figure, description=about, origin=origin)
    return Scene(
        figure,
        standing_tasks(figure),
        start=STANDING,
        description="Standing on both feet: pull anywhere",
        origin=origin,
    )


def standing_tasks(figure: Figure) -> list[Task]:
    """Feet pinned where they stand, and below that the weight over them."""
    feet: list[Task] = [
        Frame(foot, figure.pose_of(foot, STANDING), name=foot.replace("_", " "), priority=1) for foot in FEET
    ]
    return [*feet, CenterOfMass(over=FEET, margin=MARGIN, priority=2, name="balance")]


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
        "Looks at a ball, and reaches for it without falling over",
        LookAt("eyes", at=ball, priority=3, name="gaze"),
        Position("right_hand", ball, priority=4, name="right hand"),
    )


def _both_hands() -> Scene:
    return _human(
        "Two hands that want different things: give one the higher priority",
        Position("left_hand", (1.1, 1.2, 0.3), priority=3, name="left hand"),
        Position("right_hand", (-1.1, 1.2, 0.3), priority=4, name="right hand"),
    )


def _curl_up() -> Scene:
    return _human(
        "Curls up: its moment of inertia is made small", MomentOfInertia("y", 0.0, priority=3, name="curl up")
    )


def _adelino_looks() -> Scene:
    lamp = built_in("adelino")
    tip = lamp.sites.names[-1]
    there = lamp.pose_of(tip, lamp.neutral())
    at = there.position + np.array([0.25, 0.0, 0.3])
    tasks = [LookAt(tip, at=at, priority=1, name="gaze"), Hold("curious", priority=2, name="curious")]
    return Scene(lamp, tasks, description="A lamp holds a posture while it looks", origin=Origin("adelino"))


def _relaxed() -> Scene:
    return _human("Comes back to standing whenever it is let go", criteria=[NearPosture(STANDING)])


EXAMPLES: dict[str, Callable[[], Scene]] = {
    "Standing": _standing,
    "Reach for a ball": _reach_for_a_ball,
    "Two hands": _both_hands,
    "Curl up": _curl_up,
    "Comes back": _relaxed,
    "Adelino looks": _adelino_looks,
}
"""Scenes of the examples menu."""
