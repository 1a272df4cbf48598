"""Loops of loaded files are closed, cleaned of rounding errors and guarded."""

import logging
from pathlib import Path

import numpy as np
import pytest

import poise
from tests.unit.formats.urdf.test_closures import CLOSED, FIVE_BAR


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    robot, closures = tmp_path / "robot.urdf", tmp_path / "robot.yaml"
    robot.write_text(FIVE_BAR)
    closures.write_text(CLOSED)
    return robot, closures


def test_rounding_is_removed_and_logged(files, caplog) -> None:
    robot, closures = files
    robot.write_text(FIVE_BAR.replace('xyz="1 1 0"', 'xyz="1.00000002 1 0"'))
    with caplog.at_level(logging.INFO):
        figure = poise.load(robot, closures=closures)
    assert figure.closure_error(figure.neutral()) < 1e-15
    assert "cleaned of rounding: anchors by up to 1e-08 m" in caplog.text


def test_an_open_file_is_assembled(files, caplog) -> None:
    robot, closures = files
    robot.write_text(FIVE_BAR.replace('xyz="1 1 0"', 'xyz="1.1 1 0"'))
    with caplog.at_level(logging.INFO):
        figure = poise.load(robot, closures=closures)
    assert figure.closure_error(figure.neutral()) < 1e-12
    assert "the neutral posture is now an assembled one" in caplog.text
    assert figure.posture("neutral") == figure.neutral()


def test_loops_that_cannot_be_closed_stay_open_with_a_warning(files, caplog) -> None:
    robot, closures = files
    robot.write_text(FIVE_BAR.replace('xyz="1 0 0"', 'xyz="9 0 0"'))
    with caplog.at_level(logging.WARNING):
        figure = poise.load(robot, closures=closures)
    assert "could not be assembled: its loop joint 'tip_a_meets_b_tip' stays open by" in caplog.text
    assert not np.any(figure.neutral().q)


def test_guards_are_on_by_default_visible_and_overridable(files, caplog) -> None:
    robot, closures = files
    with caplog.at_level(logging.INFO):
        figure = poise.load(robot, closures=closures)
    assert np.degrees(figure.joints["knee_a"].upper[0]) == pytest.approx(43.0)
    assert "knee_a stays between" in caplog.text
    assert "knee_a" in figure.describe()
    free = poise.load(robot, closures=closures, guards=False)
    assert free.joints["knee_a"].upper == (np.inf,)
