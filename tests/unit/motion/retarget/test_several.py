import numpy as np
import pytest

import poise
from poise.cli.app import run
from poise.errors import FigureError, TaskError
from poise.figure.anatomy.roles import moving_roles
from poise.formats.bvh.writer import write_bvh
from poise.motion.clip.motion import Motion
from poise.motion.mapping import mapping
from poise.motion.retarget.retarget import retarget_all
from tests.unit.motion.retarget.stick_man import stepping

HUMAN = poise.load("human")


def clips():
    """Three clips, of which the second has unknown names and bones of length zero and cannot be retargeted."""
    return [stepping(frames=8), stepping(frames=6, scale=0.0), stepping(frames=10, rate=60.0)]


@pytest.mark.parametrize("cores", [1, 2])
def test_results_come_in_order_and_a_bad_clip_does_not_affect_others(cores):
    one, bad, other = retarget_all(clips(), HUMAN, cores=cores)
    assert isinstance(bad, poise.PoiseError)
    for motion, clip in ((one, clips()[0]), (other, clips()[2])):
        assert isinstance(motion, Motion)
        np.testing.assert_array_equal(motion.q, poise.retarget(clip, HUMAN).q)


def test_a_retargeting_finds_the_roles_of_its_clip_once(monkeypatch):
    asked = []

    def counted(figure, places):
        asked.append(figure)
        return moving_roles(figure, places)

    monkeypatch.setattr(mapping, "moving_roles", counted)
    mapping.clip_roles.cache_clear()
    poise.retarget(stepping(frames=8), poise.load("walker"))
    assert len(asked) == 1


def test_a_wrong_number_of_cores_is_refused():
    with pytest.raises(TaskError, match="number of cores must be a whole number of 1 or more, not 0"):
        list(retarget_all(clips(), HUMAN, cores=0))


def test_the_command_takes_a_folder_of_clips(tmp_path, capsys):
    (tmp_path / "clips").mkdir()
    write_bvh(stepping(frames=8), tmp_path / "clips" / "one.bvh")
    write_bvh(stepping(frames=6), tmp_path / "clips" / "two.bvh")
    (tmp_path / "clips" / "bad.bvh").write_text("HIERARCHY\n")
    code = run(["retarget", str(tmp_path / "clips"), "human", "-o", str(tmp_path / "out"), "--cores", "1"])
    said = capsys.readouterr()
    assert code == 2
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["manifest.csv", "one.npz", "records", "two.npz"]
    assert len(poise.load_clip(tmp_path / "out" / "one.npz")) == 8
    assert "bad.bvh" in said.err
    assert "8 frames" in said.out


def test_a_folder_without_clips_is_refused(tmp_path, capsys):
    assert run(["retarget", str(tmp_path), "human", "-o", str(tmp_path / "out")]) == 2
    assert "has no animations" in capsys.readouterr().err


def test_errors_survive_the_way_between_processes():
    import pickle

    problem = pickle.loads(pickle.dumps(FigureError("a clip needs at least one frame.")))
    assert str(problem) == "a clip needs at least one frame."
