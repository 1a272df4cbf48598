"""Cases of `poise.solve` and `poise.reach`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import (
    Avoid,
    CenterOfMass,
    Comfort,
    Custom,
    Equilibrium,
    Extend,
    Figure,
    Flex,
    Force,
    Frame,
    Gradient,
    Hold,
    LeastTorque,
    LookAt,
    MomentOfInertia,
    NearPosture,
    Obstacle,
    Orientation,
    Pose,
    Position,
    Posture,
    StayStill,
    Support,
    TurnSlowly,
)
from poise.figure.model.shapes import Capsule
from tests.golden.questions import (
    FEET,
    FIGURES,
    OPEN,
    Case,
    FloatArray,
    Random,
    direction,
    obstacles_for,
    packed,
    random_for,
    random_posture,
    rounded_path,
    site_of,
    size_of,
    solved,
    status_code,
)


def solve_one_site() -> Iterator[Case]:
    """One site of every figure: reachable, out of reach, conflicting, from random starts, stopped early."""

    def answer(name: str, kind: str) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("one site", name, kind)
        pose = figure.pose_of(site, random_posture(figure, rng))
        far = pose.position + 2.0 * size_of(figure) * direction(rng)
        start = random_posture(figure, rng)
        rest = Hold(figure.neutral(), priority=9)
        options: dict[str, Any] = {}
        if kind == "position":
            tasks = [Position(site, at=pose.position)]
        elif kind == "frame from a random start":
            tasks, options = [Frame(site, pose), rest], {"start": start}
        elif kind == "out of reach":
            tasks = [Position(site, at=far)]
        elif kind == "conflict":
            tasks = [Position(site, at=pose.position), Position(site, at=far, weight=0.3), rest]
        elif kind == "levels":
            turned = Orientation(site, rotation=pose.rotation, priority=2)
            tasks = [Position(site, at=far, axes="xz"), turned, LookAt(site, at=far, priority=3), rest]
        else:
            tasks, options = [Frame(site, pose), rest], {"start": start, "max_steps": 3}
        return solved(poise.solve(figure, tasks, **options))

    kinds = ("position", "frame from a random start", "out of reach", "conflict", "levels", "stopped early")
    for name in FIGURES:
        for kind in kinds:
            yield f"{name}: {kind}", partial(answer, name, kind)


def solve_many_levels() -> Iterator[Case]:
    """Five priority levels of the human and of the walker, with targets at random."""

    def human_levels(seed: int) -> FloatArray:
        human, rng = poise.load("human"), random_for("levels of the human", seed)
        left, right = (human.pose_of(f"{side}_hand", "standing").position for side in ("left", "right"))
        reach = (0.3, 0.8, 1.6)[seed % 3]
        tasks = [
            *(Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in FEET),
            CenterOfMass(over=FEET, margin=0.02, priority=2),
            LookAt("eyes", at=right + 2.0 * direction(rng), priority=3),
            Position("right_hand", at=right + reach * direction(rng), priority=4, gain=0.5 + 0.5 * rng.random()),
            Position("left_hand", at=left + reach * direction(rng), priority=4, weight=2.0),
            Hold(human.random(rng), priority=5),
        ]
        start = human.random(rng) if seed % 2 else human.posture("standing")
        return solved(poise.solve(human, tasks, start=start, restarts=1 if seed % 8 == 7 else 0, seed=seed))

    def walker_levels(seed: int) -> FloatArray:
        walker, rng = poise.load("walker").with_floating_base(), random_for("levels of the walker", seed)
        pelvis = walker.pose_of("pelvis", walker.neutral())
        tasks = [
            *(Frame(foot, walker.pose_of(foot, walker.neutral()), priority=1) for foot in FEET),
            CenterOfMass(over=FEET, priority=2),
            Position("pelvis", at=pelvis.position + rng.uniform(0.02, 0.2) * direction(rng), priority=3),
            Orientation("pelvis", rotation=pelvis.rotation, priority=4),
        ]
        return solved(poise.solve(walker, tasks))

    for seed in range(24):
        yield f"human {seed}", partial(human_levels, seed)
    for seed in range(8):
        yield f"walker {seed}", partial(walker_levels, seed)


def human_tasks(human: Figure, rng: Random) -> dict[str, list[Any]]:
    """One or two tasks of every kind, by what they show."""
    hand = human.pose_of("right_hand", human.random(rng))
    arm = ["right_shoulder", "right_elbow"]

    def hands_level(posture: Posture) -> float:
        left, right = (human.pose_of(side, posture).position for side in ("left_hand", "right_hand"))
        return float(left[1] - right[1])

    def mass_low(posture: Posture) -> FloatArray:
        return human.center_of_mass(posture) - [0.0, 0.8, 0.0]

    return {
        "offset": [Position("right_hand", at=hand.position, offset=[0, 0.1, 0])],
        "plane": [Position("right_hand", at=hand.position, axes="y")],
        "slanted plane": [Position("right_hand", at=hand.position, axes=[[0.6, 0.8, 0]])],
        "relative place": [Position("right_hand", at=[-0.3, 0, 0], relative_to="left_hand")],
        "turn": [Orientation("right_hand", rotation=hand.rotation)],
        "relative turn": [Orientation("right_hand", rotation=hand.rotation, axes="xz", relative_to="chest")],
        "weighted frame": [Frame("right_hand", hand, weight=[1, 1, 1, 0.1, 0.1, 0.1])],
        "look at": [LookAt("eyes", at=hand.position)],
        "look along": [LookAt("chest", direction=[0.5, 0, 1], axis="z")],
        "balance": [CenterOfMass(over=FEET, margin=0.01), Position("right_hand", at=hand.position, priority=2)],
        "mass at a place": [CenterOfMass(at=[0.1, 1.0, 0.1], axes="xz")],
        "curl up": [MomentOfInertia("y", 0.5), Hold("standing", priority=2)],
        "hold some joints": [Hold({"left_elbow": 0.8}, joints=["left_elbow"]), Hold("sitting", priority=2)],
        "still": [Position("right_hand", at=hand.position), StayStill(weight=1e-2)],
        "slow": [Position("right_hand", at=hand.position), TurnSlowly(speed=4.0, rate=60.0)],
        "some joints": [Position("right_hand", at=hand.position, joints=arm)],
        "nearest branch": [Frame("right_hand", hand, joints="nearest branch"), Hold("standing", priority=2)],
        "some joints, then all": [
            Position("right_hand", at=hand.position, joints=arm),
            LookAt("eyes", at=hand.position, joints="nearest branch", priority=2),
            Position("left_hand", at=hand.position, priority=3),
        ],
        "custom": [Custom(hands_level), Position("right_hand", at=hand.position, priority=2)],
        "custom with its Jacobian": [Custom(mass_low, human.center_of_mass_jacobian, size=3)],
        "inactive": [Position("right_hand", at=hand.position), LookAt("eyes", at=[0, 0, -9], active=False)],
    }


def solve_tasks() -> Iterator[Case]:
    """Tasks of every kind on the human, from rest and from a random start."""

    def answer(kind: str, is_random: bool) -> FloatArray:
        human = poise.load("human")
        rng = random_for("tasks", kind)
        tasks = human_tasks(human, rng)[kind]
        return solved(poise.solve(human, tasks, start=human.random(rng) if is_random else "standing"))

    for kind in human_tasks(poise.load("human"), random_for("names")):
        yield f"{kind} from rest", partial(answer, kind, False)
        yield f"{kind} from a random start", partial(answer, kind, True)


def solve_criteria() -> Iterator[Case]:
    """What is done with the freedom that a task leaves."""

    def answer(name: str, kind: str) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("criteria", name, kind)
        wanted = random_posture(figure, rng)
        neutral = figure.neutral()
        criteria = {
            "near a posture": [NearPosture(wanted)],
            "comfort": [Comfort()],
            "flex": [Flex(weight=0.5)],
            "extend": [Extend()],
            "least torque": [LeastTorque()],
            "several": [LeastTorque(weight=0.5), NearPosture(neutral, weight=0.1), Comfort(weight=0.2)],
            "gradient": [Gradient(lambda posture: -figure.difference(posture, neutral))],
        }[kind]
        tasks = [Position(site, at=figure.pose_of(site, random_posture(figure, rng)).position)]
        forces = [Force(site, force=[0, -10, 5])]
        return solved(poise.solve(figure, tasks, criteria=criteria, forces=forces))

    kinds = ("near a posture", "comfort", "flex", "extend", "least torque", "several", "gradient")
    for name in ("human", "cyclist", "hand", "boxer"):
        for kind in kinds:
            yield f"{name}: {kind}", partial(answer, name, kind)
    for name in ("arm", "snake", "walker", "dancer"):
        for kind in ("near a posture", "comfort", "least torque"):
            yield f"{name}: {kind}", partial(answer, name, kind)


def solve_avoiding() -> Iterator[Case]:
    """Sites pushed at obstacles, at themselves, and live past an obstacle that moves."""

    def pushed(name: str, seed: int) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("avoiding", name, seed)
        obstacles = obstacles_for(figure, site, rng)
        target = obstacles[seed % 2].pose.position
        tasks = [Position(site, at=target), Hold(figure.neutral(), priority=2)]
        margin = 0.01 * size_of(figure)
        return solved(poise.solve(figure, [*tasks, Avoid(obstacles, margin=margin, reach=20.0 * margin)], max_steps=60))

    def folded(name: str) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("folded", name)
        root = figure.pose_of(figure.roots[0], figure.neutral()).position
        task = Position(site, at=root + 0.1 * size_of(figure) * direction(rng))
        return solved(poise.solve(figure, [task], avoid_self=True, start=figure.random(rng), max_steps=60))

    def moving(name: str) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("moving obstacle", name)
        place = figure.pose_of(site, figure.neutral()).position
        ball = Obstacle(Capsule(0.08, 0.2), name="ball")
        solver = poise.Solver(figure, [Position(site, at=place), Hold(figure.neutral(), priority=2)], obstacles=[ball])
        posture, seen = figure.neutral(), []
        for k, center in enumerate(rounded_path(place, 0.3, rng, 30)):
            solver.move(ball, Pose(center))
            posture = solver.step(posture)
            seen += [posture.q] if k % 6 == 5 else []
        return packed(seen)

    for name in ("human", "cyclist", "arm", "snake", "adelino", "erik_g", "hand", "walker", "stewart", "serial12"):
        for seed in range(2):
            yield f"{name} pushed {seed}", partial(pushed, name, seed)
    for name in ("human", "hand", "snake", "arm", "cyclist", "boxer"):
        yield f"{name} folded", partial(folded, name)
    for name in ("human", "arm", "snake", "erik_e"):
        yield f"{name} and a moving obstacle", partial(moving, name)


def solve_forces() -> Iterator[Case]:
    """A human in equilibrium under forces, with shared and with open supports."""
    open_feet = tuple(Support(foot) for foot in FEET)
    ball = Position("right_hand", at=(-0.4, 1.2, 0.4), priority=3)
    hands = [Position(f"{s}_hand", at=(x, 1.2, 0.5), priority=3) for s, x in (("left", 0.25), ("right", -0.25))]
    questions: dict[str, tuple[list[Any], tuple[Any, ...]]] = {
        "both feet alike": ([], (Support("left_foot", 0.5), Support("right_foot", 0.5))),
        "more on the right foot": ([], (Support("left_foot", 0.1), Support("right_foot", 0.9))),
        "carrying": ([ball], (Force("right_hand", (0, -80, 0)), *open_feet)),
        "pulling": ([ball], (Force("right_hand", (0, 0, 100)), *open_feet)),
        "pushing": (hands, (*(Force(f"{s}_hand", (0, 0, -60)) for s in ("left", "right")), *open_feet)),
        "pushed too hard": ([ball], (Force("right_hand", (0, 0, 900)), *open_feet)),
    }

    def answer(kind: str) -> FloatArray:
        human, (more, loads) = poise.load("human"), questions[kind]
        feet = [Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in FEET]
        tasks = [*feet, Equilibrium(priority=2), *more]
        return solved(poise.solve(human, tasks, start="standing", forces=loads, max_steps=60))

    for kind in questions:
        yield kind, partial(answer, kind)


def other_roots() -> Iterator[Case]:
    """Figures hung from another body, floating figures, and a scene from a file."""

    def rerooted(name: str, body: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("rerooted", name, body)
        posture = random_posture(figure, rng)
        other = figure.rerooted(body, posture)
        site = site_of(name)
        target = other.pose_of(site, other.neutral()).position + 0.1 * size_of(figure) * direction(rng)
        found = poise.solve(other, [Position(site, at=target), Hold(other.neutral(), priority=2)])
        return np.concatenate([solved(found), other.adopt(posture).q])

    def floating(name: str) -> FloatArray:
        figure, rng = poise.load(name).with_floating_base(), random_for("floating", name)
        tasks = [Frame(site_of(name), figure.pose_of(site_of(name), random_posture(figure, rng)))]
        return solved(poise.solve(figure, [*tasks, Hold(figure.random(rng), priority=2)]))

    def scene() -> FloatArray:
        return solved(poise.Scene.load(Path(__file__).parents[2] / "examples" / "scenes" / "reach.toml").solve())

    for name, body in (("human", "left_foot"), ("arm", "hand"), ("boxer", "upper_arm"), ("hand", "index_distal")):
        yield f"{name} hung from {body}", partial(rerooted, name, body)
    for name in ("arm", "adelino", "hand", "stewart", "walker", "boxer"):
        yield f"{name} floating", partial(floating, name)
    yield "scene from a file", scene


def reach() -> Iterator[Case]:
    """`poise.reach` on every figure without loops."""

    def answer(name: str, kind: str) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("reach", name, kind)
        pose, start = figure.pose_of(site, figure.random(rng)), figure.random(rng)
        asked: dict[str, dict[str, Any]] = {
            "position": {"position": pose.position},
            "pose": {"position": pose.position, "rotation": pose.rotation, "start": start},
            "out of reach": {"position": pose.position + 2.0 * size_of(figure) * direction(rng), "restarts": 5},
            "rotation": {"rotation": pose.rotation, "start": start, "hold": figure.moving_joints[-1:], "restarts": 8},
        }
        found = poise.reach(figure, site, **asked[kind])
        counts = [status_code(found), found.restarts, found.iterations]
        return packed(found.posture.q, found.position_error, found.rotation_error, counts=counts)

    for name in OPEN:
        for kind in ("position", "pose", "out of reach", "rotation"):
            yield f"{name}: {kind}", partial(answer, name, kind)
