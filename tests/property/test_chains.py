"""Chain solvers on any figure: limits never broken, no lies about the error, nothing but what may move moves."""

import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import poise
from poise import chains
from poise.chains.zones import safe_zones
from tests.strategies import Recipe, figures

KINDS = ("revolute", "prismatic", "universal", "elbow", "ball", "fixed", "cylindrical")
ANY = Recipe(kinds=KINDS, bodies=7, couplings=0, loops=0, odd_names=False)
TURNING = Recipe(kinds=("revolute", "universal", "ball", "fixed"), bodies=7, couplings=0, loops=0, odd_names=False)
SEEDS = st.integers(0, 2**32 - 1)
GENERAL = (chains.ccd, chains.jacobian_transpose, chains.pseudoinverse, chains.dls, chains.sdls)


def asked(figure, seed):
    """A body that something moves, where it goes, and where to begin; base joints where they begin."""
    rng = np.random.default_rng(seed)
    start, there = figure.random(rng), figure.random(rng)
    bases = {joint.name: start[joint.name] for joint in figure.joints if joint.kind == "free"}
    tip = figure.bodies.names[-1]
    return tip, figure.pose_of(tip, there.changed(bases)), start


def solved(solver, figure, seed, goal):
    """The solver's answer for the `goal` of a frame that can be reached, checked; nothing where no joint can help."""
    tip, frame, start = asked(figure, seed)
    try:
        result = solver(figure, getattr(frame, goal), tip=tip, start=start, max_iterations=60)
    except poise.TaskError as error:
        assert "no joint on the way" in str(error)
        return None
    assert np.isfinite(result.posture.q).all()
    assert figure.violations(result.posture) == []
    assert math.isfinite(result.error)
    assert (result.status == "solved") == (result.error <= 1e-6)
    for joint in figure.joints:
        if joint.kind == "free":
            assert np.array_equal(result.posture[joint.name], start[joint.name])
    return result, frame, figure.pose_of(tip, start), figure.pose_of(tip, result.posture)


@settings(max_examples=60)
@given(figures(ANY), SEEDS, st.sampled_from(GENERAL))
def test_positions_on_any_figure(figure, seed, solver):
    if answer := solved(solver, figure, seed, "position"):
        result, wanted, before, found = answer
        assert abs(result.error - np.linalg.norm(found.position - wanted.position)) < 1e-9
        assert solver is chains.ccd or result.error <= np.linalg.norm(before.position - wanted.position) + 1e-9


@settings(max_examples=60)
@given(figures(ANY), SEEDS, st.sampled_from(GENERAL))
def test_orientations_on_any_figure(figure, seed, solver):
    if answer := solved(solver, figure, seed, "rotation"):
        result, wanted, _, found = answer
        sine = np.linalg.norm((poise.Pose(rotation=wanted.rotation).inverse() @ found).rotation[1:])
        assert abs(math.sin(0.5 * result.error) - sine) < 1e-9


@settings(max_examples=60)
@given(figures(TURNING), SEEDS)
def test_fabrik_on_any_figure_that_turns(figure, seed):
    if answer := solved(chains.fabrik, figure, seed, "position"):
        result, wanted, _, found = answer
        assert abs(result.error - np.linalg.norm(found.position - wanted.position)) < 1e-9


LENGTHS = st.lists(st.floats(0.01, 2.0), min_size=2, max_size=7)


@settings(max_examples=200)
@given(LENGTHS, SEEDS, st.sampled_from([None, "directions", "distances"]))
def test_circles_are_exact_inside_the_safe_zones(lengths, seed, keep):
    figure = poise.chain("X" * len(lengths), lengths=lengths, limits=180)
    rng = np.random.default_rng(seed)
    least, most = chains.circle_zones(figure)
    assert (least, most) == safe_zones(np.array(lengths)) or np.allclose((least, most), safe_zones(np.array(lengths)))
    distance, angle = rng.uniform(least, most), rng.uniform(-np.pi, np.pi)
    target = (0.0, distance * math.cos(angle), distance * math.sin(angle))
    result = chains.circles(figure, target, start=figure.random(rng), keep=keep, limits=False)
    assert result.iterations == len(lengths) - 1
    assert np.linalg.norm(figure.pose_of("tip", result.posture).position - target) <= 1e-12


@settings(max_examples=100)
@given(LENGTHS, SEEDS, st.floats(20.0, 180.0))
def test_circles_inside_limits_are_exact_or_say_that_they_are_not(lengths, seed, limit):
    figure = poise.chain("Z" * len(lengths), lengths=lengths, limits=limit)
    rng = np.random.default_rng(seed)
    target = figure.pose_of("tip", figure.random(rng)).position
    result = chains.circles(figure, target, start=figure.random(rng))
    assert figure.violations(result.posture) == []
    assert result.error <= 1e-12 or result.status != "solved"
    assert abs(result.error - np.linalg.norm(figure.pose_of("tip", result.posture).position - target)) < 1e-12


@settings(max_examples=100)
@given(st.integers(2, 8), SEEDS)
def test_points_keep_their_distances(count, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    assume(np.linalg.norm(np.diff(points, axis=0), axis=1).min() > 1e-3)
    parents = [-1, *(int(rng.integers(k)) for k in range(1, count))]
    dragged = {int(k): rng.normal(size=3) for k in rng.integers(1, count, size=2)}
    result = chains.fabrik_points(points, dragged, parents=parents, max_iterations=50)
    for i, above in enumerate(parents):
        if i:
            before = np.linalg.norm(points[i] - points[above])
            assert abs(np.linalg.norm(result.points[i] - result.points[above]) - before) < 1e-12
    worst = max(float(np.linalg.norm(result.points[k] - place)) for k, place in dragged.items())
    assert abs(worst - result.error) < 1e-12
