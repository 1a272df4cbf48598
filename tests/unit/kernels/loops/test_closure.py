"""Closure rows: Jacobian and curvature against finite differences, factorisation against numpy."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.figure import Figure, Posture
from poise.figure.assembly.closure_arrays import compile_closures, joint_rows
from poise.figure.model.builder import (
    Builder,
    ball,
    cartesian,
    cylindrical,
    elbow,
    fixed,
    free,
    planar,
    prismatic,
    revolute,
    universal,
)
from poise.figure.model.joints import Joint
from poise.figure.model.pose import Pose
from poise.kernels.body.queries import node_frames
from poise.kernels.loops.closure import Closures, closure_residual, closure_rows
from poise.kernels.loops.closure_curvature import add_closure_curvature
from poise.kernels.loops.closure_factor import (
    closure_multipliers,
    factor_rows,
    free_directions,
    least_step,
    make_factors,
)
from tests.unit.figures.loops import mobility

KINDS = [
    fixed("fixed"),
    revolute("revolute", "x"),
    prismatic("prismatic", (1, 2, 0)),
    universal("universal", "x", "y"),
    elbow("elbow", "x", (1, 0.5, 0)),
    cylindrical("cylindrical", "z"),
    planar("planar", (1, 1, 1)),
    ball("ball"),
    cartesian("cartesian"),
    free("free"),
]
ROWS = {
    "fixed": 6, "revolute": 5, "prismatic": 5, "universal": 4, "elbow": 4, "cylindrical": 4, "planar": 3, "ball": 3,
    "cartesian": 3, "free": 0,
}  # fmt: skip


@cache
def tangle(seed: int) -> Figure:
    """Two long branches with every kind of joint on a floating base, and loops of every kind between them, all open."""
    rng = np.random.default_rng(seed)
    made = Builder("tangle")
    made.body("base", joint=free("base"))
    names = ["base"]
    for branch in "ab":
        upper = "base"
        for k in rng.permutation(len(KINDS)):
            joint = replace(KINDS[k], name=f"{branch}_{KINDS[k].name}")
            upper = made.body(
                joint.name, parent=upper, joint=joint, at=rng.normal(size=3) * 0.3, turned=rng.normal(size=4)
            )
            names.append(upper)
    for k, joint in enumerate([*KINDS, *KINDS]):
        parent, child = (str(name) for name in rng.choice(names, 2, replace=False))
        frames = [Pose(rng.normal(size=3) * 0.3, rng.normal(size=4)) for _ in range(2)]
        loop = replace(joint, name=f"loop_{k}", reversed=k >= len(KINDS) and joint.kind != "free")
        made.loop(loop, parent if k else None, child, parent_frame=frames[0], child_frame=frames[1])
    figure = made.build()
    return figure.rerooted(names[3]) if seed % 2 else figure


def residual(figure: Figure, closures: Closures, posture: Posture) -> np.ndarray:
    position, rotation, _ = node_frames(figure.compiled.tree, posture._q)
    out = np.full(closures.turns.shape[0], np.nan)
    worst = closure_residual(closures, position, rotation, out)
    assert worst == np.abs(out).max()
    return out


def rows_of(figure: Figure, closures: Closures, posture: Posture) -> np.ndarray:
    tree = figure.compiled.tree
    out = np.full((closures.turns.shape[0] + 2, figure.nv), np.nan)
    closure_rows(tree, closures, *node_frames(tree, posture._q), 2, out)
    assert np.isnan(out[:2]).all()
    return out[2:]


@pytest.mark.parametrize("joint", KINDS, ids=lambda joint: joint.kind)
def test_rows_are_minimal(joint: Joint) -> None:
    assert len(joint_rows(joint)) == ROWS[joint.kind] == 6 - joint.nv


@pytest.mark.parametrize("far", [False, True])
@given(seed=st.integers(0, 3), draw=st.integers(0, 2**32 - 1))
@settings(max_examples=12)
def test_slopes(far: bool, seed: int, draw: int) -> None:
    figure = tangle(seed)
    closures, posture, h = compile_closures(figure, far=far), figure.random(draw), 1e-6
    got = rows_of(figure, closures, posture)
    for k, nudge in enumerate(h * np.eye(figure.nv)):
        ahead, behind = (residual(figure, closures, figure.integrate(posture, s * nudge)) for s in (1.0, -1.0))
        np.testing.assert_allclose(got[:, k], (ahead - behind) / (2.0 * h), atol=2e-8)


@pytest.mark.parametrize("seed", range(4))
def test_curvature(seed: int) -> None:
    figure, h = tangle(seed), 1e-4
    closures, posture = compile_closures(figure), figure.random(seed)
    tree, rng = figure.compiled.tree, np.random.default_rng(seed)
    pull = rng.normal(size=closures.turns.shape[0])
    got = np.zeros((figure.nv, figure.nv))
    frames = node_frames(tree, posture._q)
    add_closure_curvature(tree, closures, *frames, np.concatenate([[7.0], pull]), 1, np.empty((3, 3)), got)
    for _ in range(60):
        a, b = rng.normal(size=(2, figure.nv))
        corners = [
            sign * (pull @ residual(figure, closures, figure.integrate(posture, h * (s * a + t * b))))
            for s, t, sign in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
        ]
        assert a @ got @ b == pytest.approx(sum(corners) / (4.0 * h * h), rel=1e-4, abs=2e-4)


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "delta", "stewart", "all_joints", "dancer", "walker"])
def test_factors(name: str) -> None:
    figure = poise.load(name)
    closures, posture, nv = compile_closures(figure), figure.neutral(), figure.nv
    rows, factors, nothing = rows_of(figure, closures, posture), make_factors(closures), np.zeros(nv, dtype=np.int64)
    rank = factor_rows(closures, rows, 0, nothing, factors)
    assert rank == np.linalg.matrix_rank(rows, tol=1e-7)
    basis = np.zeros((nv, nv))
    free_count = free_directions(factors, nothing, basis)
    assert free_count == nv - rank == mobility(figure, posture)
    np.testing.assert_allclose(basis[:free_count] @ basis[:free_count].T, np.eye(free_count), atol=1e-12)
    np.testing.assert_allclose(rows @ basis[:free_count].T, 0.0, atol=1e-12)
    rng = np.random.default_rng(0)
    wanted = rows @ rng.normal(size=nv)
    step = np.zeros(nv)
    least_step(closures, factors, wanted, step)
    np.testing.assert_allclose(step, np.linalg.pinv(rows, rcond=1e-7) @ wanted, atol=1e-10)
    gradient, pulls = rng.normal(size=nv), np.zeros(rows.shape[0])
    closure_multipliers(closures, factors, gradient, pulls)
    left = gradient + rows.T @ pulls
    np.testing.assert_allclose(left, basis[:free_count].T @ (basis[:free_count] @ gradient), atol=1e-10)


def test_held_velocities_are_not_used() -> None:
    figure = poise.load("stewart")
    closures, nv = compile_closures(figure), figure.nv
    rows, factors, held = rows_of(figure, closures, figure.neutral()), make_factors(closures), np.zeros(nv, np.int64)
    held[[figure.v_slice(f"leg_{k + 1}_motor").start for k in range(6)]] = 1
    assert factor_rows(closures, rows, 0, held, factors) == nv - 6
    basis, step = np.zeros((nv, nv)), np.zeros(nv)
    assert free_directions(factors, held, basis) == 0
    least_step(closures, factors, rows @ np.ones(nv), step)
    assert not step[held == 1].any()


def test_loops_that_share_nothing_are_blocks_of_their_own() -> None:
    closures = compile_closures(poise.load("walker"))
    assert np.diff(closures.block_start).tolist() == [15, 15]
    assert np.diff(closures.block_loop).tolist() == [3, 3]
