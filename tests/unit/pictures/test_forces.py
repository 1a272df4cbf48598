"""Pictures of scenes show the forces on the figure, those of the ground, and the torques of its joints."""

import numpy as np
import pytest

import poise
from poise.engine.scene import Scene
from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.mass import Mass
from poise.figures import built_in
from poise.forces import Force, Gravity, Load, Support, joint_torques
from poise.pictures import draw_scene
from poise.pictures.force_drawing import ForceMarks, arc_line, force_marks
from poise.pictures.force_marks import LONGEST_ARC, arrow_scales

HUMAN = built_in("human")
EXTENT = 1.8
FEET = (Support("left_foot"), Support("right_foot"))


def marks(*loads: Load, torques: bool | float = False) -> ForceMarks:
    return force_marks(HUMAN.posture("standing"), loads, EXTENT, torques=torques)


def test_arrows_start_where_forces_act_and_have_one_scale() -> None:
    found = marks(Force("right_hand", (0.0, -50.0, 0.0)), Force("left_hand", (100.0, 0.0, 0.0)))
    newton, _ = arrow_scales(HUMAN, EXTENT)
    for arrow, site, force in zip(found.arrows, ("right_hand", "left_hand"), ((0, -50, 0), (100, 0, 0)), strict=True):
        np.testing.assert_allclose(arrow.tail, HUMAN.pose_of(site, "standing").position)
        np.testing.assert_allclose(arrow.tip - arrow.tail, newton * np.array(force), atol=1e-12)
    assert found.weight is not None
    np.testing.assert_allclose(np.linalg.norm(found.weight[1] - found.weight[0]), 0.45 * EXTENT, rtol=1e-3)


def test_forces_in_the_axes_of_a_site_turn_with_it() -> None:
    site = HUMAN.pose_of("right_hand", "standing")
    (arrow,) = marks(Force("right_hand", (0.0, 10.0, 0.0), axes="site")).arrows
    way = (arrow.tip - arrow.tail) / np.linalg.norm(arrow.tip - arrow.tail)
    np.testing.assert_allclose(way, site.matrix[:, 1], atol=1e-12)


def test_the_ground_carries_what_acts() -> None:
    found = marks(Force("right_hand", (0.0, -80.0, 0.0)), *FEET)
    newton, _ = arrow_scales(HUMAN, EXTENT)
    ground = sum(arrow.tip - arrow.tail for arrow in found.arrows if arrow.kind == "ground")
    np.testing.assert_allclose(ground, (0.0, newton * (80.0 + HUMAN.mass * 9.80665), 0.0), atol=1e-6)
    assert found.holds


def test_shares_are_drawn_as_they_are_given() -> None:
    found = marks(Support("left_foot", 0.25), Support("right_foot", 0.75))
    left, right = (arrow.tip - arrow.tail for arrow in found.arrows)
    np.testing.assert_allclose(3.0 * left, right)


def test_the_weight_follows_gravity() -> None:
    found = marks(Gravity((3.0, 0.0, 0.0)))
    assert found.weight is not None
    way = found.weight[1] - found.weight[0]
    assert way[0] > 0.0 and abs(way[1]) < 1e-12


def test_ground_that_cannot_hold_the_figure_is_marked() -> None:
    assert not marks(Force("right_hand", (0.0, 0.0, -900.0)), *FEET).holds


def pendulum(strength: float = np.inf) -> Figure:
    """A weight of 2 kg on an arm of one metre, level at zero."""
    b = Builder("pendulum")
    b.body("base")
    hinge = revolute("hinge", "z", limits=(-2.0, 2.0), strength=strength)
    b.body("arm", parent="base", joint=hinge, mass=Mass(2.0, (1.0, 0.0, 0.0)))
    b.site("tip", "arm", at=(1.0, 0.0, 0.0))
    return b.build()


@pytest.mark.parametrize("angle", [-1.2, 0.0, 0.7])
def test_an_arc_is_as_long_as_its_torque(angle: float) -> None:
    figure = pendulum()
    posture = figure.posture([angle])
    (torque,) = joint_torques(figure, posture)
    (arc,) = force_marks(posture, (), 1.0, torques=40.0).arcs
    assert torque == pytest.approx(2.0 * 9.80665 * np.cos(angle))
    assert arc.angle == pytest.approx(LONGEST_ARC * abs(torque) / 40.0)
    np.testing.assert_allclose(arc.axis, (0.0, 0.0, np.sign(torque)), atol=1e-12)
    radii = np.linalg.norm(arc_line(arc) - arc.center, axis=1)
    np.testing.assert_allclose(radii, arc.radius)
    np.testing.assert_allclose(arc_line(arc)[0] - arc.center, arc.radius * np.array([np.cos(angle), np.sin(angle), 0]))


def test_a_torque_beyond_the_strength_is_known_as_such() -> None:
    (weak,), (strong,) = (force_marks(pendulum(s).posture([0.0]), (), 1.0, torques=True).arcs for s in (10.0, 30.0))
    assert weak.used > 1.0 > strong.used


def test_pictures_show_forces_and_torques_and_cut_none_off() -> None:
    def pixels(*loads: Load, **options: bool) -> np.ndarray:
        scene = Scene(HUMAN, forces=loads)
        return draw_scene(scene, "standing", size=(160, 160), start=False, **options).pixels

    plain, pushed = pixels(), pixels(Force("right_hand", (0.0, 0.0, -200.0)))
    assert (plain != pushed).any()
    assert (pushed != pixels(Force("right_hand", (0.0, 0.0, -200.0)), torques=True)).any()
    far = pixels(Force("right_hand", (0.0, 4000.0, 0.0)))
    orange = (far[..., 0] > 200) & (far[..., 2] < 90)
    rows = np.flatnonzero(orange.any(axis=1))
    assert rows.min() > 0 and rows.max() - rows.min() > 80, "the camera moves back for a long arrow"


def test_a_figure_without_mass_is_drawn_without_forces() -> None:
    b = Builder("bare")
    b.body("base")
    b.body("arm", parent="base", joint=revolute("hinge", "z"))
    b.site("tip", "arm", at=(1.0, 0.0, 0.0))
    scene = poise.Scene(b.build(), forces=[Force("tip", (0.0, -1.0, 0.0))])
    assert draw_scene(scene, scene.figure.neutral(), size=(64, 64), torques=True).size == (64, 64)
