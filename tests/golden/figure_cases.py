"""Cases without a goal: kinematics, limits, loops, distances and forces."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

import poise
from poise import Force, Gravity, Support
from poise.figure.collision.collisions import Collisions
from poise.forces import balance, equilibrium_error, find_reactions, joint_torques, support_forces
from tests.golden.questions import (
    FEET,
    FIGURES,
    LOOPED,
    Case,
    FloatArray,
    direction,
    obstacles_for,
    packed,
    random_for,
    random_posture,
    site_of,
    size_of,
    status_code,
)


def kinematics() -> Iterator[Case]:
    """Frames, Jacobians, masses and limits of every figure."""

    def measure(name: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("kinematics", name)
        posture, other, site = figure.random(rng), figure.random(rng), site_of(name)
        pose = figure.pose_of(site, posture)
        values: list[ArrayLike] = [posture.q, pose.position, pose.rotation, figure.jacobian(site, posture)]
        values += [figure.difference(posture, other), figure.gravity_torques(posture), figure.closure_error(posture)]
        values += [figure.center_of_mass(posture), figure.moment_of_inertia(posture, "y")]
        return packed(*values, figure.integrate(posture, rng.normal(size=figure.nv)).q)

    def clamp(name: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("clamp", name)
        outside = figure.integrate(figure.random(rng), 2.0 * rng.normal(size=figure.nv))
        broken = figure.violations(outside)
        inside = figure.clamp(outside)
        near = figure.clamp(outside, previous=figure.neutral())
        return packed(inside.q, near.q, [v.excess for v in broken], counts=[len(broken)])

    for name in FIGURES:
        yield f"{name} measured", partial(measure, name)
        yield f"{name} clamped", partial(clamp, name)


def assembly() -> Iterator[Case]:
    """Mechanisms assembled at motor values that are possible, impossible, and from open starts."""

    def answer(name: str, kind: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("assembly", name, kind)
        motors = figure.assemble({}).motors
        far = 0.15 if kind == "near" else 1.5
        asked = {
            motor: np.asarray(value) + far * rng.uniform(-1, 1, np.shape(value)) for motor, value in motors.items()
        }
        if kind == "one motor":
            asked = dict(list(asked.items())[:1])
        elif kind == "open start":
            asked = {}
        near = figure.random(rng) if kind == "open start" else None
        found = figure.assemble(asked, near=near, restarts=3 if kind == "restarts" else 0)
        values = [np.asarray(value) for value in found.motors.values()]
        counts = [status_code(found), len(found.missed), len(found.fighting), len(found.stopped)]
        return packed(found.posture.q, *values, list(found.missed.values()), found.gap, counts=counts)

    def frames(name: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("assembly frames", name)
        time = np.linspace(0.0, 2.0 * np.pi, 40)
        motors = {m: v for m, v in figure.assemble({}).motors.items() if np.ndim(v) == 0}
        paths = {m: v + 0.1 * rng.random() * np.sin(time + rng.uniform(0, 6)) for m, v in motors.items()}
        postures, shares = figure.assembler.frames(paths, figure.neutral())
        return packed(postures[9::10], shares)

    for name in LOOPED:
        for kind in ("near", "far", "one motor", "open start", "restarts"):
            yield f"{name}: {kind}", partial(answer, name, kind)
        yield f"{name}: frames", partial(frames, name)


def distances() -> Iterator[Case]:
    """How near the parts of every figure are to each other and to obstacles."""

    def answer(name: str) -> FloatArray:
        figure, rng = poise.load(name), random_for("distances", name)
        reach = 0.2 * size_of(figure)
        looked = Collisions(figure, obstacles_for(figure, site_of(name), rng), reach=reach)
        near = looked.at(random_posture(figure, rng))
        numbers = [(n.distance, *n.point_a, *n.point_b) for n in near[:20]]
        return packed(numbers, counts=[len(near), len(looked.pairs)])

    for name in FIGURES:
        yield name, partial(answer, name)


def forces() -> Iterator[Case]:
    """Joint torques of every figure; supports, reactions and balance of those with feet."""

    def held(name: str) -> FloatArray:
        figure, site, rng = poise.load(name), site_of(name), random_for("torques", name)
        posture = random_posture(figure, rng)
        loads = [Force(site, 20.0 * direction(rng), direction(rng), axes="site"), Gravity([0.5, -9.0, 1.0])]
        pushed = figure.wrench_torques(site, posture, 10.0 * direction(rng))
        return packed(joint_torques(figure, posture, loads), pushed)

    def standing(name: str, seed: int) -> FloatArray:
        figure, rng = poise.load(name), random_for("standing", name, seed)
        figure = figure if name == "human" else figure.with_floating_base()
        rates = rng.normal(size=figure.nv) * 0.1
        posture = figure.integrate(figure.neutral(), rates * (np.arange(figure.nv) >= 6))
        site = site_of(name) if name == "human" else "pelvis"
        push = Force(site, 0.2 * figure.mass * direction(rng))
        share = 0.3 + 0.4 * float(rng.random())
        shared = [push, Support(FEET[0], share), Support(FEET[1], 1.0 - share)]
        free = [push, *(Support(foot, friction=0.5) for foot in FEET)]
        moment = equilibrium_error(figure, posture, shared)
        found = find_reactions(figure, posture, free)
        stands = balance(figure, posture, free)
        values: list[ArrayLike] = [moment.error, moment.jacobian, stands.margin, stands.region]
        values += [found.rest_force, found.rest_moment, found.contact_force]
        values += [*support_forces(figure, posture, shared).values()]
        torques = joint_torques(figure, posture, free, reactions=found)
        return packed(*values, torques, counts=[found.balanced, stands.balanced])

    for name in FIGURES:
        yield f"{name} held", partial(held, name)
    for name in ("human", "walker"):
        for seed in range(5):
            yield f"{name} standing {seed}", partial(standing, name, seed)
