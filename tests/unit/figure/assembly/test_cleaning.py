"""Removal of a file's rounding errors from loops."""

from dataclasses import replace

import numpy as np
import pytest

import poise
from poise.errors import FigureError
from poise.figure import Figure
from poise.figure.assembly.cleaning import cleaned
from poise.figure.model.pose import Pose
from poise.figure.model.structure import loop_joints
from tests import dr_legs as legs
from tests.unit.figures.loops import closure_jacobian


def rounded(figure: Figure, size: float) -> Figure:
    """`figure` with the axes of hinges and slides and every loop anchor off by about `size`."""
    rng = np.random.default_rng(0)

    def off(axis: tuple[float, ...]) -> tuple[float, ...]:
        moved = np.array(axis) + size * rng.normal(size=3)
        return tuple(float(x) for x in moved / np.linalg.norm(moved))

    def shifted(pose: Pose) -> Pose:
        return Pose(pose.position + size * rng.normal(size=3), pose.rotation + size * rng.normal(size=4))

    joints = [
        replace(joint, axes=tuple(off(axis) for axis in joint.axes)) if joint.nv == 1 else joint
        for joint in figure.joints
    ]
    loops = [replace(loop, parent_frame=shifted(loop.parent_frame)) for loop in figure.loops]
    return figure.replaced(joints=joints, loops=loops)


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "walker", "delta", "stewart", "dancer", "all_joints"])
def test_rounding_is_removed(name: str) -> None:
    exact = poise.load(name)
    figure, report = cleaned(rounded(exact, 3e-8))
    assert 0.0 < report.anchors < 3e-7
    assert (0.0 < report.axes < 3e-7) == (name != "stewart")  # which has no parallel axes
    assert "cleaned of rounding" in str(report)
    assert figure.closure_error(figure.neutral()) <= 1e-14
    motor = next(joint.name for joint in figure.joints if joint.active)
    moved = figure.assemble({motor: 0.05})
    assert moved.status == "assembled"
    assert figure.closure_error(moved.posture) <= 1e-11
    ranks = [int((np.linalg.svd(closure_jacobian(f, p))[1] > 1e-7).sum()) for f, p in (
        (exact, exact.neutral()), (figure, moved.posture)
    )]  # fmt: skip
    assert ranks[0] == ranks[1]


def test_rounding_of_a_planar_loop_cannot_be_closed() -> None:
    """The reason for cleaning: rounded numbers of redundant constraints contradict each other."""
    figure = rounded(poise.load("four_bar"), 3e-8)
    assert figure.assemble({"drive": 0.3}).gap > 1e-9


@pytest.mark.parametrize("name", ["four_bar", "walker"])
def test_clean_models_are_left_alone(name: str) -> None:
    figure = poise.load(name)
    same, report = cleaned(figure)
    assert same is figure
    assert (report.anchors, report.axes) == (0.0, 0.0)


def test_open_models_are_refused() -> None:
    figure = poise.load("four_bar")
    with pytest.raises(FigureError, match=r"open by 0.1.* more than rounding explains: assemble it first"):
        cleaned(figure, figure.posture({"drive": 0.3}))


def test_models_are_cleaned_where_they_are_closed() -> None:
    """At another posture than neutral: axes point elsewhere in the world, but the mechanism is the same."""
    exact = poise.load("walker")
    posture = exact.assemble({"left_inner_horn": 0.3, "right_outer_hip_pitch": -0.2}).posture
    figure, _ = cleaned(rounded(exact, 1e-8), rounded(exact, 1e-8).posture(posture.q))
    moved = figure.assemble({"left_inner_horn": -0.1, "right_inner_hip_roll": 0.1}, near=posture.q)
    assert figure.closure_error(moved.posture) <= 1e-11


def test_the_joints_of_a_loop() -> None:
    figure = poise.load("four_bar")
    (loop,) = figure.loops
    assert {*loop_joints(figure, loop), loop.name} == {"drive", "crank_pin", "rocker_pin", "rocker_pivot"}


@pytest.mark.real_data
def test_a_file_in_single_precision() -> None:
    raw = legs.dr_legs()
    figure, report = cleaned(raw)
    assert report.axes == pytest.approx(6.7e-8, rel=0.1)
    frame = dict(zip(legs.MOTORS, legs.recorded_walk()[1200], strict=True))
    assert raw.assemble(frame).gap > 1e-9
    assert figure.assemble(frame).gap <= 1e-11
