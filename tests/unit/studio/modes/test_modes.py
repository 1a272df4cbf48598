"""Modes without a browser: their effect on the session, and the updates that pages receive."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import PoiseError, TaskError
from poise.formats.trainers.kinds import KINDS
from poise.studio.control.modes import Known, Modes
from poise.studio.modes.circles.circles import CirclesMode
from poise.studio.modes.circles.demos import BALL_RADIUS, DEMOS, FINGER_NAMES
from poise.studio.modes.expressive.expressive import CHAIN_FIGURES, SOLVER_NAMES, ExpressiveMode, gaze_and_posture
from poise.studio.modes.expressive.filter import Filtered, FilterSettings
from poise.studio.modes.expressive.postures import posture_choices
from poise.studio.modes.expressive.robot import FIRST_ADDRESS, RobotLine
from poise.studio.modes.mechanism import LOOP_FIGURES, loop_cycles
from poise.studio.modes.retarget.retarget import RetargetMode, exported, exported_for
from poise.studio.modes.retarget.work import Work, similarity
from poise.studio.scenes.examples import THESIS
from poise.studio.session.changes import scene_change
from poise.studio.session.driver import TICK
from poise.studio.session.edits.scene import without_task
from poise.studio.session.samples import SAMPLES_KEPT, Samples
from poise.studio.session.session import Session
from tests.unit.robots.emulated import Cable, TextBoard, until
from tests.unit.studio.pointer import aim, drag, press


@pytest.fixture
def modes() -> Modes:
    return Modes(Session(poise.load("adelino")))


def settle(modes: Modes, most: int = 600) -> int:
    """The number of steps until the figure rests."""
    for k in range(most):
        if not modes.session.tick():
            return k
    raise AssertionError("the figure does not come to rest")


def test_the_gaze_comes_to_rest_on_its_target_with_every_posture(modes: Modes) -> None:
    modes.enter("expressive")
    for name in ("curious", "sad", "proud"):
        modes.expressive.hold(modes.session, name)
        settle(modes)
        assert modes.expressive.numbers is not None
        assert modes.expressive.numbers.gaze < 1e-3
        assert modes.session.state.outcome.light == "green"
        assert gaze_and_posture(modes.session.state)[1].label == name


@pytest.mark.parametrize("solver", SOLVER_NAMES)
def test_what_is_shown_keeps_the_filters_limits_whoever_solves(modes: Modes, solver: str) -> None:
    settings = FilterSettings(velocity=2.0, acceleration=15.0, jerk=300.0)
    modes.enter("expressive")
    modes.session.update(lambda state: replace(state, mode=ExpressiveMode(solver=solver, filter=settings)))
    shown = []
    for k in range(240):
        if k % 40 == 0:
            aim(modes.session, 0, (0.5 * (-1) ** (k // 40), 0.3, 0.6), gesture=k)
        modes.session.tick()
        shown.append(modes.session.state.posture.q)
    q = np.array(shown)
    for order, limit in enumerate((settings.velocity, settings.acceleration, settings.jerk), start=1):
        assert np.abs(np.diff(q, order, axis=0)).max() / TICK**order <= limit * (1.0 + 1e-6)
    assert np.ptp(q, axis=0).max() > 0.3
    assert all(poise.load("adelino").violations(poise.load("adelino").posture(row)) == [] for row in q[::20])


def test_new_settings_of_the_filter_do_not_jerk_what_moves() -> None:
    lamp = poise.load("adelino")
    filtered = Filtered(Samples())
    filtered.begin(lamp.neutral())
    quick, slow = FilterSettings(), FilterSettings(velocity=0.5)
    rows = [filtered.step(quick if k < 8 else slow, lamp.posture("sad")).q for k in range(400)]
    jerk = np.abs(np.diff(np.array(rows), 3, axis=0)).max() / TICK**3
    assert jerk <= quick.jerk * (1.0 + 1e-6)
    assert rows[-1] == pytest.approx(lamp.posture("sad").q, abs=1e-3)


@pytest.mark.parametrize("name", CHAIN_FIGURES)
def test_every_chain_has_postures_to_choose_from(name: str) -> None:
    figure = poise.load(name)
    choices = posture_choices(figure)
    assert len(choices) >= 4
    assert all(figure.violations(posture) == [] for posture in choices.values())
    assert len({posture.q.tobytes() for posture in choices.values()}) >= 3


def test_a_figure_that_is_no_chain_is_replaced_by_one_that_is() -> None:
    modes = Modes(Session(poise.load("human")))
    modes.enter("expressive")
    assert modes.session.state.figure.name == "adelino"
    modes.choose_figure("erik_c")
    assert (modes.session.state.mode.name, modes.session.state.figure.name) == ("expressive", "erik_c")
    modes.choose_figure("human")
    assert modes.session.state.mode.name == "pose"


def test_undo_goes_back_through_modes_and_their_settings(modes: Modes) -> None:
    modes.enter("expressive")
    modes.session.update(lambda state: replace(state, mode=ExpressiveMode(solver="erik")))
    modes.enter("circles")
    modes.session.undo()
    assert modes.session.state.mode == ExpressiveMode(solver="erik")
    modes.session.undo()
    assert modes.session.state.mode == ExpressiveMode()
    modes.session.undo()
    assert modes.session.state.mode.name == "pose"
    modes.session.redo()
    assert modes.session.state.mode == ExpressiveMode()


def test_a_dry_run_opens_nothing_and_ends_with_the_mode(modes: Modes) -> None:
    modes.enter("expressive")
    robot: RobotLine = modes.expressive.robot
    robot.start(FIRST_ADDRESS, modes.session.state.figure)
    assert robot.is_on
    for _ in range(100):
        assert modes.session.tick(), "a robot must hear of us even when nothing moves"
        time.sleep(0.005)
        if robot.lines:
            break
    assert "→" in robot.lines[-1]
    modes.enter("pose")
    assert not robot.is_on


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX thing")
def test_a_robot_that_is_started_again_goes_on_where_its_servos_were_left(tmp_path: Path) -> None:
    board = TextBoard()
    cable = Cable(tmp_path / "tty", board)
    lamp, robot = poise.load("adelino"), RobotLine()
    robot.start(f"serial:{cable.path}", lamp, dry_run=False)
    for _ in range(60):
        robot.write(lamp.posture("happy"))
        time.sleep(0.01)
    assert robot.stop("enough")
    assert not robot.stop()
    assert robot.lines[-1] == "enough"
    time.sleep(0.1)
    last = board.lines[-1]
    robot.start(f"serial:{cable.path}", lamp)
    time.sleep(0.1)
    assert board.lines[-1] == last, "a dry run sends nothing"
    before = len(board.lines)
    robot.start(f"serial:{cable.path}", lamp, dry_run=False)
    assert until(lambda: len(board.lines) > before)
    robot.stop()
    assert board.lines[before] == last
    cable.unplug()


@pytest.mark.parametrize("name", LOOP_FIGURES)
def test_every_loop_is_a_way_around(name: str) -> None:
    figure = poise.load(name)
    cycles = loop_cycles(figure)
    assert len(cycles) == len(figure.loops)
    for k, cycle in enumerate(cycles):
        assert cycle[0] == cycle[-1] == -1 - k
        assert len(set(cycle)) >= 2


def test_a_mechanism_pulled_out_of_its_workspace_stays_closed() -> None:
    modes = Modes(Session(poise.load("five_bar")))
    modes.enter("mechanism")
    figure = modes.session.state.figure
    press(modes.session, "me", figure.bodies.index("left_forearm"), (0, 0, 0))
    drag(modes.session, "me", (0.0, 3.0, 0.0))
    for _ in range(60):
        modes.session.tick()
        assert figure.closure_error(modes.session.state.posture) < 1e-9
    number, rows = modes.mechanism.rows(0)
    assert number > 5
    assert rows[-1][-2] > 1000.0
    assert max(row[-1] for row in rows) < 1e3


def test_the_end_point_of_the_arm_stays_between_its_zones(modes: Modes) -> None:
    modes.enter("circles")
    least, most = poise.chains.circle_zones(poise.load("arm"))
    for at in ((5.0, 5.0), (0.4, 0.5), (-2.0, 0.3), (0.0, 0.25)):
        modes.circles.point(modes.session, at, "drag")
        settle(modes)
        mode = modes.session.state.mode
        assert isinstance(mode, CirclesMode)
        far = np.hypot(mode.at[0], mode.at[1] - 0.25)
        assert least - 1e-9 <= far <= most + 1e-9


def test_the_arm_is_exactly_where_its_handle_is_whatever_its_turntable(modes: Modes) -> None:
    modes.enter("circles")
    modes.session.update(lambda state: replace(state, mode=CirclesMode(at=(0.6, 0.6), turn=0.8)))
    settle(modes)
    tip = modes.session.state.figure.pose_of("tip", modes.session.state.posture).position
    assert tip == pytest.approx([0.6 * np.sin(0.8), 0.6, 0.6 * np.cos(0.8)], abs=1e-9)


def test_a_pedal_is_dragged_and_the_feet_go_with_it(modes: Modes) -> None:
    modes.enter("circles")
    modes.choose_figure("cyclist")
    for _ in range(20):
        assert modes.session.tick(), "it pedals by itself"
    modes.circles.point(modes.session, (0.0, 1.0), "drag")
    settle(modes)
    posture = modes.session.state.posture
    pedal = posture.figure.pose_of("left_pedal", posture).position
    assert pedal == pytest.approx([0.1, 0.28 + 0.17, 0.0], abs=1e-3)
    assert posture.figure.pose_of("left_foot", posture).position == pytest.approx(pedal, abs=1e-9)


def test_the_hand_closes_on_a_ball_in_range_and_opens_again(modes: Modes) -> None:
    modes.enter("circles")
    modes.choose_figure("hand")
    settle(modes)
    assert modes.session.state.posture.q == pytest.approx(DEMOS["hand"].figure.posture("open").q)
    modes.circles.point(modes.session, (0.045, 0.115), "drag")
    settle(modes)
    state = modes.session.state
    assert state.scene.obstacles[0].name == "ball"
    for finger in FINGER_NAMES:
        tip = state.figure.pose_of(f"{finger}_tip", state.posture).position
        assert np.linalg.norm(tip - [0.0, 0.115, 0.045]) == pytest.approx(BALL_RADIUS, abs=1e-9)
    modes.circles.point(modes.session, (0.2, 0.2), "drag")
    settle(modes)
    assert modes.session.state.posture.q == pytest.approx(DEMOS["hand"].figure.posture("open").q)


def test_pairs_are_chosen_where_nothing_matches(modes: Modes, tmp_path: Path) -> None:
    session, driver = modes.session, modes.retarget
    modes.enter("retarget")
    waited(modes)
    driver.take_figure(session, poise.load("adelino"))
    until(lambda: driver.draft(session.state) is not None)
    session.tick()
    assert driver.work(session.state) is None
    assert "click a joint of the clip" in session.state.outcome.sentence
    overlay = driver.overlay(session.state)
    assert overlay is not None and overlay["marks"] == []
    assert len(driver.views(session.state)["source"]["places"]) == 3 * len(overlay["names"])
    head, last = overlay["names"].index("head"), len(session.state.figure.bodies) - 1
    driver.hear(session, {"do": "pair", "joint": head, "body": last})
    work = waited(modes)
    assert [(link.joint, link.site) for link in work.request.mapping.links] == [
        ("head", session.state.figure.bodies[last].name)
    ]
    exported(session.state, tmp_path / "pairs.toml")
    driver.pair(session, "pelvis", session.state.figure.bodies[1].name)
    assert len(waited(modes).request.mapping.links) == 2
    modes.inbox.take("pairs.toml", (tmp_path / "pairs.toml").read_bytes())
    assert waited(modes).request.mapping == work.request.mapping


def test_a_motion_is_exported_for_a_trainer(modes: Modes, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no motion to export"):
        exported_for(modes.session.state, tmp_path / "x", "gmr")
    modes.enter("retarget")
    waited(modes)
    answers = []
    for kind in KINDS:
        try:
            answers.append(exported_for(modes.session.state, tmp_path / kind, kind).stat().st_size)
        except PoiseError as refusal:  # of a figure that is not made of hinges
            answers.append(str(refusal))
    assert all(answers)


def test_a_motion_of_the_figure_itself_comes_back_exactly(modes: Modes) -> None:
    modes.enter("retarget")
    motion = waited(modes).motion
    modes.retarget.take_clip(modes.session, poise.Clip(motion.figure, motion.q, motion.rate, "again"))
    again = waited(modes)
    assert again.motion.q.tobytes() == motion.q.tobytes()
    assert again.motion.rate == motion.rate
    assert again.quality.tracking.max() < 1e-12
    assert again.slowed == ""


def test_a_motion_that_is_slower_than_its_clip_says_so_and_names_the_joint(modes: Modes) -> None:
    modes.enter("retarget")
    work = waited(modes)
    assert work.slowed == ""
    slow = poise.Motion(work.motion.figure, work.motion.q, 0.25 * work.motion.rate, track=work.motion.track)
    human = slow.figure
    fastest = np.linalg.norm(slow.velocity[:, human.v_slice("right_elbow")], axis=1).max()
    lame = human.replaced(joints=[replace(j, speed=fastest) if j.name == "right_elbow" else j for j in human.joints])
    named = replace(work, motion=poise.Motion(lame, slow.q, slow.rate, track=slow.track))
    assert named.slowed == "Slowed down from 3.0 s to 12.0 s: right elbow cannot move faster."
    modes.session.update(lambda state: replace(state, mode=RetargetMode(work=replace(work, motion=slow))))
    modes.session.tick()
    assert modes.session.state.outcome.light == "orange"
    assert modes.session.state.outcome.sentence.startswith("Slowed down from 3.0 s to 12.0 s: ")


def test_a_clip_is_retargeted_and_pairs_can_be_changed(modes: Modes) -> None:
    modes.enter("retarget")
    first = _work(modes)
    assert first.motion.figure.name == "human"
    assert first.source.shape == (len(first.motion), len(first.request.clip.figure.bodies), 3)
    modes.retarget.pair(modes.session, "head", None)
    second = _work(modes, other_than=first)
    assert "head" not in {link.joint for link in second.request.mapping.links}
    modes.session.undo()
    mode = modes.session.state.mode
    assert isinstance(mode, RetargetMode)
    assert mode.work is first
    jerky = replace(first, quality=replace(first.quality, spikes=(30,)))
    assert jerky.plots()["marks"] == jerky.spikes == [1.25]
    modes.retarget.seek(modes.session, 1.0)
    modes.session.tick()
    assert modes.session.state.posture == first.motion[24]


def _work(modes: Modes, other_than: Work | None = None) -> Work:
    for _ in range(6000):
        modes.session.tick()
        work = modes.retarget.work(modes.session.state)
        if work is not None and work is not other_than:
            return work
        time.sleep(0.01)
    raise AssertionError(modes.retarget.problem or "no motion after a minute")


def waited(modes: Modes) -> Work:
    """The result of the newest request."""
    for _ in range(6000):
        modes.session.tick()
        work = modes.retarget.work(modes.session.state)
        if work is not None and modes.retarget.progress is None:
            return work
        assert modes.retarget.problem == ""
        time.sleep(0.01)
    raise AssertionError("no motion after a minute")


def test_without_a_motion_there_is_nothing_to_export(modes: Modes, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="there is no motion to export"):
        exported(modes.session.state, tmp_path / "motion.csv")


def test_points_are_laid_on_points() -> None:
    rng = np.random.default_rng(3)
    source = rng.normal(size=(40, 3))
    turn = poise.Pose((0, 0, 0), poise.load("adelino").pose_of("tip", "sad").rotation).matrix
    found, scale, moved = similarity(source, 2.5 * source @ turn.T + [1.0, 2.0, 3.0])
    assert found == pytest.approx(turn, abs=1e-12)
    assert scale == pytest.approx(2.5)
    assert moved == pytest.approx([1.0, 2.0, 3.0])


def test_a_page_is_told_everything_once(modes: Modes) -> None:
    known = Known()
    assert modes.news(known)["mode"] == "pose"
    assert modes.news(known) == {}
    for name in ("expressive", "mechanism", "circles"):
        modes.enter(name)
        modes.session.tick()
        news = modes.news(known)
        assert news["mode"] == name
        assert len(json.dumps(news)) < 20_000
        assert "mode" not in modes.news(known)


def test_samples_are_numbered_and_old_ones_forgotten() -> None:
    samples = Samples()
    for k in range(SAMPLES_KEPT + 10):
        samples.add([k, 0.5])
    count, rows = samples.since(SAMPLES_KEPT + 8)
    assert (count, rows) == (SAMPLES_KEPT + 10, [[SAMPLES_KEPT + 8, 0.5], [SAMPLES_KEPT + 9, 0.5]])
    assert len(samples.since(0)[1]) == SAMPLES_KEPT


@pytest.mark.parametrize("name", THESIS)
def test_scenes_of_the_thesis_come_to_rest_inside_all_limits(name: str) -> None:
    session = Session(THESIS[name]())
    for _ in range(300):
        if not session.tick():
            break
    state = session.state
    assert state.outcome.light in ("green", "orange"), state.outcome.sentence
    assert state.figure.violations(state.posture) == []


def test_the_scapula_stays_on_the_ribs_wherever_the_hand_is_pulled() -> None:
    session = Session(THESIS["7.3 Sliding scapula"]())
    figure, ribs = session.state.figure, session.state.scene.tasks[0]
    assert isinstance(ribs, poise.OnEllipsoid)
    assert ribs.distance_in(figure.neutral()) == pytest.approx(0.0, abs=1e-12)
    for _ in range(300):
        if not session.tick():
            break
    session.update(scene_change(without_task, 1))
    press(session, "me", figure.bodies.names.index("forearm"), [0.0, -0.26, 0.0])
    seen = []
    for goal in ([-1.2, 1.9, 0.4], [-0.2, 0.7, 0.3], [0.3, 1.3, 0.5]):
        drag(session, "me", goal)
        for _ in range(400):
            if not session.tick():
                break
        posture = session.state.posture
        seen.append(figure.pose_of("touch", posture).position)
        assert ribs.distance_in(posture) == pytest.approx(0.0, abs=1e-6)
        assert figure.violations(posture) == []
    assert np.ptp(seen, axis=0).max() > 0.03, "it slides"


def test_the_uneven_arm_keeps_out_of_its_least_zone(modes: Modes) -> None:
    modes.enter("circles")
    modes.choose_figure("uneven arm")
    least, most = poise.chains.circle_zones(DEMOS["uneven arm"].figure)
    assert least == pytest.approx(0.22)
    for at, far in (((0.02, 0.03), least), ((0.0, 0.0), least), ((3.0, 1.0), most), ((0.3, 0.4), 0.5)):
        modes.circles.point(modes.session, at, "drag")
        settle(modes)
        state = modes.session.state
        tip = state.figure.pose_of("tip", state.posture).position
        assert np.linalg.norm(tip) == pytest.approx(far, abs=1e-9)
