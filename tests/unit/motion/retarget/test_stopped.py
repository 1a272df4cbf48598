"""An interrupted retargeting keeps the frames that are solved."""

import numpy as np
import pytest

import poise
from poise.cli.app import run
from poise.errors import TaskError
from poise.formats.bvh.writer import write_bvh
from poise.motion.report.report import measure
from poise.motion.retarget.perform import MotionSolver, attached_motion
from tests.unit.motion.retarget.stick_man import stepping

HUMAN = poise.load("human")
FRAMES = 240


def stops_at(frames, problem):
    def progress(done, total):
        if 2 * done >= frames:
            raise problem

    return progress


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), ValueError("the bar broke")])
def test_an_interruption_keeps_the_solved_frames_with_their_contacts(problem):
    clip = stepping(frames=FRAMES)
    with pytest.raises(type(problem)) as stopped:
        poise.retarget(clip, HUMAN, progress=stops_at(100, problem))
    motion = attached_motion(stopped.value)
    assert motion is stopped.value.motion
    assert 100 <= len(motion) < FRAMES
    assert f"{len(motion)} of {FRAMES} frames are solved" in stopped.value.__notes__[0]
    quality = measure(motion)
    assert quality.violations == 0
    assert quality.drift <= 1e-3
    whole = poise.retarget(clip, HUMAN)
    gaps = [np.abs(HUMAN.with_floating_base().difference(motion[i], whole[i])).max() for i in range(20, 90)]
    assert np.median(gaps) < 0.02


def test_an_interruption_of_the_final_solve_keeps_every_frame(monkeypatch):
    def stopped_here(self, clip, tolerance):
        if tolerance < 1e-3:
            raise KeyboardInterrupt
        return np.zeros(len(clip), dtype=bool)

    monkeypatch.setattr(MotionSolver, "_release_slipping_feet", stopped_here)
    with pytest.raises(KeyboardInterrupt) as stopped:
        poise.retarget(stepping(frames=48), HUMAN)
    assert len(attached_motion(stopped.value)) == 48


def test_an_error_before_the_first_frame_has_no_motion():
    with pytest.raises(TaskError) as refused:
        poise.retarget(stepping(), HUMAN, {"LeftHnad": "left_hand"})
    assert attached_motion(refused.value) is None


def test_the_command_saves_solved_frames_when_interrupted(tmp_path, monkeypatch, capsys):
    write_bvh(stepping(frames=FRAMES), tmp_path / "step.bvh")
    seen = []

    def stopped_later(*arguments):
        seen.append(arguments)
        if len(seen) == 4:
            raise KeyboardInterrupt
        fit_clip(*arguments)

    from poise.motion.retarget.frame_fits import fit_clip

    monkeypatch.setattr("poise.motion.retarget.frame_fits.fit_clip", stopped_later)
    assert run(["retarget", str(tmp_path / "step.bvh"), "human", "-o", str(tmp_path / "out.npz")]) == 130
    assert "contains the 100 frames that were solved before the stop." in " ".join(capsys.readouterr().err.split())
    assert len(poise.load_clip(tmp_path / "out.npz")) == 100
