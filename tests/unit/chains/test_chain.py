"""The chain of a figure has the figure's kinematics, and a figure without a chain is refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.errors import FigureError
from poise.figure.model.builder import Builder, ball, prismatic, revolute
from poise.figure.model.pose import Pose, turn
from poise.kernels.chains import chain as kernels


def bent_arm() -> poise.Figure:
    """Oblique axes, segments off every axis, a tip that looks sideways, on a tilted base, z up."""
    made = Builder("bent_arm", up="z", placement=Pose((0.1, 0.2, 0.3), turn("x", 30.0)))
    made.body("base", mass=1.0)
    upper = "base"
    axes = [(0, 0, 1), (1, 0.5, 0), (0.2, 1, 0.4), (0, 0.3, 1)]
    places = [(0, 0, 0.2), (0.1, 0, 0.3), (0, 0.4, 0), (0.2, 0.1, 0.1)]
    for k, (axis, place) in enumerate(zip(axes, places, strict=True)):
        joint = revolute(f"hinge_{k}", axis, limits=(-2, 2))
        upper = made.body(f"part_{k}", parent=upper, joint=joint, at=place, turned=turn("y", 20.0 * k))
    made.site("lens", upper, at=(0, 0, 0.1), turned=turn("z", 70.0))
    return made.build()


FIGURES = ["erik_a", "erik_d", "erik_g", "adelino", "snake"]


@pytest.mark.parametrize("name", [*FIGURES, "bent_arm"])
def test_the_chain_moves_as_its_figure_does(name: str) -> None:
    figure = bent_arm() if name == "bent_arm" else poise.load(name)
    limb = chain_of(figure)
    rng = np.random.default_rng(1)
    for _ in range(5):
        posture = figure.random(rng)
        angles = limb.angles(posture)
        tip = figure.pose_of(limb.tip, posture)
        rotation = np.array(kernels.tip_rotation(limb.chain, angles))
        np.testing.assert_allclose(abs(rotation @ tip.rotation), 1.0, atol=1e-14)
        np.testing.assert_allclose(kernels.tip_position(limb.chain, angles), tip.position, atol=1e-14)
        np.testing.assert_allclose(kernels.pointing(kernels.tip_rotation(limb.chain, angles)), tip.matrix[:, 1])
        assert limb.posture(angles, beside=posture) == posture


def test_segments_lie_along_their_own_y_and_axes_do_not_move() -> None:
    figure = bent_arm()
    limb = chain_of(figure)
    posture = figure.random(3)
    count = len(limb.joints)
    rotations, positions = np.empty((count, 4)), np.empty((count + 1, 3))
    kernels.segment_rotations(limb.chain, limb.angles(posture), rotations)
    kernels.joint_positions(limb.chain, rotations, positions)
    jacobian = figure.jacobian(limb.tip, posture)
    for k in range(count):
        np.testing.assert_allclose(kernels.world_axis(limb.chain, rotations, k), jacobian[3:, k], atol=1e-14)
        if k + 1 < count:
            along = (positions[k + 1] - positions[k]) / np.linalg.norm(positions[k + 1] - positions[k])
            np.testing.assert_allclose(Pose(rotation=rotations[k]).matrix[:, 1], along, atol=1e-14)
    np.testing.assert_allclose(positions[-1], figure.pose_of("lens", posture).position, atol=1e-14)


def test_the_bend_cosine_compares_a_segment_with_the_one_below() -> None:
    figure = bent_arm()
    limb = chain_of(figure)
    angles = limb.angles(figure.random(5))
    rotations = np.empty((4, 4))
    kernels.segment_rotations(limb.chain, angles, rotations)
    directions = [Pose(rotation=rotation).matrix[:, 1] for rotation in rotations]
    for k in range(1, 4):
        cosine = kernels.bend_cosine(limb.chain, k, angles[k])
        np.testing.assert_allclose(cosine, directions[k - 1] @ directions[k], atol=1e-14)


def test_roles_middle_and_mirror_of_the_papers_chains() -> None:
    limb = chain_of(poise.load("erik_g"))
    assert limb.chain.role.tolist() == [1, 0, 0, 0, 1, 0, 0, 1]
    assert limb.chain.middle.tolist() == [0, 1, 1, 1, 1, 1, 1, 0]
    assert limb.chain.mirrors == 1
    assert chain_of(poise.load("snake")).chain.mirrors == 0
    assert chain_of(bent_arm()).chain.mirrors == 0


@pytest.mark.parametrize(("angle", "wrapped"), [(0.5, 0.5), (np.pi, np.pi), (-np.pi, np.pi), (4.0, 4.0 - 2 * np.pi)])
def test_wrapped_angles(angle: float, wrapped: float) -> None:
    assert kernels.wrapped(angle) == pytest.approx(wrapped, abs=1e-15)


def test_a_limb_of_a_branching_figure_needs_its_tip() -> None:
    made = Builder("fork")
    made.body("base", mass=1.0)
    for side in ("left", "right"):
        made.body(side, parent="base", joint=revolute(f"{side}_hinge", "x"), at=(0, 0.1, 0))
        made.site(f"{side}_tip", side, at=(0, 0.1, 0))
    fork = made.build()
    with pytest.raises(FigureError, match=r"figure 'fork' branches: name its end with tip=…, one of left_tip"):
        chain_of(fork)
    assert chain_of(fork, "right_tip").joints == ("right_hinge",)


def test_a_ball_joint_is_refused() -> None:
    made = Builder("leg")
    made.body("pelvis", mass=1.0)
    made.body("thigh", parent="pelvis", joint=ball("hip"), at=(0, 0.1, 0))
    with pytest.raises(FigureError, match=r"^erik needs a single chain of revolute joints; 'hip' is a ball joint\.$"):
        chain_of(made.build())


def test_a_slide_a_zero_length_a_root_and_a_loop_are_refused() -> None:
    made = Builder("odd")
    made.body("base", mass=1.0)
    made.body("a", parent="base", joint=revolute("first", "x"), at=(0, 0.1, 0))
    made.body("b", parent="a", joint=revolute("second", "z"), at=(0, 0, 0))
    made.body("c", parent="b", joint=prismatic("slider", "y"), at=(0, 0.1, 0))
    odd = made.build()
    with pytest.raises(FigureError, match=r"'slider' is a prismatic joint\.$"):
        chain_of(odd)
    with pytest.raises(FigureError, match=r"joints 'first' and 'second' are at the same point: move one of them"):
        chain_of(odd, "b", needs_lengths=True)
    assert chain_of(odd, "b").joints == ("first", "second")
    with pytest.raises(FigureError, match=r"'base' of figure 'odd' is attached to the root"):
        chain_of(odd, "base")
    with pytest.raises(FigureError, match=r"^ccd needs a figure without loops; 'four_bar' has"):
        chain_of(poise.load("four_bar"), solver="ccd")
