"""The two-priority DLS: the posture never costs the orientation, and targets are put the right way up."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.evaluation.erik.sampling import samples
from poise.expressive.measures import Weights, scoring_of
from poise.expressive.two_priority import TwoPriorityDls, TwoPrioritySettings, two_priority_workspace
from poise.figure.model.pose import Pose, turn
from poise.kernels.chains.chain import segment_rotations, world_axis
from poise.kernels.gaze.measures import FULL, Aim, combined_error
from poise.kernels.gaze.two_priority import two_priority as kernel
from poise.kernels.maths.quaternion import Quaternion


def test_the_second_task_leaves_the_rotation_of_the_tip_alone() -> None:
    limb = chain_of(poise.load("erik_f"))
    options = kernel.TwoPriorityOptions(100, 0.04, 1.2, 1.2, 1)
    rng = np.random.default_rng(1)
    for _ in range(20):
        workspace = two_priority_workspace(6)
        workspace.angles[:] = rng.uniform(limb.chain.lower, limb.chain.upper)
        segment_rotations(limb.chain, workspace.angles, workspace.frames)
        jacobian = np.array([world_axis(limb.chain, workspace.frames, k) for k in range(6)]).T
        tip, goal = (
            Quaternion(*q.tolist())
            for q in (workspace.frames[5], samples(limb, 1, int(rng.integers(1000))).orientations[0])
        )
        kernel._first_task(limb.chain, options, goal, tip, FULL, workspace)
        first = workspace.step.copy()
        kernel._second_task(limb.chain, options, rng.uniform(-1, 1, 6), workspace)
        np.testing.assert_allclose(jacobian @ workspace.step, jacobian @ first, atol=1e-12)
        assert np.abs(workspace.step - first).max() > 1e-3


def test_undamped_it_is_the_pseudoinverse() -> None:
    limb = chain_of(poise.load("erik_f"))
    workspace = two_priority_workspace(6)
    workspace.angles[:] = [0.3, 0.5, -0.7, 0.4, 0.6, -0.2]
    segment_rotations(limb.chain, workspace.angles, workspace.frames)
    jacobian = np.array([world_axis(limb.chain, workspace.frames, k) for k in range(6)]).T
    goal = Quaternion(*(workspace.frames[5] + [0.0, 1e-4, -2e-4, 1e-4]).tolist())
    tip = Quaternion(*workspace.frames[5].tolist())
    kernel._first_task(limb.chain, kernel.TwoPriorityOptions(1, 0.0, 1.2, 1.2, 0), goal, tip, FULL, workspace)
    np.testing.assert_allclose(workspace.step, np.linalg.pinv(jacobian) @ workspace.residual[:3], atol=1e-12)
    np.testing.assert_allclose(workspace.projector, np.eye(6) - np.linalg.pinv(jacobian) @ jacobian, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_targets_are_put_where_ninety_degrees_reach_them(seed: int) -> None:
    """A target within ±90° of heading and roll stays; half a turn of roll more and it is turned back."""
    rng = np.random.default_rng(seed)
    heading, roll = rng.uniform(-1.5, 1.5, 2)
    tilt = rng.uniform(-math.pi, math.pi)
    upright, flipped = (
        (Pose(rotation=turn("y", h)) @ Pose(rotation=turn("x", v)) @ Pose(rotation=turn("y", t))).rotation
        for h, v, t in np.degrees([(heading, tilt, roll), (heading, tilt, roll + math.pi)])
    )
    for target in (upright, flipped):
        found = np.array(kernel.upright(Quaternion(*target.tolist())))
        assert abs(found @ upright) == pytest.approx(1.0, abs=1e-12)


def test_answers_are_legal_and_have_their_true_errors() -> None:
    figure = poise.load("erik_e")
    solver = TwoPriorityDls(figure, settings=TwoPrioritySettings(iterations=30))
    asked = samples(solver.limb, 60, 3)
    scoring = scoring_of(solver.limb, Weights())
    assert scoring.posture == 0.2
    for result in solver.solve_batch(asked.postures, asked.orientations):
        assert not figure.violations(result.posture)
        assert result.error == pytest.approx(result.orientation_error + 0.2 * result.posture_error, abs=1e-12)
        assert 1 <= result.iterations <= 30


@pytest.mark.parametrize("axes", ["X", "YX", "YXZ"])
def test_short_chains_are_solved_too(axes: str) -> None:
    figure = poise.chain(axes, lengths=[0.2] * len(axes))
    solver = TwoPriorityDls(figure)
    target = figure.pose_of("tip", figure.random(1)).rotation
    assert solver.solve(figure.neutral(), target).orientation_error < 0.06


def test_settings_that_take_no_step_are_refused() -> None:
    with pytest.raises(poise.TaskError, match=r"iterations of the two-priority DLS must be 1 or more, not 0"):
        TwoPrioritySettings(iterations=0)
    with pytest.raises(poise.TaskError, match=r"bound of the two-priority DLS must be a positive number, not 0"):
        TwoPrioritySettings(bound=0.0)


def test_a_solve_that_ends_early_because_its_iterates_repeat_has_the_best_of_all() -> None:
    """Compared with four hundred steps, each taken alone, without any memory of earlier ones."""
    solver = TwoPriorityDls(poise.load("erik_c"), settings=TwoPrioritySettings(iterations=400))
    chain, scoring = solver.limb.chain, solver.scoring
    asked = samples(solver.limb, 25, 9)
    batch = solver.solve_batch(asked.postures, asked.orientations)
    step = kernel.TwoPriorityOptions(1, -1.0, 1.2, 1.2, 1)
    workspace = two_priority_workspace(5)
    for i in range(25):
        aim, posture = Aim(Quaternion(*asked.orientations[i].tolist()), FULL), asked.postures[i, solver.limb.places]
        angles, least, steps = np.zeros(5), np.inf, 400
        for taken in range(1, 401):
            error = combined_error(chain, scoring, aim, angles, posture)
            least = min(least, error)
            if error <= 0.04:
                steps = taken
                break
            kernel.solve_two_priority(chain, scoring, step, aim, posture, angles, workspace)
            angles = workspace.angles.copy()
        assert batch.error[i] == pytest.approx(least, abs=1e-12)
        assert batch.iterations[i] == steps
    assert (batch.iterations == 400).sum() > 5
