"""Differences between the solvers that turn one joint at a time or follow the Jacobian."""

import math

import numpy as np
import pytest

import poise
from poise import chains
from poise.chains.jacobian import MAX_DAMPED_STEP, MAX_JOINT_STEP

LAMP = poise.chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=90)


def questions(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield LAMP.pose_of("tip", LAMP.random(rng)).position, LAMP.random(rng)


def test_no_sweep_of_ccd_makes_the_error_larger():
    for target, start in questions(20, 1):
        result = chains.ccd(LAMP, target, start=start, trace=True)
        places = [LAMP.pose_of("tip", q).position for q in (start.q, *result.trace)]
        errors = np.linalg.norm(np.array(places) - target, axis=1)
        assert (np.diff(errors) <= 1e-12).all()


def test_ccd_turns_the_joint_next_to_the_tip_first_and_bwcd_the_one_next_to_the_root():
    chain = poise.chain("XXX", lengths=[0.3] * 3, limits=170)
    target = poise.facing((0.0, 1.0, 1.0), roll=None)
    assert np.flatnonzero(chains.ccd(chain, target).posture.q).tolist() == [2]
    assert np.flatnonzero(chains.bwcd(chain, target).posture.q).tolist() == [0]


def test_bwcd_of_postures_faces_every_direction_regardless_of_limits():
    rng = np.random.default_rng(2)
    for _ in range(30):
        direction = rng.normal(size=3)
        result = chains.bwcd(LAMP, poise.facing(direction, roll=None), start=LAMP.random(rng), form="posture")
        assert result.status == "solved"
        pointed = LAMP.pose_of("tip", result.posture).matrix[:, 1]
        assert pointed == pytest.approx(direction / np.linalg.norm(direction), abs=1e-6)
    with pytest.raises(poise.TaskError, match="bwcd of postures takes a direction, and the target is an orientation"):
        chains.bwcd(LAMP, poise.facing("x"), form="posture")
    with pytest.raises(poise.TaskError, match="forms 'solution' and 'posture'"):
        chains.bwcd(LAMP, poise.facing("x"), form="shape")
    with pytest.raises(poise.TaskError, match="cannot hold 'joint_2'"):
        chains.bwcd(LAMP, poise.facing("x"), hold=["joint_2"])


@pytest.mark.parametrize("solver", [chains.jacobian_transpose, chains.pseudoinverse, chains.dls, chains.sdls])
def test_no_step_turns_a_joint_too_far(solver):
    for target, start in questions(10, 3):
        result = solver(LAMP, target, start=start, limits=False, trace=True, max_iterations=200)
        steps = np.diff(np.vstack([start.q, result.trace]), axis=0)
        assert np.abs(steps).max(initial=0.0) <= MAX_JOINT_STEP + 1e-12
        if solver is chains.dls:
            assert np.linalg.norm(steps, axis=1).max(initial=0.0) <= MAX_DAMPED_STEP + 1e-12


def test_next_to_a_target_the_error_is_squared_by_every_step():
    posture = LAMP.posture([0.3, 0.4, 0.5, 0.3, 0.1])
    target = LAMP.pose_of("tip", posture).position
    for solver in (chains.pseudoinverse, chains.dls, chains.sdls):
        result = solver(LAMP, target, start=posture.q + 0.03, tolerance=1e-13, trace=True)
        errors = np.linalg.norm([LAMP.pose_of("tip", q).position - target for q in result.trace], axis=1)
        assert result.iterations <= 5
        assert errors[1] < 20.0 * errors[0] ** 2


def test_joints_at_their_limits_leave_their_share_to_the_others():
    chain = poise.chain("ZZZ", lengths=[0.3] * 3, limits=[(-10, 10), (-120, 120), (-120, 120)])
    target = chain.pose_of("tip", np.radians([10.0, 80.0, 60.0])).position
    start = np.radians([10.0, 20.0, 30.0])
    for solver in (chains.dls, chains.sdls, chains.pseudoinverse):
        result = solver(chain, target, start=start)
        assert result.status == "solved"
        assert chain.violations(result.posture) == []


def test_slides_and_balls_take_part():
    figure = poise.load("all_joints")
    tip = figure.sites.names[-1] if len(figure.sites) else figure.bodies.names[-1]
    figure = figure.replaced(couplings=(), loops=())
    rng = np.random.default_rng(4)
    solved = {"ccd": 0, "dls": 0}
    for _ in range(10):
        there, start = figure.random(rng), figure.random(rng)
        start = figure.adopt(start)
        base = [joint.name for joint in figure.joints if joint.kind == "free"]
        there = there.changed({name: start[name] for name in base})
        target = figure.pose_of(tip, there).position
        for name in solved:
            result = getattr(chains, name)(figure, target, start=start, tip=tip)
            assert figure.violations(result.posture) == []
            solved[name] += result.status == "solved"
    assert min(solved.values()) >= 7


def test_a_point_can_be_looked_at_with_a_roll():
    there = LAMP.posture([0.3, 0.4, 0.5, 0.3, 0.1])
    frame = LAMP.pose_of("tip", there)
    level = poise.facing(frame.matrix[:, 1]).aim(LAMP.up_vector, frame.position).rotation
    twist = poise.Pose(rotation=level).inverse() @ frame
    roll = 2.0 * math.atan2(twist.rotation[2], twist.rotation[0])
    target = poise.at(frame.position + 1.5 * frame.matrix[:, 1], roll=roll)
    for solver in (chains.ccd, chains.dls):
        result = solver(LAMP, target, start=there.q + 0.2)
        found = LAMP.pose_of("tip", result.posture)
        wanted = target.aim(LAMP.up_vector, found.position).rotation
        assert result.status == "solved"
        assert abs(float(np.array(wanted) @ found.rotation)) > 1.0 - 1e-12


def test_two_priorities_face_first_and_then_come_near_a_posture():
    rng = np.random.default_rng(6)
    chain = poise.load("erik_g")
    nearer = 0
    for _ in range(20):
        target = chain.pose_of("tip", chain.random(rng)).rotation
        start, wished = chain.random(rng), chain.random(rng)
        alone = chains.dls(chain, target, start=start)
        both = chains.two_priority_dls(chain, target, start=start, posture=wished)
        assert chain.violations(both.posture) == []
        nearer += np.abs(both.posture.q - wished.q)[1:-1].sum() < np.abs(alone.posture.q - wished.q)[1:-1].sum()
    assert nearer >= 18


def test_two_priorities_keep_the_posture_that_already_faces_the_target():
    for target, start in questions(5, 7):
        del target
        wanted = LAMP.pose_of("tip", start).rotation
        result = chains.two_priority_dls(LAMP, wanted, start=start)
        assert (result.iterations, result.posture) == (0, start)


def test_two_priorities_pay_for_limits():
    rng = np.random.default_rng(8)
    asked = [(LAMP.pose_of("tip", LAMP.random(rng)).rotation, LAMP.random(rng)) for _ in range(60)]

    def met(solver, **options):
        return np.mean([solver(LAMP, wanted, start=start, **options).status == "solved" for wanted, start in asked])

    assert met(chains.two_priority_dls, limits=False) > 0.95
    assert met(chains.two_priority_dls) < met(chains.dls)


@pytest.mark.parametrize("solver", [chains.jacobian_transpose, chains.pseudoinverse, chains.dls, chains.sdls])
def test_the_bounds_of_a_step_are_options(solver):
    target, start = next(questions(1, 9))
    for bound, most in (("max_joint_step", 0.02), ("max_error", 0.01)):
        result = solver(LAMP, target, start=start, trace=True, max_iterations=30, **{bound: most})
        steps = np.abs(np.diff([start.q, *result.trace], axis=0)).max(axis=1)
        wide = solver(LAMP, target, start=start, trace=True, max_iterations=30)
        assert steps[0] < np.abs(wide.trace[0] - start.q).max()
        assert bound != "max_joint_step" or steps.max() <= most + 1e-12
    for wrong in (0.0, -1.0, math.nan, math.inf, "wide"):
        with pytest.raises(poise.TaskError, match=r"max_error of .* must be a positive number"):
            solver(LAMP, target, max_error=wrong)


def test_a_smaller_damped_step_damps_more():
    target, start = next(questions(1, 10))
    lengths = [
        np.linalg.norm(
            chains.dls(LAMP, target, start=start, max_iterations=1, max_damped_step=b, limits=False).posture.q - start.q
        )
        for b in (0.01, 0.1)
    ]
    assert lengths[0] <= 0.01 + 1e-12
    assert lengths[0] < lengths[1]
