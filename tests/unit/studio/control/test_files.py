"""Files that are dropped on the page: each kind is opened, or an error says what is wrong."""

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import PoiseError
from poise.formats.table.posture_json import posture_text
from poise.studio.control.files import saved_scene
from poise.studio.control.modes import Modes
from poise.studio.modes.retarget.first_clip import greeting
from poise.studio.modes.retarget.retarget import RetargetMode, motion_stem
from poise.studio.session.session import Session
from tests.unit.studio.pointer import drag, press

BROKEN = {
    "robot.urdf": b"<robot",
    "robot.xml": b"<mujoco><worldbody>",
    "walk.bvh": b"HIERARCHY\nROOT hips\n{\n",
    "walk.gltf": b"{",
    "walk.glb": b"glTF????",
    "scene.toml": b'figure = "human"\ncolor = 3\n',
    "lamp.figure.toml": b"joints = 7\n",
    "posture.json": b"{",
    "posture_of_another.json": b'{ "tentacle": 0.3 }',
    "motion.json": b'{ "figure": "human", "q": [[0, 1]] }',
    "motion.csv": b"time,nothing\n0,1\n",
    "motion.npz": b"PK",
    "scene.zip": b"PK",
    "notes.txt": b"hello",
}

WHOLE = {
    "arm.urdf": b"""<robot name="arm"><link name="upper"/><link name="forearm"/>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="forearm"/><origin xyz="0 0 0.3"/>
<axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>""",
    "arm.xml": b"""<mujoco model="arm"><worldbody><body name="upper"><geom size="0.05"/>
<body name="forearm" pos="0 0 0.3">
<joint name="elbow" type="hinge" axis="1 0 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.3"/></body></body>
</worldbody></mujoco>""",
}


@pytest.fixture
def modes() -> Modes:
    return Modes(Session(poise.load("human")))


def shown(modes: Modes) -> RetargetMode:
    """Wait until the retargeting is solved, and return it."""
    for _ in range(3000):
        mode = modes.session.state.mode
        if isinstance(mode, RetargetMode) and mode.work is not None and modes.retarget.progress is None:
            return mode
        assert modes.retarget.problem == ""
        time.sleep(0.1)
    raise AssertionError("nothing is retargeted")


def write_clip(path: Path, frames: int) -> None:
    clip = greeting()
    poise.Motion(clip.figure, clip.q[:frames], clip.rate, clip.name).save(path)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_says_what_is_wrong_and_changes_nothing(modes: Modes, name: str) -> None:
    before = modes.session.state
    with pytest.raises(PoiseError, match=rf"^{name}") as refusal:
        modes.inbox.take(name, BROKEN[name])
    assert str(modes.inbox.folder) not in str(refusal.value)
    assert modes.session.state is before


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_while_motions_are_shown(modes: Modes, name: str) -> None:
    modes.session.update(lambda state: replace(state, mode=RetargetMode()))
    before = modes.session.state
    with pytest.raises(PoiseError, match=rf"^{name}"):
        modes.inbox.take(name, BROKEN[name])
    assert modes.session.state is before


@pytest.mark.parametrize("name", WHOLE)
def test_robots_open_from_the_formats_that_people_have(modes: Modes, name: str) -> None:
    modes.inbox.take(name, WHOLE[name])
    figure = modes.session.state.figure
    assert "elbow" in figure.joints.names
    hand = figure.bodies.names.index("forearm")
    press(modes.session, "me", hand, [0.0, 0.0, 0.3])
    before = modes.session.state.posture
    drag(modes.session, "me", [0.2, 0.1, 0.5])
    for _ in range(30):
        modes.session.tick()
    assert modes.session.state.posture != before


def test_a_saved_posture_comes_back_and_can_be_undone(modes: Modes) -> None:
    human = modes.session.state.figure
    waving = human.posture("waving")
    standing = modes.session.state.posture
    modes.inbox.take("posture.json", posture_text(waving).encode())
    assert modes.session.state.posture.q == pytest.approx(waving.q, abs=1e-9)
    modes.session.undo()
    assert modes.session.state.posture is standing


