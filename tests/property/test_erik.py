"""ERIK on chains of any kind: legal, truthful, the same every time, and blind to how a figure is turned."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from poise.chains.chain import chain_of
from poise.chains.targets import gaze
from poise.expressive.measures import Weights, errors_of

axes = st.one_of(
    st.sampled_from(["x", "y", "z", "-x", "-y", "-z"]),
    st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1),
)
limits = st.tuples(st.floats(-180.0, 0.0), st.floats(0.0, 180.0)).map(list)
unit = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)


@st.composite
def questions(draw: st.DrawFn) -> tuple[poise.Figure, np.ndarray, np.ndarray]:
    """A chain, a legal posture of it, and an orientation."""
    count = draw(st.integers(1, 7))
    figure = poise.chain(
        [draw(axes) for _ in range(count)],
        lengths=[draw(st.floats(0.01, 1.0)) for _ in range(count)],
        limits=[draw(limits) for _ in range(count)],
    )
    shares = np.array([draw(st.floats(0.0, 1.0)) for _ in range(count)])
    chain = chain_of(figure).chain
    rotation = np.array(draw(unit))
    return figure, chain.lower + shares * (chain.upper - chain.lower), rotation / np.linalg.norm(rotation)


@settings(max_examples=150, deadline=None)
@given(questions(), st.sampled_from(["2019", "2017"]), st.tuples(*[st.booleans()] * 6))
def test_every_answer_is_legal_truthful_and_the_same_again(question, variant, switches):
    figure, posture, rotation = question
    symmetric, avoid, offset, ccd, printed, table = switches
    chosen = poise.ErikSettings(
        avoid_edges=avoid, offset_trick=offset, ccd_trick=ccd, as_printed=printed, lalut=table, lalut_step=5.0
    )
    solver = poise.Erik(figure, variant=variant, weights=Weights(symmetric=symmetric), settings=chosen)
    result = solver.solve(posture, rotation)
    assert figure.violations(result.posture) == []
    aim = gaze(rotation).aim(figure.up_vector, np.zeros(3))
    errors = errors_of(solver.limb, solver.scoring, aim, result.posture, posture)
    assert abs(result.error - errors.combined) < 1e-12
    assert abs(result.orientation_error - errors.orientation) < 1e-12
    assert abs(result.shape_error - errors.shape) < 1e-12
    assert 0.0 <= result.error <= 1.2
    again = solver.solve(posture, rotation)
    assert again.posture.q.tobytes() == result.posture.q.tobytes()
    assert solver.solve_batch(posture[None], rotation[None]).q.tobytes() == result.posture.q.tobytes()


@settings(max_examples=60, deadline=None)
@given(questions())
def test_minus_a_quaternion_is_the_same_orientation(question):
    figure, posture, rotation = question
    solver = poise.Erik(figure)
    assert abs(solver.solve(posture, rotation).error - solver.solve(posture, -rotation).error) < 1e-9


@settings(max_examples=60, deadline=None)
@given(questions())
def test_the_better_of_start_and_answer_is_kept(question):
    figure, posture, rotation = question
    solver = poise.Erik(figure)
    best = solver.solve(posture, rotation)
    assert solver.solve(posture, rotation, previous=best.posture).error <= best.error + 1e-12
