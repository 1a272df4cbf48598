"""Mirrored postures, one side copied to the other, and postures with names of their own."""

import numpy as np
import pytest

from poise.errors import FigureError
from poise.figures import built_in
from poise.studio.control.files import saved_figure
from poise.studio.session.changes import with_named_posture
from poise.studio.session.mirror import mirrored, partner_name
from poise.studio.session.postures import in_posture, with_mirrored
from poise.studio.session.session import Session

HUMAN = built_in("human")
REFLECT = np.array([-1.0, 1.0, 1.0])


def random_posture(seed: int):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    start = HUMAN.posture("standing")
    return HUMAN.clamp(HUMAN.integrate(start, rng.normal(0.0, 0.5, HUMAN.nv)))


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("left_knee", "right_knee"),
        ("L_hip", "R_hip"),
        ("arm_l", "arm_r"),
        ("RightFoot", "LeftFoot"),
        ("head", "head"),
    ],
)
def test_parts_have_partners_on_the_other_side(name: str, partner: str) -> None:
    assert partner_name(name) == partner
    assert partner_name(partner) == name


@pytest.mark.parametrize("seed", range(6))
def test_every_body_is_where_a_mirror_shows_it(seed: int) -> None:
    posture = random_posture(seed)
    names = HUMAN.bodies.names
    before, after = HUMAN.frames(posture).position, HUMAN.frames(mirrored(posture)).position
    for k, name in enumerate(names):
        other = names.index(partner_name(name))
        # Heights and distances from the base are the same; places themselves are mirrored where the base is upright.
        assert after[other][1] == pytest.approx(before[k][1], abs=1e-9)
        apart = [np.linalg.norm(rows[j] - rows[0]) for rows, j in ((before, k), (after, other))]
        assert apart[0] == pytest.approx(apart[1], abs=1e-9)
    back = mirrored(mirrored(posture))
    np.testing.assert_allclose(HUMAN.difference(posture, back), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["waving", "walking", "reaching", "thinking"])
def test_an_upright_posture_is_mirrored_exactly(name: str) -> None:
    posture = HUMAN.posture(name)
    before, after = HUMAN.frames(posture).position, HUMAN.frames(mirrored(posture)).position
    names = HUMAN.bodies.names
    for k, body in enumerate(names):
        other = names.index(partner_name(body))
        np.testing.assert_allclose(after[other] - after[0], REFLECT * (before[k] - before[0]), atol=1e-9)


def test_one_side_is_copied_and_the_rest_stays() -> None:
    posture = random_posture(3)
    copied, whole = mirrored(posture, "left"), mirrored(posture)
    for joint in HUMAN.joints:
        rows = HUMAN.q_slice(joint.name)
        wanted = whole if "right" in joint.name else posture
        np.testing.assert_allclose(copied.q[rows], wanted.q[rows], atol=1e-9, err_msg=joint.name)


def test_mirroring_and_naming_can_be_undone_and_a_named_posture_is_saved_with_the_figure() -> None:
    session = Session(HUMAN)
    session.update(lambda state: in_posture(state, "waving"))
    session.update(with_mirrored)
    session.update(lambda state: with_named_posture(state, "left wave"))
    figure = session.state.figure
    assert "left wave" in figure.posture_names
    assert b"left wave" in saved_figure(session)[1]
    np.testing.assert_allclose(figure.posture("left wave").q, session.state.posture.q, atol=1e-9)
    with pytest.raises(FigureError, match="choose another one"):
        session.update(lambda state: with_named_posture(state, ""))
    session.undo()
    session.undo()
    assert session.state.posture == HUMAN.posture("waving")
