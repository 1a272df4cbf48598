"""A figure remembers the folder of its meshes: in copies, in saved files, and whatever the current folder is."""

import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.figure.model.shapes import Mesh
from poise.pictures.parts import appearance

URDF = """<robot name="pair">
  <link name="base">{mesh}</link>
  <link name="arm">{mesh}</link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="1 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
</robot>"""
PART = '<{part}><geometry><mesh filename="meshes/block.stl"/></geometry></{part}>'
TETRAHEDRON = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def stl(corners: np.ndarray) -> bytes:
    """A binary STL of the triangles `corners` (t, 3, 3)."""
    faces = b"".join(struct.pack("<12fH", 0, 0, 0, *face.ravel(), 0) for face in corners)
    return bytes(80) + struct.pack("<I", len(corners)) + faces


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a robot with meshes, in a folder that is not the current one."""
    home, elsewhere = tmp_path / "robot", tmp_path / "elsewhere"
    (home / "meshes").mkdir(parents=True)
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (home / "meshes" / "block.stl").write_bytes(stl(TETRAHEDRON[FACES]))
    both = "".join(PART.format(part=part) for part in ("visual", "collision"))
    (home / "pair.urdf").write_text(URDF.format(mesh=both), encoding="utf-8")
    return home / "pair.urdf"


def shows_meshes(figure: poise.Figure) -> bool:
    look = appearance(figure)
    return not look.notes and not any(part.is_bone for part in look.parts)


def test_meshes_are_found_whatever_the_current_folder_is(robot: Path) -> None:
    pytest.importorskip("coal")
    figure = poise.load(robot)
    assert figure.folder == robot.parent
    assert shows_meshes(figure)
    there = figure.pose_of("arm", figure.neutral()).position
    assert poise.solve(figure, [poise.Position("arm", there)], avoid_self=True).status == "solved"


def test_copies_remember_the_folder(robot: Path) -> None:
    figure = poise.load(robot)
    copies = [
        figure.with_floating_base(),
        figure.rerooted("arm"),
        figure.replaced(name="other"),
        pickle.loads(pickle.dumps(figure)),
    ]
    assert all(copy.folder == robot.parent and shows_meshes(copy) for copy in copies)


@pytest.mark.parametrize("where", ["robot", "elsewhere", "robot/meshes", "far/away"])
def test_a_saved_figure_finds_its_meshes_again(robot: Path, where: str) -> None:
    figure, folder = poise.load(robot), robot.parents[1] / where
    folder.mkdir(parents=True, exist_ok=True)
    figure.save(folder / "saved.figure.toml")
    saved = poise.load(folder / "saved.figure.toml")
    assert saved == figure
    assert shows_meshes(saved)
    text = (folder / "saved.figure.toml").read_text(encoding="utf-8")
    assert ("folder =" in text) == (where != "robot")


def test_a_saved_figure_and_its_meshes_can_be_moved_together(robot: Path) -> None:
    poise.load(robot).save(robot.parent / "meshes" / "saved.figure.toml")
    moved = robot.parent.rename(robot.parents[1] / "moved")
    assert shows_meshes(poise.load(moved / "meshes" / "saved.figure.toml"))


def test_figures_without_meshes_name_no_folder(tmp_path: Path) -> None:
    arm = poise.load("arm")
    arm.save(tmp_path / "arm.figure.toml")
    assert "folder" not in (tmp_path / "arm.figure.toml").read_text(encoding="utf-8")
    assert poise.load(tmp_path / "arm.figure.toml") == arm


def test_a_folder_that_makes_no_sense_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.figure.toml").write_text('name = "a"\nfolder = 3\n[[body]]\nname = "b"\n', encoding="utf-8")
    with pytest.raises(poise.FormatError, match=r"a.figure.toml:2: 'folder' of the file must be a string"):
        poise.load(tmp_path / "a.figure.toml")


@pytest.mark.parametrize("number", [np.nan, np.inf, 3e38])
def test_a_mesh_with_coordinates_that_are_not_finite_is_one_sentence(robot: Path, number: float) -> None:
    corners = TETRAHEDRON[FACES].copy()
    corners[1, 1] = number
    (robot.parent / "meshes" / "block.stl").write_bytes(stl(corners))
    figure = poise.load(robot)
    with pytest.raises(poise.PoiseError, match="coordinates are not finite numbers"):
        poise.solve(figure, [poise.Position("arm", (1, 0, 0))], avoid_self=True)
    assert "not finite" in appearance(figure).notes[0]


def test_a_mesh_of_a_wrong_kind_names_the_kinds_that_are_read(robot: Path) -> None:
    figure = poise.load(robot)
    bodies = [body.__class__(body.name, body.mass, (Mesh("pair.urdf"),)) for body in figure.bodies]
    notes = appearance(figure.replaced(bodies=bodies)).notes
    assert "meshes are read from .stl, .obj, .dae files, not from '.urdf'" in notes[0]
