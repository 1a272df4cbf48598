"""The evaluation of loops: its measures, and the page it writes."""

import numpy as np
import pytest
from typer.testing import CliRunner

import poise
from poise.cli.app import app
from poise.errors import TaskError
from poise.evaluation.loops.evaluation import CASES, built, run
from poise.evaluation.loops.growth import ladder
from poise.evaluation.loops.motions import Dance, Punch, Walk
from poise.evaluation.loops.report import TABLE_1


@pytest.mark.parametrize("name", CASES)
def test_robots_have_the_parts_of_table_1(name):
    row, paper = run(built(name), 0.05), TABLE_1[name]
    assert (row.actuators, row.joints, row.components, row.targets) == paper[:4]
    assert row.gap <= 1e-9


def test_the_dancer_is_as_exact_as_the_papers():
    assert run(built("Dancer"), 0.5).largest <= 2.46e-5


def test_the_walker_is_as_exact_as_the_papers():
    row = run(built("Walker"), 1.0)
    assert row.largest <= 1.11
    assert row.center is not None
    assert row.center <= 1.30


def test_speed_limits_hold_where_the_boxer_would_race():
    free, limited = (run(built(name), 2.0) for name in ("Boxer", "Boxer (limited)"))
    assert free.speed > 30.0
    assert limited.speed <= 4.4 + 1e-9
    assert free.largest < limited.largest


def test_regularisers_keep_the_boxers_motors_below_their_limits():
    figure, row = poise.load("boxer"), run(built("Boxer (reg.)"), 2.0)
    assert row.speed <= min(float(joint.speed) for joint in figure.joints if joint.nv)
    assert row.mean < 100.0, "it goes on following"


def test_the_punch_passes_the_singularity():
    """Upper arm and first shoulder axis, x, are almost in line half way, and not at the ends."""
    figure, punch = poise.load("boxer"), Punch()
    shoulder = figure.pose_of("upper_arm", punch.start()).position
    near = []
    for time in (0.0, 0.5 * punch.seconds, punch.seconds):
        result = poise.solve(figure, [poise.Frame("glove", punch.pose(figure, time))], start=punch.start())
        arm = figure.pose_of("forearm", result.posture).position - shoulder
        near.append(float(np.degrees(np.arccos(abs(arm[0]) / np.linalg.norm(arm)))))
    assert near[0] > 20.0
    assert near[1] < 2.0
    assert near[2] > 20.0


def test_motions_are_continuous():
    dancer, walker = poise.load("dancer"), poise.load("walker")
    for time in np.linspace(0.0, 4.0, 81):
        for pose in (Dance().pose, Walk().pelvis):
            figure = dancer if pose.__qualname__.startswith("Dance") else walker
            assert np.linalg.norm(pose(figure, time + 1e-4).position - pose(figure, time).position) < 1e-4
        for side in ("left", "right"):
            step = Walk().foot(walker, side, time + 1e-4).position - Walk().foot(walker, side, time).position
            assert np.linalg.norm(step) < 1e-4


def test_a_ladder_has_a_loop_for_every_rung():
    figure = ladder(3)
    assert (len(figure.bodies), len(figure.loops)) == (10, 3)


def test_bad_questions_are_refused():
    with pytest.raises(TaskError, match="there is no 'Runner'"):
        built("Runner")
    with pytest.raises(TaskError, match="needs a positive duration"):
        run(built("Dancer"), -1.0)


def test_the_command_writes_a_page(tmp_path):
    result = CliRunner().invoke(app, ["evaluate", "loops", "--seconds", "0.1", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.html").read_text()
    assert "13.99" in page
    assert (tmp_path / "time.png").stat().st_size > 1000
