"""Figures and postures are values: they copy, pickle, never change, and the same question has the same answer."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from tests.strategies import Recipe, figures, figures_with_posture, legal_postures, wild_postures


def assert_unit(posture: Posture) -> None:
    for joint in posture.figure.joints:
        if joint.kind in ("ball", "free"):
            assert np.linalg.norm(posture.q[posture.figure.q_slice(joint.name)][-4:]) == pytest.approx(1.0, abs=1e-12)


@given(figures_with_posture(Recipe(ball_couplings=True)), st.integers(0, 2**32 - 1))
def test_quaternions_of_every_returned_posture_are_unit(case: tuple[Figure, Posture], seed: int) -> None:
    figure, posture = case
    velocity = np.random.default_rng(seed).normal(size=figure.nv) * 3.0
    for returned in (
        posture,
        figure.neutral(),
        figure.random(seed),
        figure.clamp(posture),
        figure.integrate(posture, velocity),
        figure.rerooted(figure.bodies[-1].name, posture).adopt(posture) if rerootable(figure) else posture,
        *(figure.posture(name) for name in figure.posture_names),
    ):
        assert_unit(returned)
        assert np.isfinite(returned.q).all()


def rerootable(figure: Figure) -> bool:
    base = next((joint for joint in figure.joints if joint.parent is None), None)
    return base is None or base.kind in ("free", "fixed")


@given(st.data())
def test_integrate_and_difference_are_inverse(data: st.DataObject) -> None:
    figure = data.draw(figures(Recipe(couplings=0)))
    a, b = data.draw(wild_postures(figure)), data.draw(legal_postures(figure))
    step = figure.difference(a, b)
    arrived = figure.integrate(a, step)
    scale = max(1.0, float(np.abs(a.q).max(initial=0.0)))
    for joint in figure.joints:
        place = figure.q_slice(joint.name)
        got, wanted = arrived.q[place], b.q[place]
        if joint.kind in ("ball", "free"):
            assert abs(got[-4:] @ wanted[-4:]) == pytest.approx(1.0, abs=1e-12)
            got, wanted = got[:-4], wanted[:-4]
        np.testing.assert_allclose(got, wanted, atol=1e-14 * scale)
    np.testing.assert_allclose(figure.difference(a, figure.integrate(a, 0.9 * step)), 0.9 * step, atol=1e-9 * scale)


@given(figures_with_posture(), st.integers(0, 2**32 - 1))
def test_the_same_question_has_the_same_answer_to_the_last_byte(case: tuple[Figure, Posture], seed: int) -> None:
    figure, posture = case
    twin = pickle.loads(pickle.dumps(figure))
    for ask in (
        lambda f: f.random(seed).q,
        lambda f: f.clamp(posture.q).q,
        lambda f: f.frames(posture.q).position,
        lambda f: f.frames(posture.q).rotation,
        lambda f: f.jacobian("b0", posture.q),
        lambda f: f.center_of_mass_jacobian(posture.q),
        lambda f: f.gravity_torques(posture.q),
    ):
        first = ask(figure).tobytes()
        assert ask(figure).tobytes() == first
        assert ask(twin).tobytes() == first


@given(figures_with_posture(Recipe(ball_couplings=True)))
def test_figures_and_postures_copy_and_pickle(case: tuple[Figure, Posture]) -> None:
    figure, posture = case
    for again in (copy.copy(figure), copy.deepcopy(figure), pickle.loads(pickle.dumps(figure))):
        assert again == figure
        assert hash(again) == hash(figure)
    for twin in (copy.copy(posture), copy.deepcopy(posture), pickle.loads(pickle.dumps(posture))):
        assert twin == posture
        assert hash(twin) == hash(posture)
        assert not twin.q.flags.writeable


@given(figures_with_posture())
def test_nothing_changes_a_posture(case: tuple[Figure, Posture]) -> None:
    figure, posture = case
    before = posture.q.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        posture.q[...] = 1.0
    with pytest.raises(AttributeError):
        posture.q = posture.q
    with pytest.raises(AttributeError):
        posture.figure = figure
    with pytest.raises(AttributeError):
        posture.color = "red"  # type: ignore[attr-defined]
    for name in posture:
        value = posture[name]
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 2.0
    figure.clamp(posture)
    figure.integrate(posture, np.ones(figure.nv))
    figure.adopt(posture)
    assert posture.q.tobytes() == before


@given(figures())
def test_nothing_changes_a_figure(figure: Figure) -> None:
    with pytest.raises(AttributeError):
        figure.name = "other"
    with pytest.raises(AttributeError):
        figure.bodies = figure.bodies
    with pytest.raises(TypeError):
        figure.bodies[0] = figure.bodies[0]  # type: ignore[index]
    with pytest.raises(AttributeError):
        figure.bodies[0].name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        figure.placement.position[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        figure.bodies[0].mass.center[0] = 1.0
    values = {name: figure.named_values(name) for name in figure.posture_names}
    for named in values.values():
        named.clear()
    assert all(figure.named_values(name) for name in values if name == "neutral" and len(figure.joints))
