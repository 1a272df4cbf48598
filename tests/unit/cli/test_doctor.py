"""`poise doctor`: what it finds on a machine and in a figure, and the remedies that it names."""

from pathlib import Path

import pytest

import poise
from poise.cli import doctor
from poise.cli.app import run
from poise.cli.figure_checks import Finding, figure_findings
from poise.figure.model.builder import Builder, ball, prismatic, revolute
from poise.figure.model.shapes import Mesh, Sphere
from poise.figures import BUILT_IN, built_in

BRACKET = """name = "bracket"
angles = "degrees"
[[body]]
name = "foot"
[[body]]
name = "head"
shapes = [{{ kind = "mesh", path = "{mesh}" }}]
[[joint]]
name = "pan"
kind = "revolute"
parent = "foot"
child = "head"
axis = "y"
{more}
"""


def found(figure: poise.Figure) -> dict[str, Finding]:
    """The last finding of each subject."""
    return {finding.what: finding for finding in figure_findings(figure)}


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_figures_are_well(name: str) -> None:
    findings = list(figure_findings(built_in(name)))
    assert all(finding.state != "bad" for finding in findings)
    assert {"base", "limits"} <= {finding.what for finding in findings}


def test_it_prints_the_machine_and_the_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "adelino"]) == 0
    printed = capsys.readouterr().out
    for words in (f"poise {poise.__version__}", "this machine", "kernels", "adelino", "base is fixed to the world"):
        assert words in printed
    assert printed.rstrip().endswith(("All is well.", "may surprise you."))


def test_a_broken_file_is_a_finding_and_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bracket.figure.toml"
    path.write_text(BRACKET.format(mesh="head.stl", more="axes = 3"), encoding="utf-8")
    assert run(["doctor", str(path)]) == 1
    assert "bracket.figure.toml:" in capsys.readouterr().out


def test_a_makers_file_gets_a_remedy_for_each_gap(tmp_path: Path) -> None:
    path = tmp_path / "bracket.figure.toml"
    path.write_text(BRACKET.format(mesh="head.stl", more=""), encoding="utf-8")
    findings = found(poise.load(path))
    assert findings["meshes"].state == "bad"
    assert f"head.stl is not in {tmp_path}" in findings["meshes"].sentence
    for what, remedy in {"limits": "limits = [low, high]", "speeds": "speed = …", "facing": "facing ="}.items():
        assert findings[what].state == "note"
        assert remedy in findings[what].remedy
    path.write_text(
        BRACKET.format(mesh="head.stl", more="limits = [-9, 9]\nspeed = 60").replace(
            'name = "head"\nshapes', 'name = "head"\nfacing = "z"\nmass = 1\nshapes'
        ),
        encoding="utf-8",
    )
    better = found(poise.load(path))
    assert all(better[what].state == "good" for what in ("limits", "speeds", "facing", "mass"))


def test_feet_joints_and_postures_that_surprise_are_notes() -> None:
    made = Builder("biped", up="y")
    made.body("pelvis", mass=1.0)
    for side, x, down in (("left", 0.1, -0.5), ("right", -0.1, -0.9)):
        made.body(f"{side}_thigh", parent="pelvis", joint=ball(f"{side}_hip"), at=(x, 0, 0))
        made.body(
            f"{side}_foot",
            parent=f"{side}_thigh",
            joint=revolute(f"{side}_ankle", "x", limits=(0.0, 0.0)),
            at=(0, down, 0),
            shapes=[Sphere(0.05)],
        )
    made.body("tail", parent="pelvis", joint=prismatic("stretch", "z", limits=(0.0, 0.1)), shapes=[Mesh("no.stl")])
    degrees = revolute("wags", "y", limits=(-90.0, 90.0))
    made.body("tip", parent="tail", joint=degrees)
    made.posture("long", {"stretch": 0.5})
    findings = list(figure_findings(made.build()))
    text = "\n".join(f"{finding.state} {finding.what} {finding.sentence}" for finding in findings)
    assert "note base pelvis is fixed to the world, although it has feet" in text
    assert "note feet left_foot, right_foot stands on a point" in text
    assert "note limits none for left_hip, right_hip" in text
    assert "note limits left_ankle, right_ankle cannot move" in text
    assert "note limits wags can turn more than 3 times around" in text
    assert "note postures in 'long', stretch exceeds its slide limit by 0.4 m" in text


def test_missing_packages_and_folders_are_named_with_their_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda module: None)
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    findings = {finding.what: finding for finding in doctor.machine_findings()}
    assert "coal is not installed" in findings["collision"].sentence
    assert "pip install 'poise[collision]'" in findings["collision"].remedy
    assert "POISE_CACHE_DIR" in findings["cache"].remedy
    assert findings["kernels"].state == "note" or findings["kernels"].state == "good"


def test_everything_is_counted_in_the_last_line() -> None:
    assert doctor._summary(0, 0) == "All is well."
    assert doctor._summary(0, 1) == "Everything works; 1 thing may surprise you."
    assert doctor._summary(2, 1).startswith("2 things do not work")
