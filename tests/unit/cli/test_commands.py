import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

import poise
from poise.cli.app import run
from poise.cli.show import parsed_posture, parsed_size
from poise.errors import PoiseError
from poise.figures import BUILT_IN, built_in

SMALL = ["--size", "64x48"]


def test_show_writes_a_picture_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["show", "adelino", *SMALL]) == 0
    assert capsys.readouterr().out == "adelino.png\n"
    with Image.open(tmp_path / "adelino.png") as image:
        assert image.size == (64, 48)


def test_show_draws_what_was_asked(tmp_path: Path) -> None:
    pictures = []
    for k, options in enumerate(
        ([], ["-p", "sad"], ["-p", "sad,turn=90deg"], ["--dark"], ["--skeleton"], ["--view", "top"])
    ):
        path = tmp_path / f"{k}.png"
        assert run(["show", "adelino", *SMALL, "-o", str(path), *options]) == 0
        pictures.append(path.read_bytes())
    assert len(set(pictures)) == len(pictures)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "adelina"], "Did you mean 'adelino'?"),
        (["show", "nowhere.urdf"], "nowhere.urdf: "),
        (["show", "adelino", "--size", "big"], "--size takes width and height such as 1000x800, not 'big'."),
        (["show", "adelino", "--size", "9x9"], "16 to 8192 pixels"),
        (["show", "adelino", "-p", "saad"], "Did you mean 'sad'?"),
        (["show", "adelino", "-p", "trun=1"], "Did you mean 'turn'?"),
        (["show", "adelino", "-p", "turn=left"], "'left' in 'turn=left' is not a number such as 0.7 or 40deg."),
        (["show", "adelino", "-p", "turn=1,sad"], "joint=value pairs"),
        (["show", "adelino", *SMALL, "-o", "/nowhere/at/all.png"], "cannot be written to '/nowhere/at/all.png'"),
        (["describe", "nobody"], "no built-in figure, file or robot 'nobody'"),
        (["convert", "adelino", "/nowhere/at/all.figure.toml"], "/nowhere/at/all.figure.toml"),
        (["studio", "adelino", "--no-browser", "--port", "70000"], "a port is a number from 0 to 65535, not 70000."),
    ],
)
def test_a_wrong_question_gets_one_sentence_and_exit_code_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


def test_an_unknown_option_or_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "adelino", "--sise", "1x1"]) == 2
    assert run(["shwo"]) == 2
    assert run(["show", "adelino", "--view", "back"]) == 2
    assert "three-quarter" in capsys.readouterr().err


def test_figures_lists_every_built_in_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["figures"]) == 0
    out = capsys.readouterr().out
    first_words = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert first_words == ["figure", *BUILT_IN]
    assert "\x1b" not in out  # no colours, and so no thumbnails, where nobody looks


def test_figures_draws_each_where_there_are_colours_and_into_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poise.figures.BUILT_IN", {name: BUILT_IN[name] for name in ("arm", "snake")})
    monkeypatch.setattr("poise.cli.figures.PICTURE_SIZE", (32, 32))
    shown = {}
    for options in ([], ["--no-pictures"]):
        out = io.StringIO()
        terminal = Console(file=out, force_terminal=True, color_system="truecolor", width=100)
        monkeypatch.setattr("poise.cli.figures.stdout", lambda terminal=terminal: terminal)
        assert run(["figures", "--pictures", str(tmp_path / "gallery"), *options]) == 0
        shown[bool(options)] = out.getvalue()
    assert shown[False].count("▀") == 2 * 16 * 8
    assert "▀" not in shown[True]
    assert sorted(path.name for path in (tmp_path / "gallery").iterdir()) == ["arm.png", "snake.png"]


def test_figures_lists_without_thumbnails_while_they_would_have_to_be_compiled_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("poise.kernels.jit.machine_code.is_complete", lambda: False)
    out = io.StringIO()
    terminal = Console(file=out, force_terminal=True, color_system="truecolor", width=100)
    monkeypatch.setattr("poise.cli.figures.stdout", lambda: terminal)
    assert run(["figures"]) == 0
    assert "human" in out.getvalue() and "▀" not in out.getvalue()
    assert "poise compile" in capsys.readouterr().err


def test_figures_lists_without_the_compiler() -> None:
    code = "import sys; from poise.cli.app import run; run(['figures']); sys.exit('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "human" in done.stdout


def test_describe_prints_what_the_figure_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "adelino"]) == 0
    assert capsys.readouterr().out.rstrip() == built_in("adelino").describe().rstrip()


