"""Hanging a figure from another body, or from nowhere, moves nothing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from poise.figure.model.figure import Figure
from poise.figure.model.joints import KINDS
from poise.figure.model.posture import Posture
from tests.strategies import Recipe, figures_with_posture

LOOSE = Recipe(bodies=8, base=("root", "free", "fixed"), loops=2)
ROOTED = Recipe(bodies=8, base=("root", "fixed"), loops=2)


def assert_nothing_moved(before: Figure, posture: Posture, after: Figure, same: Posture) -> None:
    size = 1.0 + float(np.abs(posture.q).max(initial=0.0))
    old, new = before.frames(posture), after.frames(same)
    for name in old:
        np.testing.assert_allclose(new[name].position, old[name].position, atol=1e-12 * size)
        assert abs(abs(new[name].rotation @ old[name].rotation) - 1.0) < 1e-12
    np.testing.assert_allclose(after.center_of_mass(same), before.center_of_mass(posture), atol=1e-12 * size)
    np.testing.assert_allclose(after.closure_error(same), before.closure_error(posture), atol=1e-7 * size)
    assert [str(v) for v in after.violations(same)] == [str(v) for v in before.violations(posture)]


@given(figures_with_posture(LOOSE), st.data())
def test_rerooting_leaves_every_body_where_it_was(case: tuple[Figure, Posture], data: st.DataObject) -> None:
    figure, posture = case
    new = figure.rerooted(data.draw(st.sampled_from(figure.bodies.names)), posture)
    assert_nothing_moved(figure, posture, new, new.adopt(posture))


@given(figures_with_posture(LOOSE), st.data())
def test_rerooting_there_and_back_returns(case: tuple[Figure, Posture], data: st.DataObject) -> None:
    figure, posture = case
    root = figure.roots[0]
    there = figure.rerooted(data.draw(st.sampled_from(figure.bodies.names)), posture)
    carried = there.adopt(posture)
    back = there.rerooted(root, carried)
    returned = back.adopt(carried)
    assert back.roots == figure.roots
    assert_nothing_moved(figure, posture, back, returned)
    for old, new in zip(figure.joints, back.joints, strict=True):
        if old.kind != "free":
            assert (new.parent, new.child, new.reversed, new.axes) == (old.parent, old.child, old.reversed, old.axes)
            np.testing.assert_array_equal(returned[old.name], posture[old.name])
            if old.parent is not None:
                assert (new.parent_frame, new.child_frame) == (old.parent_frame, old.child_frame)


@given(figures_with_posture(LOOSE), st.data())
def test_rerooting_keeps_the_meaning_of_named_postures(case: tuple[Figure, Posture], data: st.DataObject) -> None:
    figure, _ = case
    new = figure.rerooted(data.draw(st.sampled_from(figure.bodies.names)))
    assert new.posture_names == figure.posture_names
    for name in figure.posture_names:
        for joint in figure.joints:
            if joint.kind != "free":
                np.testing.assert_array_equal(new.posture(name)[joint.name], figure.posture(name)[joint.name])


@given(figures_with_posture(ROOTED))
def test_a_floating_base_leaves_every_body_where_it_was(case: tuple[Figure, Posture]) -> None:
    figure, posture = case
    floating = figure.with_floating_base()
    assert floating.nv == figure.nv + 6
    assert_nothing_moved(figure, posture, floating, floating.adopt(posture))
    assert floating.with_floating_base() is floating


@given(figures_with_posture(Recipe(kinds=KINDS, bodies=6, base=("root",))), st.data())
def test_a_floating_base_moves_to_the_new_root(case: tuple[Figure, Posture], data: st.DataObject) -> None:
    figure, posture = case
    floating = figure.with_floating_base()
    body = data.draw(st.sampled_from(figure.bodies.names))
    new = floating.rerooted(body, floating.adopt(posture))
    assert new.roots == (body,)
    assert_nothing_moved(figure, posture, new, new.adopt(floating.adopt(posture)))
