"""The scenes of chapter 7 of the thesis [Baerlocher 2001]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from poise.engine.scene import Origin, Scene
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, turn
from poise.figure.model.shapes import Box, Cylinder, Sphere
from poise.figures import built_in
from poise.figures.people.likely_posture import FEET
from poise.figures.robots.chains import chain
from poise.forces.loads import Force, Load, Support
from poise.studio.scenes.openings import BALANCE_MARGIN, STANDING, standing_tasks
from poise.studio.scenes.shoulder import sliding_scapula
from poise.tasks.criteria import Criterion, Flex, Natural
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.obstacles import Obstacle
from poise.tasks.place import Frame, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task

SIDE_SIGNS = (("left", 1.0), ("right", -1.0))
LEGS = tuple(f"{side}_{joint}" for side, _ in SIDE_SIGNS for joint in ("hip", "knee", "ankle"))
FEET_SUPPORTS = (Support("left_foot"), Support("right_foot"))
UNREACHABLE_INERTIA = 100.0
"""Moment of inertia larger than that of any posture, so that the figure spreads as far as it can [kg m²]."""


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
        for (side, _), place in zip(SIDE_SIGNS, at, strict=True)
    ]


def hip_and_knee() -> Scene:
    """Figure 7.4: hands to the ground; the hamstrings couple hips and knees."""
    hands = _hands([(0.12, 0.05, 0.45), (-0.12, 0.05, 0.45)], "fingertips")
    back = Hold(STANDING, joints=["spine", "chest"], priority=4, name="straight back")
    tasks = [*standing_tasks(built_in("human")), *hands, back, Hold(STANDING, priority=5, name="standing")]
    return _human("Hands to the ground: short hamstrings force the knees to bend", tasks)


def loop_as_a_task() -> Scene:
    """Figure 7.5: a chain closed to a ring by a position task."""
    links, long = 10, 0.2
    ring = chain("Z" * links, lengths=[long] * links, limits=170)
    loop = Position("tip", at=(0, 0, 0), relative_to="base", axes="xy", priority=1, name="loop")
    pulls = [
        Position(f"segment_{k}", at=(*at, 0.0), offset=(0, long, 0), axes="xy", priority=2, name=f"pull {k}")
        for k, at in ((3, (-0.7, 0.3)), (7, (0.6, 0.6)))
    ]
    start = ring.posture(np.full(links, math.radians(30.0)))
    return Scene(ring, [loop, *pulls], start=start, description="The loop, a task of priority 1, stays closed")


def around_a_ball() -> Scene:
    """Figure 7.6: a chain that avoids a ball."""
    links, long = 10, 0.15
    arm = chain("Z" * links, lengths=[long] * links, limits=90)
    ball = Obstacle(Sphere(0.2), Pose(np.array([0.4, 0.55, 0.0])), name="ball")
    start = arm.posture(np.array([0.2, -0.1] * (links // 2)))
    tip = Position("tip", at=(0.8, 0.55, 0.0), axes="xy", name="tip")
    return Scene(arm, [tip], start=start, obstacles=[ball], description="Drag the tip around the ball")


def spread_ring() -> Scene:
    """Figure 7.7: a ring that maximises its moment of inertia."""
    links = 9
    ring = chain("Z" * links, lengths=[0.25] * links, limits=170)
    tasks = [
        Position("tip", at=(0, 0, 0), axes="xy", priority=1, name="loop"),
        CenterOfMass(at=(0.0, 0.2, 0.0), axes="xy", priority=2, name="centre"),
        MomentOfInertia("z", UNREACHABLE_INERTIA, priority=3, name="spread"),
    ]
    start = ring.posture(np.radians([-60.0, *[40.0] * (links - 1)]))
    return Scene(ring, tasks, start=start, description="A ring spreads its mass around a fixed centre of mass")


def spread_person() -> Scene:
    """Figure 7.8: a person who maximises the moment of inertia."""
    human = built_in("human")
    middle = np.mean([human.pose_of(foot, STANDING).position for foot in FEET], axis=0)
    tasks = [
        *_feet(human),
        CenterOfMass(at=middle, axes="xz", priority=2, name="balance"),
        MomentOfInertia("x", UNREACHABLE_INERTIA, priority=3, name="spread"),
    ]
    return _human("Spreads out as far as feet and balance allow; set the moment of inertia to 0 to curl up", tasks)


def balanced_chain() -> Scene:
    """Figure 7.9: a chain that keeps its centre of mass above its base while it reaches."""
    links = 10
    stalk = chain("Z" * links, lengths=[0.1] * links, limits=90)
    tasks = [
        CenterOfMass(at=(0, 0, 0), axes="x", priority=1, name="balance"),
        Position("tip", at=(0.5, 0.6, 0), axes="xy", priority=2, name="tip"),
    ]
    start = stalk.posture(np.array([0.3, -0.3] * (links // 2)))
    return Scene(stalk, tasks, start=start, description="The chain reaches as far as it can without falling over")


def hands_together() -> Scene:
    """Figure 7.10: two hands that stay together."""
    human = built_in("human")
    tasks = [
        *_feet(human),
        Position("left_hand", at=(0, 0, 0), relative_to="right_hand", priority=1, name="hands together"),
        CenterOfMass(over=FEET, margin=0.01, priority=2, name="balance"),
        Position("right_hand", at=(0, 1.0, 0.9), priority=3, name="reach"),
    ]
    return _human("The hands stay together and reach as far as balance allows", tasks)


def fly_on_a_beam() -> Scene:
    """Figures 7.11 and 7.12: looking at a fly and reaching for it, on a beam."""
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
    """Figure 7.13: reaching past a cylinder, with the priorities of table 7.1; avoiding it is above all tasks."""
    human, ball = built_in("human"), (-0.3, 1.0, 0.75)
    tasks: list[Task] = [
        *(Frame(foot, human.pose_of(foot, STANDING), name=foot.replace("_", " "), priority=2) for foot in FEET),
        CenterOfMass(over=FEET, margin=BALANCE_MARGIN, priority=3, name="balance"),
        LookAt("eyes", at=ball, priority=4, name="gaze"),
        Position("right_hand", at=ball, priority=5, name="reach"),
    ]
    upright = turn("x", 90.0)
    post = Obstacle(Cylinder(0.12, 0.9), Pose((0.1, 0.45, 0.55), upright), name="cylinder")
    about = "Looks at a ball and reaches past a cylinder: drag the ball away, or the cylinder closer"
    return _human(about, tasks, obstacles=[post])


def flexed_legs() -> Scene:
    """Figure 7.14: a criterion that flexes the legs."""
    thing = (0.0, 1.15, 0.35)
    tasks = [
        *_feet(built_in("human")),
        CenterOfMass(over=FEET, margin=BALANCE_MARGIN, priority=2, name="balance"),
        *_hands([(0.15, *thing[1:]), (-0.15, *thing[1:])], "hand"),
        LookAt("eyes", at=thing, priority=4, name="gaze"),
    ]
    return _human("Holds its hands in place and bends its legs", tasks, criteria=[Flex(joints=LEGS)])


def _leaning(
    description: str, more: Sequence[Task], forces: Sequence[Load], criteria: Sequence[Criterion] = ()
) -> Scene:
    tasks = [*_feet(built_in("human")), Equilibrium(priority=2, name="equilibrium"), *more]
    return _human(description, tasks, forces=forces, criteria=criteria)


def on_one_foot() -> Scene:
    """Figure 7.15: 90 % of the weight on the right foot."""
    return _leaning(
        "The right foot carries 90 % of the weight", [], (Support("left_foot", 0.1), Support("right_foot", 0.9))
    )


def pulling() -> Scene:
    """Figure 7.16: pulling with one hand."""
    hand = Position("right_hand", at=(-0.4, 1.2, 0.4), priority=3, name="hand")
    return _leaning("Pulls with 100 N and leans back", [hand], (Force("right_hand", (0, 0, 100)), *FEET_SUPPORTS))


def pushing() -> Scene:
    """Figure 7.17: pushing with both hands."""
    forces: list[Load] = [*(Force(f"{side}_hand", (0, 0, -60)) for side, _ in SIDE_SIGNS), *FEET_SUPPORTS]
    hands = _hands([(0.25, 1.35, 0.85), (-0.25, 1.35, 0.85)], "hand")
    return _leaning("Pushes with 120 N, leaning forward", hands, forces, [Natural()])


def twisting() -> Scene:
    """Figure 7.18: a couple of forces on both hands."""
    more = [*_hands([(0.25, 1.1, 0.4), (-0.25, 1.1, 0.4)], "hand"), LookAt("eyes", at=(0, 1.1, 0.4), priority=4)]
    forces = (Force("left_hand", (0, 0, 60)), Force("right_hand", (0, 0, -60)), *FEET_SUPPORTS)
    return _leaning("Turns a heavy wheel: one hand pulls, the other pushes", more, forces)


THESIS: dict[str, Callable[[], Scene]] = {
    "7.3 Sliding scapula": sliding_scapula,
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
"""Scenes of the menu, by their name there: the number of the thesis' figure and a title."""
