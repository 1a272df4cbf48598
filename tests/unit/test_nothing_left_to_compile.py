"""After `poise compile`, no public call compiles anything: every kind of task, criterion, limit and chain solver.

Each call is made with arguments as users give them: lists, whole numbers, arrays of other types and layouts.
`tests/conftest.py` refuses compilations, here and in the tests of examples, documents, readers and commands. A new kind
of task, criterion or chain solver needs an entry here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import poise
from poise import chains
from poise.engine.problem import StepSize
from poise.errors import UnmappedWarning
from poise.expressive.two_priority import TwoPriorityDls
from poise.figure import (
    BallLimits,
    Box,
    Builder,
    Capsule,
    Curve,
    Cylinder,
    Ellipse,
    Ellipsoid,
    Polygon,
    Region,
    Sphere,
    Twist,
    TwistTable,
    ball,
    free,
    revolute,
)
from poise.figures import built_in
from poise.motion.retarget.smoothing import Style
from poise.tasks.criteria import Criterion
from poise.tasks.custom import ComputedTask, Custom
from poise.tasks.kinds import all_kinds
from poise.tasks.task import Task
from tests.standing import five_joint_legs

MAX_STEPS = 3
SQUARE = ((1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1))
HOLE = ((0.1, 0.1, 1), (0.1, -0.1, 1), (-0.1, -0.1, 1), (-0.1, 0.1, 1))

CHAIN_SOLVERS = sorted({name for name in chains.__all__ if name.islower()} - {"circle_zones", "fabrik_points"})


def read_only() -> np.ndarray:
    array = np.array([0.1, 0.9, 0.4])
    array.flags.writeable = False
    return array


POINTS = {
    "a list": [0, 1, 1],
    "a tuple": (0.1, 1.1, 0.4),
    "whole numbers": np.array([0, 1, 1]),
    "single precision": np.array([0.1, 1.1, 0.4], dtype=np.float32),
    "read-only": read_only(),
    "strided": np.arange(6.0)[::2],
    "a column": np.asfortranarray(np.ones((3, 2)))[:, 0],
}


def unusual() -> poise.Figure:
    """A figure with the limits and couplings that no built-in figure has."""
    made = Builder("unusual")
    made.body("base", joint=free("base"), shapes=[Sphere(0.1)], mass=1)
    table = TwistTable((-1.0, 0.0, 1.0), (-1.0, 0.0, 1.0), np.full((3, 3), -1.0), np.full((3, 3), 1.0))
    limits = [
        BallLimits(Ellipse(1, 0.5), table),
        BallLimits(Region((Polygon(SQUARE), Polygon(HOLE))), Twist.between(-1, 1)),
    ]
    upper = "base"
    for i, limit in enumerate(limits):
        shape = [Capsule(0.05, 0.2), Box((0.1, 0.2, 0.1))][i]
        joint = ball(f"ball_{i}", limits=limit)
        upper = made.body(f"part_{i}", parent=upper, joint=joint, at=(0, 0.3, 0), mass=1, shapes=[shape])
    made.body("lower", parent=upper, joint=revolute("leads", "x", limits=(-1, 1), speed=2), at=(0, 0.3, 0), mass=1)
    hinge = revolute("follows", "z", limits=(-1, 1))
    made.body("last", parent="lower", joint=hinge, at=(0, 0.3, 0), mass=1, shapes=[Cylinder(0.05, 0.2)])
    made.follow("curved", "follows", "leads", Curve(points=((-1, -0.5), (0, 0), (1, 0.7))))
    made.site("tip", "last", at=(0, 0.2, 0))
    return made.build()


FIGURES: dict[str, Callable[[], tuple[poise.Figure, str, str]]] = {
    "human": lambda: (built_in("human"), "right_hand", "left_foot"),
    "human on one foot": lambda: (built_in("human").rerooted("left_foot"), "right_hand", "left_foot"),
    "human with fingers": lambda: (poise.human(eyes=True, fingers=True), "right_hand", "left_foot"),
    "arm": lambda: (built_in("arm"), "tip", "column"),
    "lamp that floats": lambda: (built_in("adelino").with_floating_base(), "tip", "base"),
    "walker": lambda: (built_in("walker"), "left_foot", "right_foot"),
    "unusual": lambda: (unusual(), "tip", "part_0"),
}
"""A figure, a site that moves, and another part."""


def tasks_of(figure: poise.Figure, site: str, part: str) -> dict[str, list[Task]]:
    """Tasks of each kind."""
    body = figure.sites[site].body
    there = poise.Pose((0.2, 0.9, 0.3), (1, 0, 0, 0))
    solids = [Box((0.2, 0.2, 0.2)), Capsule(0.1, 0.2), Cylinder(0.1, 0.2), Ellipsoid((0.1, 0.2, 0.3)), Sphere(0.1)]
    obstacles = [poise.Obstacle(shape, poise.Pose((1 + i, 0, 0))) for i, shape in enumerate(solids)]
    return {
        "avoid": [poise.Avoid([poise.Plane("y"), *obstacles, "self"])],
        "center_of_mass": [poise.CenterOfMass(at=(0, 1, 0)), poise.CenterOfMass(over=[part])],
        "custom": [Custom(lambda posture: np.array([posture.q[0]]))],
        "distance": [poise.Distance(site, part, 1)],
        "equilibrium": [poise.Equilibrium(forces=[poise.Support(part), poise.Force(site, (0, 1, 0))])],
        "frame": [poise.Frame(site, there), poise.Frame(site, there, relative_to=part)],
        "hold": [poise.Hold(figure.neutral()), poise.Hold(figure.neutral(), joints=[figure.moving_joints[-1]])],
        "look_at": [poise.LookAt(site, at=(1, 1, 1)), poise.LookAt(site, direction="x")],
        "moment_of_inertia": [poise.MomentOfInertia("y", 1)],
        "move_slowly": [poise.MoveSlowly(speed=1, rate=60)],
        "on_ellipsoid": [poise.OnEllipsoid(site, (0, 1, 0), (1, 1, 2)), poise.OnEllipsoid(site, (0, 1, 0), (1, 1, 1))],
        "orientation": [
            poise.Orientation(site, (1, 0, 0, 0)),
            poise.Orientation(site, (0, 1, 0, 0), axes="xy", own_axes=True),
        ],
        "position": [
            poise.Position(site, at=(0, 1, 1), axes="xz", weight=[1, 2]),
            poise.Position(site, at=(0, 1, 1), relative_to=part, offset=(0, 1, 0)),
            poise.Position(site, at=(0, 1, 1), joints="nearest branch"),
            poise.Position(site, at=(0, 1, 1), soft=True),
        ],
        "stay_still": [poise.StayStill()],
        "touch": [poise.Touch(body, "floor"), poise.Touch(body, "floor", at=(0, 0, 0), offset=(0, 0, 0))],
        "turn_slowly": [poise.TurnSlowly(speed=1, rate=60)],
    }


def criteria_of(figure: poise.Figure, part: str) -> dict[str, Criterion]:
    """A criterion of each kind."""
    return {
        "comfort": poise.Comfort(),
        "extend": poise.Extend(),
        "flex": poise.Flex(),
        "gradient": poise.Gradient(lambda posture: np.zeros(figure.nv)),
        "least_torque": poise.LeastTorque(forces=[poise.Support(part)]),
        "natural": poise.Natural(),
        "near_posture": poise.NearPosture(figure.neutral()),
    }


@pytest.fixture(params=FIGURES)
def parts(request):
    """A figure, a site that moves, and another part."""
    return FIGURES[request.param]()


def own_kinds(base: type[Task] | type[Criterion]) -> set[str]:
    """The words of poise's own kinds."""
    return {kind.kind for kind in all_kinds(base).values() if kind.__module__.startswith("poise.")}


