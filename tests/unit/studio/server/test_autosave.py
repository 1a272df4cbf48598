"""The scene is saved while one works, and comes back when the studio is started again."""

from pathlib import Path

import pytest

from poise.figures import built_in
from poise.studio.control.modes import Modes
from poise.studio.scenes.openings import EXAMPLE_SCENES
from poise.studio.server.autosave import Autosave, autosave_file
from poise.studio.session.changes import open_scene, with_figure
from poise.studio.session.edits.body import with_mass
from poise.studio.session.postures import in_posture
from poise.studio.session.session import Session


def started(path: Path) -> tuple[Autosave, Session]:
    """A studio that was just started and has looked for its last scene."""
    modes = Modes(Session(built_in("human")))
    autosave = Autosave(modes, path)
    autosave.recover()
    return autosave, modes.session


def test_a_scene_and_its_posture_come_back_and_undo_returns_to_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "studio.scene"
    autosave, session = started(path)
    assert not autosave.save(), "nothing was changed yet"
    first = session.state.scene
    open_scene(session, EXAMPLE_SCENES["Reach for a ball"]())
    session.update(lambda state: in_posture(state, "sitting"))
    assert autosave.save()
    assert not autosave.save(), "nothing was changed since"
    again, found = started(path)
    assert again.modes.recovered
    assert [task.label for task in found.state.scene.tasks] == [task.label for task in session.state.scene.tasks]
    assert found.state.posture.q == pytest.approx(session.state.posture.q, abs=1e-9)
    found.undo()
    assert found.state.scene == first


def test_an_edited_figure_comes_back(tmp_path: Path) -> None:
    autosave, session = started(tmp_path / "studio.scene")
    session.update(lambda state: with_figure(state, with_mass(state.figure, "pelvis", 7.5)))
    assert autosave.save()
    _, found = started(tmp_path / "studio.scene")
    assert found.state.figure.bodies["pelvis"].mass.mass == pytest.approx(7.5)


def test_a_file_that_cannot_be_read_is_left_out_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "studio.scene"
    path.write_bytes(b"figure = 'nobody'")
    _, session = started(path)
    assert session.state.figure.name == "human"
    assert "could not be opened" in capsys.readouterr().err


def test_what_a_mode_shows_is_not_saved(tmp_path: Path) -> None:
    autosave, session = started(tmp_path / "studio.scene")
    autosave.modes.enter("expressive")
    assert session.can_undo
    assert not autosave.save()


def test_studios_at_different_ports_have_files_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POISE_STATE_DIR", str(tmp_path))
    assert autosave_file(8123).parent == tmp_path
    assert autosave_file(8123) != autosave_file(8124)
