"""The scenes of chapter 7 of the thesis, to play with [Baerlocher 2001]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from poise.engine.scene import Origin, Scene
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, turn
from poise.figure.model.shapes import Box, Cylinder, Sphere
from poise.figures import built_in
from poise.figures.robots.chains import chain
from poise.forces.loads import Force, Load, Support
from poise.studio.scenes.openings import FEET, MARGIN, STANDING, standing_tasks
from poise.studio.scenes.shoulder import sliding_scapula
from poise.tasks.criteria import Criterion, Flex
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.obstacles import Obstacle
from poise.tasks.place import Frame, LookAt, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task

SIDES = (("left", 1.0), ("right", -1.0))
LEGS = tuple(f"{side}_{joint}" for side, _ in SIDES for joint in ("hip", "knee", "ankle"))
OPEN = (Support("left_foot"), Support("right_foot"))
HUGE = 100.0
"""More than any posture has [kg m²]."""


def _human(
    description: str,
    tasks: Sequence[Task],
    *,
    forces: Sequence[Load] = (),
    criteria: Sequence[Criterion] = (),
    obstacles: Sequence[Obstacle] = (),
) -> Scene:
    return Scene(
        built_in("human"),
        tasks,
        start=STANDING,
        forces=forces,
        criteria=criteria,
        obstacles=obstacles,
        description=description,
        origin=Origin("human"),
    )


def _feet(human: Figure) -> list[Task]:
    return [Frame(foot, human.pose_of(foot, STANDING), name=foot.replace("_", " "), priority=1) for foot in FEET]


def _hands(at: Sequence[tuple[float, float, float]], site: str, priority: int = 3) -> list[Task]:
    return [
        Position(f"{side}_{site}", at=place, priority=priority, name=f"{side} {site.replace('_', ' ')}")
        for (side, _), place in zip(SIDES, at, strict=True)
    ]


def hip_and_knee() -> Scene:
    """Figure 7.4."""
    hands = _hands([(0.12, 0.05, 0.45), (-0.12, 0.05, 0.45)], "fingertips")
    back = Hold(STANDING, joints=["spine", "chest"], priority=4, name="straight back")
    tasks = [*standing_tasks(built_in("human")), *hands, back, Hold(STANDING, priority=5, name="standing")]
    return _human("Hands to the ground: the hamstrings make the knees give", tasks)


def loop_as_a_task() -> Scene:
    """Figure 7.5."""
    links, long = 10, 0.2
    ring = chain("Z" * links, lengths=[long] * links, limits=170)
    loop = Position("tip", at=(0, 0, 0), relative_to="base", axes="xy", priority=1, name="loop")
    pulls = [
        Position(f"segment_{k}", at=(*at, 0.0), offset=(0, long, 0), axes="xy", priority=2, name=f"pull {k}")
        for k, at in ((3, (-0.7, 0.3)), (7, (0.6, 0.6)))
    ]
    start = ring.posture(np.full(links, math.radians(30.0)))
    return Scene(ring, [loop, *pulls], start=start, description="A loop of the first priority stays closed")


def around_a_ball() -> Scene:
    """Figure 7.6."""
    links, long = 10, 0.15
    arm = chain("Z" * links, lengths=[long] * links, limits=90)
    ball = Obstacle(Sphere(0.2), Pose(np.array([0.4, 0.55, 0.0])), name="ball")
    start = arm.posture(np.array([0.2, -0.1] * (links // 2)))
    tip = Position("tip", at=(0.8, 0.55, 0.0), axes="xy", name="tip")
    return Scene(arm, [tip], start=start, obstacles=[ball], description="Lead the tip around the ball")


def spread_ring() -> Scene:
    """Figure 7.7."""
    links = 9
    ring = chain("Z" * links, lengths=[0.25] * links, limits=170)
    tasks = [
        Position("tip", at=(0, 0, 0), axes="xy", priority=1, name="loop"),
        CenterOfMass(at=(0.0, 0.2, 0.0), axes="xy", priority=2, name="centre"),
        MomentOfInertia("z", HUGE, priority=3, name="spread"),
    ]
    start = ring.posture(np.radians([-60.0, *[40.0] * (links - 1)]))
    return Scene(ring, tasks, start=start, description="A ring spreads its mass about a centre that is held")


def spread_person() -> Scene:
    """Figure 7.8."""
    human = built_in("human")
    middle = np.mean([human.pose_of(foot, STANDING).position for foot in FEET], axis=0)
    tasks = [
        *_feet(human),
        CenterOfMass(at=middle, axes="xz", priority=2, name="balance"),
        MomentOfInertia("x", HUGE, priority=3, name="spread"),
    ]
    return _human("Spreads out as far as feet and balance allow; ask for 0 to curl up", tasks)


def balanced_chain() -> Scene:
    """Figure 7.9."""
    links = 10
    stalk = chain("Z" * links, lengths=[0.1] * links, limits=90)
    tasks = [
        CenterOfMass(at=(0, 0, 0), axes="x", priority=1, name="balance"),
        Position("tip", at=(0.5, 0.6, 0), axes="xy", priority=2, name="tip"),
    ]
    start = stalk.posture(np.array([0.3, -0.3] * (links // 2)))
    return Scene(stalk, tasks, start=start, description="How far does a chain reach that must not fall over?")


def hands_together() -> Scene:
    """Figure 7.10."""
    human = built_in("human")
    tasks = [
        *_feet(human),
        Position("left_hand", at=(0, 0, 0), relative_to="right_hand", priority=1, name="hands together"),
        CenterOfMass(over=FEET, margin=0.01, priority=2, name="balance"),
        Position("right_hand", at=(0, 1.0, 0.9), priority=3, name="reach"),
    ]
    return _human("Both hands together, as far as balance allows", tasks)


def fly_on_a_beam() -> Scene:
    """Figures 7.11 and 7.12."""
    human = built_in("human")
    fly, right = (-1.5, 1.2, 0.6), human.pose_of("right_foot", STANDING).position
    tasks = [
        *_feet(human),
        CenterOfMass(at=right, axes="xz", priority=2, name="weight on the right foot"),
        LookAt("eyes", at=fly, priority=3, name="gaze"),
        Position("right_hand", at=fly, priority=4, name="hand"),
    ]
    beam = Obstacle(Box((1.2, 0.12, 0.3)), Pose((0.0, -0.08, 0.04)), name="beam")
    return _human("Stands on a beam, looks at a fly and reaches for it", tasks, obstacles=[beam])


def ball_and_cylinder() -> Scene:
    """Figure 7.13, with the order of table 7.1; nothing stands above what stands in the way."""
    human, ball = built_in("human"), (-0.3, 1.0, 0.75)
    tasks: list[Task] = [
        *(Frame(foot, human.pose_of(foot, STANDING), name=foot.replace("_", " "), priority=2) for foot in FEET),
        CenterOfMass(over=FEET, margin=MARGIN, priority=3, name="balance"),
        LookAt("eyes", at=ball, priority=4, name="gaze"),
        Position("right_hand", at=ball, priority=5, name="reach"),
    ]
    upright = turn("x", 90.0)
    post = Obstacle(Cylinder(0.12, 0.9), Pose((0.1, 0.45, 0.55), upright), name="cylinder")
    about = "Looks at a ball and reaches for it past a cylinder: move the ball away, or the cylinder near"
    return _human(about, tasks, obstacles=[post])


def flexed_legs() -> Scene:
    """Figure 7.14."""
    thing = (0.0, 1.15, 0.35)
    tasks = [
        *_feet(built_in("human")),
        CenterOfMass(over=FEET, margin=MARGIN, priority=2, name="balance"),
        *_hands([(0.15, *thing[1:]), (-0.15, *thing[1:])], "hand"),
        LookAt("eyes", at=thing, priority=4, name="gaze"),
    ]
    return _human("Holds something, and bends its legs", tasks, criteria=[Flex(joints=LEGS)])


def _leaning(description: str, more: Sequence[Task], forces: Sequence[Load]) -> Scene:
    tasks = [*_feet(built_in("human")), Equilibrium(priority=2, name="equilibrium"), *more]
    return _human(description, tasks, forces=forces)


def on_one_foot() -> Scene:
    """Figure 7.15."""
    return _leaning(
        "The right foot bears 0.9 of the weight", [], (Support("left_foot", 0.1), Support("right_foot", 0.9))
    )


def pulling() -> Scene:
    """Figure 7.16."""
    hand = Position("right_hand", at=(-0.4, 1.2, 0.4), priority=3, name="hand")
    return _leaning("NodeForces with 100 N, and leans back", [hand], (Force("right_hand", (0, 0, 100)), *OPEN))


def pushing() -> Scene:
    """Figure 7.17."""
    forces: list[Load] = [*(Force(f"{side}_hand", (0, 0, -60)) for side, _ in SIDES), *OPEN]
    return _leaning("Pushes with 120 N", _hands([(0.25, 1.2, 0.5), (-0.25, 1.2, 0.5)], "hand"), forces)


def twisting() -> Scene:
    """Figure 7.18."""
    more = [*_hands([(0.25, 1.1, 0.4), (-0.25, 1.1, 0.4)], "hand"), LookAt("eyes", at=(0, 1.1, 0.4), priority=4)]
    forces = (Force("left_hand", (0, 0, 60)), Force("right_hand", (0, 0, -60)), *OPEN)
    return _leaning("Turns something heavy", more, forces)


THESIS: dict[str, Callable[[], Scene]] = {
    "7.3 A scapula that slides": sliding_scapula,
    "7.4 Hip and knee": hip_and_knee,
    "7.5 A loop as a task": loop_as_a_task,
    "7.6 Around a ball": around_a_ball,
    "7.7 A ring spreads": spread_ring,
    "7.8 A person spreads": spread_person,
    "7.9 A balanced chain": balanced_chain,
    "7.10 Hands together": hands_together,
    "7.11–7.12 A fly on a beam": fly_on_a_beam,
    "7.13 Ball and cylinder": ball_and_cylinder,
    "7.14 Flexed legs": flexed_legs,
    "7.15 Weight on one foot": on_one_foot,
    "7.16 Pulling": pulling,
    "7.17 Pushing": pushing,
    "7.18 Twisting": twisting,
}
"""Scenes of the menu, by figure of the thesis."""