def test_every_kind_of_task_is_here():
    human = FIGURES["human"]()
    assert (own_kinds(Task) | {"custom"}) - {ComputedTask.kind} == set(tasks_of(*human)), "tasks_of lacks a kind"
    assert own_kinds(Criterion) | {"gradient"} == set(criteria_of(human[0], human[2])), "criteria_of lacks a kind"


def test_every_kind_of_task(parts):
    figure, site, _ = parts
    refused = []
    for kind, tasks in tasks_of(*parts).items():
        for task in tasks:
            try:
                poise.solve(figure, [task], max_steps=MAX_STEPS).report()
                below = poise.Hold(figure.neutral(), priority=2)
                poise.Solver(figure, [task, below], dt=0.01).step(figure.neutral())
            except poise.PoiseError as problem:
                refused.append(f"{kind}: {problem}")
    assert len(refused) <= 4, refused  # such as the distance of two parts without a joint between them
    poise.solve(figure, [poise.Position(site, at=(0, 1, 0))], solid=True, avoid_self=True, max_steps=MAX_STEPS).report()


def test_every_kind_of_criterion(parts):
    figure, site, part = parts
    for criterion in criteria_of(figure, part).values():
        try:
            poise.solve(figure, [poise.Position(site, at=(0, 1, 0))], criteria=[criterion], max_steps=MAX_STEPS)
        except poise.TaskError as problem:
            assert "choose others by joints=" in str(problem)