def test_convert_writes_a_figure_that_loads_back(tmp_path: Path) -> None:
    target = tmp_path / "lamp.figure.toml"
    assert run(["convert", "adelino", str(target)]) == 0
    assert poise.load(target) == built_in("adelino")


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_version(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    assert capsys.readouterr().out == f"poise {poise.__version__}\n"


@pytest.mark.parametrize("command", ["figures", "show", "describe", "convert", "compile", "studio"])
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert f"poise {command}" in capsys.readouterr().out


def test_sizes() -> None:
    assert parsed_size("640x480") == (640, 480)
    assert parsed_size(" 640×480 ") == (640, 480)
    for wrong in ("640", "640x", "-1x5", "1e3x5", "999999x1"):
        with pytest.raises(PoiseError, match="--size"):
            parsed_size(wrong)


def test_postures_from_names_and_values() -> None:
    lamp, human = built_in("adelino"), built_in("human")
    assert parsed_posture("", lamp) is None
    assert parsed_posture("sad", lamp) == lamp.posture("sad")
    bent = parsed_posture("sad, turn = 90°, lean=-0.5", lamp)
    assert isinstance(bent, poise.Posture)
    assert (bent["turn"], bent["lean"]) == pytest.approx((np.pi / 2, -0.5))
    assert bent["bend"] == lamp.posture("sad")["bend"]
    turned = parsed_posture("head=0:1:0:0", human)
    assert isinstance(turned, poise.Posture)
    assert np.asarray(turned["head"]) == pytest.approx([0.0, 1.0, 0.0, 0.0])


def test_python_m_poise_is_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "poise", "version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"poise {poise.__version__}\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals are those of Unix")
def test_a_reader_that_goes_away_ends_the_program_in_a_sentence() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "poise", "describe", "human"],
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 141
    assert done.stderr == "the program that was reading this output closed it; stopped.\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals are those of Unix")
def test_ctrl_c_ends_the_program_in_a_sentence() -> None:
    program = (
        "import poise.cli.app as a, signal, os; a.app.command('wait')(lambda: os.kill(os.getpid(), signal.SIGINT)); "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "  # background shells let programs ignore it
    )
    done = subprocess.run(
        [sys.executable, "-c", program + "raise SystemExit(a.run(['wait']))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == "stopped.\n"


PROBE = """
import sys
from numba.core import event
import poise, poise.pictures
from poise.figures import BUILT_IN, built_in

with event.install_recorder("numba:compile") as seen:
    for name in BUILT_IN:
        figure = built_in(name)
        posture = figure.random(1)
        figure.clamp(posture, previous=figure.neutral())
        figure.violations(posture)
        figure.closure_error(posture)
        figure.jacobian(figure.bodies[-1].name, posture)
        figure.integrate(posture, figure.difference(figure.neutral(), posture))
        figure.center_of_mass_jacobian(posture)
        figure.moment_of_inertia_gradient(posture, "y")
        figure.gravity_torques(posture)
        figure.wrench_torques(figure.bodies[-1].name, posture, (1.0, 0.0, 0.0))
        poise.pictures.draw(figure, posture, size=(16, 16))
print(*{str(record[1].data["dispatcher"]) for record in seen.buffer}, sep="\\n")
"""


@pytest.mark.slow
def test_after_compile_nothing_is_left_to_compile(tmp_path: Path) -> None:
    fresh = os.environ | {"POISE_CACHE_DIR": str(tmp_path)}
    compiled = subprocess.run(
        [sys.executable, "-m", "poise", "compile"], env=fresh, capture_output=True, text=True, check=True
    )
    assert str(tmp_path) in compiled.stdout
    again = subprocess.run(
        [sys.executable, "-m", "poise", "compile"], env=fresh, capture_output=True, text=True, check=True
    )
    assert "already" in again.stdout
    probe = subprocess.run([sys.executable, "-c", PROBE], env=fresh, capture_output=True, text=True, check=True)
    assert probe.stdout.strip() == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "human"], "poise solve takes a scene file; human is a figure"),
        (["retarget", "human", "walk.bvh"], "takes the clip first, then the figure: poise retarget walk.bvh human"),
        (["play", "adelino", "--rate", "1e9"], "the rate must be at most 10000 frames per second, not 1e+09"),
    ],
)
def test_a_slip_on_the_command_line_is_answered_by_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert sentence in capsys.readouterr().err
