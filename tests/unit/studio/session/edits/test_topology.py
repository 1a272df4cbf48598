"""The structure of a figure is edited: bodies are added, removed and re-parented; the base is freed or fixed."""

import numpy as np
import pytest

import poise
from poise.errors import FigureError
from poise.studio.panels.inspect import least_distances, limit_rows
from poise.studio.session.changes import with_figure
from poise.studio.session.edits.topology import is_floating, with_base, with_new_body, with_parent, without_body
from poise.studio.session.session import Session

HUMAN = poise.load("human")


def test_a_body_is_added_at_the_end_of_another_and_removed() -> None:
    figure = with_new_body(HUMAN, "right_hand", "wand")
    standing = figure.posture("standing")
    assert figure.bodies.names == (*HUMAN.bodies.names, "wand")
    gap = np.linalg.norm(figure.frames(standing)["wand"].position - figure.frames(standing)["right_hand"].position)
    assert 0.0 < gap < 0.3
    assert without_body(figure, "wand") == HUMAN
    for name in ("", "pelvis", "wand"):
        with pytest.raises(FigureError, match="choose another"):
            with_new_body(figure, "pelvis", name)


def test_removing_a_body_takes_what_hangs_on_it_along() -> None:
    figure = without_body(HUMAN, "right_upper_arm")
    assert not {"right_forearm", "right_hand"} & set(figure.bodies.names)
    assert "right_hand" not in figure.sites.names
    assert "left_hand" in figure.sites.names
    assert figure.posture("standing") is not None
    with pytest.raises(FigureError, match="root"):
        without_body(HUMAN, HUMAN.bodies.names[0])


def test_another_parent_moves_nothing() -> None:
    posture = HUMAN.posture("waving")
    figure = with_parent(HUMAN, "right_hand", "thorax", posture)
    there = figure.frames(figure.adopt(posture))
    for body in HUMAN.bodies.names:
        assert there[body].position == pytest.approx(HUMAN.frames(posture)[body].position, abs=1e-12)
    wand = with_new_body(HUMAN, "right_hand", "wand")  # the hand and the head have sites with their names
    held = wand.posture("waving")
    figure = with_parent(wand, "wand", "head", held)
    moved = figure.frames(figure.adopt(held))["wand"].position - wand.frames(held)["wand"].position
    assert np.abs(moved).max() < 1e-12
    with pytest.raises(FigureError, match="hangs on it"):
        with_parent(HUMAN, "right_upper_arm", "right_hand", posture)
    with pytest.raises(FigureError, match="root"):
        with_parent(HUMAN, HUMAN.bodies.names[0], "thorax", posture)


def test_the_base_is_fixed_where_it_is_and_freed_again() -> None:
    posture = HUMAN.posture("waving")
    fixed = with_base(HUMAN, False, posture)
    assert not is_floating(fixed)
    assert fixed.nv == HUMAN.nv - 6
    session = Session(HUMAN)
    session.update(lambda state: with_figure(state, fixed))
    floating = with_base(fixed, True, session.state.posture)
    assert is_floating(floating)
    assert with_base(floating, True, floating.neutral()) is floating


def test_limits_speeds_and_distances_are_listed() -> None:
    state = Session(HUMAN).state
    rows = [row for joint in HUMAN.joints if joint.nv for row in limit_rows(joint)]
    assert all(len(row) == 6 for row in rows)
    assert any(row[0] == "right elbow" or row[0].startswith("right elbow") for row in rows)
    found = least_distances(state)
    distances = [row.distance for row in found]
    assert distances == sorted(distances)
    assert len({frozenset((row.a, row.b)) for row in found}) == len(found) > 5