def test_figures_answer_all_questions(parts):
    figure, site, part = parts
    posture = figure.posture(figure.random(1).q.astype(np.float32))
    figure.frames(posture)
    figure.jacobian(site, posture)
    figure.center_of_mass_jacobian(posture)
    figure.moment_of_inertia_gradient(posture, (0, 1, 0))
    figure.gravity_torques(posture)
    figure.wrench_torques(site, posture, (1, 2, 3), (0, 0, 1))
    figure.violations(posture)
    figure.clamp(posture, previous=figure.neutral())
    figure.closure_error(posture)
    figure.integrate(posture, np.zeros(figure.nv, dtype=np.float32))
    figure.rerooted(part).adopt(figure.neutral())
    figure.describe()
    poise.reach(figure.replaced(loops=()), site, position=[0, 1, 0], rotation=[1, 0, 0, 0], restarts=1)


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
def test_targets_of_any_type(point):
    human, arm, lamp = built_in("human"), built_in("arm"), built_in("adelino")
    tasks = [poise.Position("right_hand", at=point), poise.LookAt("eyes", at=point, priority=2)]
    solver = poise.Solver(human, tasks, obstacles=[poise.Obstacle(Sphere(0.1), poise.Pose(point), name="ball")])
    solver.target(tasks[0], point)
    solver.step(human.neutral())
    poise.solve(human, [poise.CenterOfMass(at=point)], max_steps=MAX_STEPS)
    poise.reach(human, "right_hand", position=point, restarts=1)
    for name in CHAIN_SOLVERS:
        target = poise.facing(point) if name in ("bwcd", "two_priority_dls") else point
        getattr(chains, name)(lamp if name in ("bwcd", "two_priority_dls") else arm, target, max_iterations=MAX_STEPS)
    for solve in (poise.Expressive(lamp), poise.Erik(lamp), poise.Erik(lamp, variant="2017"), TwoPriorityDls(lamp)):
        solve.solve(lamp.neutral(), poise.facing(point))
        solve.solve_batch(np.float32([lamp.neutral().q] * 2), np.array([[1, 0, 0, 0]] * 2))


def test_natural_motion_of_a_humanoid():
    figure = five_joint_legs().figure
    high = figure.pose_of("pelvis", figure.neutral()).position - (0.0, 0.0, 0.1)
    poise.solve(figure, [poise.Position("pelvis", at=high)], criteria=[poise.Natural()], max_steps=MAX_STEPS)


def test_chains_without_a_figure_and_zones():
    chains.circle_zones(built_in("arm"))
    chains.fabrik_points([[0, 0, 0], [0, 1, 0], [0, 2, 0]], [1, 1, 0])


@pytest.mark.parametrize("kind", [int, np.int32, np.float32, np.float16])
def test_step_sizes_of_any_type(kind):
    human, one = built_in("human"), kind(1)
    task = poise.Position("right_hand", at=(0, 1, 1), weight=one, gain=one)
    steps = [StepSize(number, number, number, number) for number in (one, 1.0)]
    first, second = (poise.Solver(human, [task], step=step, dt=one).step(human.neutral()) for step in steps)
    assert first.q.tobytes() == second.q.tobytes()


def test_retargeting_of_numbers_of_any_type():
    human = built_in("human")
    clip = poise.Clip(human, np.array([human.random(seed).q for seed in range(4)], dtype=np.float32), np.float32(30))
    style = Style(still=np.float32(1e-7), near=np.float32(1e-4), acceleration=np.float32(50))
    with pytest.warns(UnmappedWarning):
        poise.retarget(clip, built_in("walker"), {"left_foot": "left_foot"}, rate=np.float32(50), style=style)


def test_a_character_moves():
    live = poise.Character(built_in("adelino"), filter=poise.MotionFilter(velocity=6, acceleration=40, jerk=800))
    live.hold("curious")
    live.face([1, 0.3, 0.5])
    frames = live.frames(rate=60)
    assert len([next(frames) for _ in range(3)]) == 3
    motion = poise.MotionFilter(velocity=1, acceleration=1, jerk=1)
    motion.reset([0, 0])
    motion.step([1, 2], 0.01)
