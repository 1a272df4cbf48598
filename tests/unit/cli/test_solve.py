"""`poise solve`: the report, the files it writes, and errors about wrong files."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from rich.text import Text

from poise.cli.app import run
from poise.engine.scene import Scene
from poise.figures import built_in

EXAMPLE = Path(__file__).parents[3] / "examples" / "scenes" / "reach.toml"
REACH = """\
figure = "arm"
description = "An arm that reaches"
start = "ready"

[[task]]
kind = "position"
site = "tip"
at = [{x}, 0.3, 0.2]
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A scene that can be solved."""
    path = tmp_path / "reach.toml"
    path.write_text(REACH.format(x=0.2), encoding="utf-8")
    return path


def test_the_report_is_printed(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", str(scene)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "An arm that reaches"
    assert out[1].startswith("Solved after ")
    assert out[3].split() == ["level", "task", "wanted", "got", "error", "outcome"]
    assert out[4].split("  ")[-1].strip() == "met"
    assert "(0.200, 0.300, 0.200)" in out[4]


def test_on_a_terminal_the_report_is_a_table(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=60, color_system="truecolor")
    monkeypatch.setattr("poise.cli.solve.stdout", lambda: console)
    assert run(["solve", str(scene)]) == 0
    lines = Text.from_ansi(written.getvalue()).plain.splitlines()
    assert max(len(line) for line in lines if not line.startswith("At their limits")) <= 60
    assert lines[1].startswith("Solved after ")
    assert any(line.rstrip().endswith("met") for line in lines[3:])


def test_out_of_reach_is_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "far.toml"
    path.write_text(REACH.format(x=9), encoding="utf-8")
    assert run(["solve", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "Unreachable after " in out
    assert "position of tip" in out
    assert err == ""


def test_the_posture_is_written_and_read_back_as_a_start(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    posture = tmp_path / "posture.json"
    assert run(["solve", str(scene), "-o", str(posture)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(posture)
    arm = built_in("arm")
    solved = arm.posture(json.loads(posture.read_text(encoding="utf-8")))
    np.testing.assert_allclose(arm.pose_of("tip", solved).position, (0.2, 0.3, 0.2), atol=1e-5)
    assert run(["solve", str(scene), "--start", str(posture), "--max-steps", "3"]) == 0
    assert "Solved after " in capsys.readouterr().out


def test_a_start_may_be_given_in_words(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", str(scene), "--start", "folded,elbow=60deg", "--max-steps", "1"]) == 0
    assert "after 1 step:" in capsys.readouterr().out


def test_a_picture_is_drawn(scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "arm.png"
    assert run(["solve", str(scene), "--picture", str(picture), "--size", "64x48", "--dark", "--view", "side"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(picture)
    with Image.open(picture) as image:
        assert image.size == (64, 48)


def test_the_example_runs_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posture, picture = tmp_path / "posture.json", tmp_path / "reach.png"
    assert run(["solve", str(EXAMPLE), "-o", str(posture), "--picture", str(picture), "--size", "200x200"]) == 0
    out = capsys.readouterr().out
    assert "Reaching for a ball without falling over" in out
    for task in Scene.load(EXAMPLE).tasks:
        assert task.label in out
    human = built_in("human")
    assert not human.violations(json.loads(posture.read_text(encoding="utf-8")))
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        (("tip", "tpi"), [], "reach.toml:7: figure 'arm' has no site or body 'tpi'. Did you mean 'tip'?"),
        (("position", "positon"), [], "reach.toml:6: 'kind' of task 1 is 'positon'. Did you mean 'position'?"),
        (("", ""), ["--start", "redy"], "Did you mean 'ready'?"),
        (("", ""), ["--start", "nowhere.json"], "nowhere.json: does not exist."),
        (("", ""), ["--size", "big"], "--size takes width and height"),
        (("", ""), ["-o", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
    ],
)
def test_a_wrong_question_gets_one_sentence(
    scene: Path,
    change: tuple[str, str],
    options: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    scene.write_text(scene.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    assert run(["solve", str(scene), *options]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert len(err.strip().splitlines()) == 1


def test_a_scene_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "nowhere.toml"]) == 2
    assert capsys.readouterr().err.strip() == "nowhere.toml: does not exist."


def test_help_teaches_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "--help"]) == 0
    out = capsys.readouterr().out
    assert "[[task]]" in out
    assert 'kind = "position"' in out