def test_a_posture_is_refused_with_a_sentence_where_a_mode_computes_it(modes: Modes) -> None:
    waving = posture_text(modes.session.state.figure.posture("waving")).encode()
    modes.session.update(lambda state: replace(state, mode=RetargetMode()))
    with pytest.raises(PoiseError, match=r"waving\.json is a posture.*switch to the pose mode first"):
        modes.inbox.take("waving.json", waving)


def test_files_are_called_after_what_is_in_them(modes: Modes) -> None:
    assert saved_scene(modes.session)[0] == "human_scene.toml"
    assert motion_stem(modes.session.state) == "motion"
    modes.enter("retarget")
    work = shown(modes).work
    assert work is not None
    assert motion_stem(modes.session.state) == f"{work.request.clip.name} on human"


def test_the_wait_after_the_last_frame_is_explained(modes: Modes) -> None:
    driver = modes.retarget
    modes.session.update(lambda state: replace(state, mode=RetargetMode()))
    for progress, words in (((3, 70), "frame 3 of 70"), ((70, 70), "smoothed and measured")):
        driver.progress = progress
        driven = driver.drive(modes.session.state)
        assert driven is not None and words in driven.outcome.sentence


def test_a_posture_outside_the_limits_is_brought_inside(modes: Modes) -> None:
    modes.inbox.take("bent.json", json.dumps({"right_elbow": 9.0}).encode())
    state = modes.session.state
    assert state.figure.violations(state.posture) == []
    assert np.sum(state.posture["right_elbow"]) > 1.0


def test_a_clip_is_a_figure_to_pose_or_moves_whoever_performs(modes: Modes, tmp_path: Path) -> None:
    path = tmp_path / "child.bvh"
    write_clip(path, 12)
    modes.inbox.take("child.bvh", path.read_bytes())
    assert modes.session.state.mode.name == "pose"
    assert modes.session.state.figure.name != "human"
    modes.session.undo()
    modes.session.update(lambda state: replace(state, mode=RetargetMode()))
    modes.inbox.take("child.bvh", path.read_bytes())
    work = shown(modes).work
    assert work is not None
    assert len(work.request.clip) == 12
    assert work.request.figure.name == "human"


def test_a_figure_dropped_while_motions_are_shown_performs_the_clip(modes: Modes, tmp_path: Path) -> None:
    path = tmp_path / "short.bvh"
    write_clip(path, 6)
    modes.session.update(lambda state: replace(state, mode=RetargetMode()))
    modes.inbox.take("short.bvh", path.read_bytes())
    shown(modes)
    giant = tmp_path / "giant.figure.toml"
    poise.load("human").replaced(name="giant").save(giant)
    modes.inbox.take(giant.name, giant.read_bytes())
    work = shown(modes).work
    assert work is not None
    assert work.request.figure.name == "giant"
    assert len(work.request.clip) == 6
    modes.choose_figure("human")
    shown(modes)
    modes.choose_figure("giant")
    assert shown(modes).work.request.figure.name == "giant"  # type: ignore[union-attr]


@pytest.mark.parametrize("ending", ["json", "npz", "csv"])
def test_an_exported_motion_plays_again(modes: Modes, ending: str, tmp_path: Path) -> None:
    human = modes.session.state.figure
    keys = [human.posture("standing"), human.posture("waving")]
    way = human.difference(*keys)
    rows = np.array([human.integrate(keys[0], share * way).q for share in np.linspace(0.0, 0.2, 6)])
    path = tmp_path / f"motion.{ending}"
    poise.Motion(human, rows, 24.0).save(path)
    modes.inbox.take(path.name, path.read_bytes())
    work = shown(modes).work
    assert work is not None
    assert len(work.motion) == 6
    assert work.quality.tracking.max() < 0.01
