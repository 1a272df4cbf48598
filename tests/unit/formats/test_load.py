"""`load` and `load_clip`: the reader for each name or file, and errors for unknown ones."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import FigureError, FormatError
from poise.formats.text import files
from tests.fuzz.corpus import FOLDER, pack_glb
from tests.fuzz.targets import ROBOT, small_figure

GOOD = {
    ".urdf": FOLDER / "urdf" / "good_crane.urdf",
    ".bvh": FOLDER / "bvh" / "good_walk.bvh",
    ".gltf": FOLDER / "gltf" / "good_kick.gltf",
    ".figure.toml": FOLDER / "figure" / "good_lamp.figure.toml",
}


def test_a_name_is_a_built_in_figure():
    assert poise.load("adelino").name == "adelino"
    assert poise.load("adelino") is poise.load("adelino")


@pytest.mark.parametrize("suffix", GOOD)
def test_a_file_is_read_by_its_ending(tmp_path: Path, suffix: str):
    path = tmp_path / f"thing{suffix.upper()}"
    shutil.copy(GOOD[suffix], path)
    assert poise.load(path) == poise.load(str(path))
    assert len(poise.load(path).bodies) > 1


def test_binary_gltf(tmp_path: Path):
    path = tmp_path / "kick.glb"
    path.write_bytes(pack_glb(GOOD[".gltf"].read_bytes()))
    assert len(poise.load(path).joints) == len(poise.load(GOOD[".gltf"]).joints)
    assert len(poise.load_clip(path).q) > 1


@pytest.mark.parametrize("comment", ["", "<!-- not a <mujoco> file -->\n"])
def test_xml_is_read_by_its_root_element(tmp_path: Path, comment: str):
    path = tmp_path / "robot.xml"
    path.write_text(comment + ROBOT.decode())
    assert poise.load(path).joints.names == ("j", "k", "f")
    path.write_text(comment + "<mujoco><worldbody><body name='a'><geom size='1'/></body></worldbody></mujoco>")
    pytest.importorskip("mujoco", reason="mujoco reads MJCF")
    assert "a" in poise.load(path).bodies
    path.write_text(comment + "<sdf/>")
    with pytest.raises(FormatError, match=r"neither a URDF \(<robot>\) nor an MJCF \(<mujoco>\)"):
        poise.load(path)


def test_closures_close_the_loops_of_a_urdf(tmp_path: Path):
    robot, closures = tmp_path / "robot.urdf", tmp_path / "robot.yaml"
    robot.write_bytes(ROBOT)
    closures.write_text("closed_loop: [['c', 'd']]\n")
    assert len(poise.load(robot, closures=closures).loops) == 1
    with pytest.raises(FormatError, match="closures are for URDF files only"):
        poise.load(GOOD[".bvh"], closures=closures)
    with pytest.raises(FigureError, match="is built in and has its loops"):
        poise.load("adelino", closures=closures)
    with pytest.raises(FormatError, match=r"missing\.yaml: does not exist"):
        poise.load(robot, closures=tmp_path / "missing.yaml")


def test_a_wrong_name_is_answered_with_the_right_ones():
    with pytest.raises(FigureError) as caught:
        poise.load("adelinno")
    assert str(caught.value).startswith(
        "no built-in figure, file or robot 'adelinno'. Did you mean 'adelino'? Built-in figures: erik_a, erik_b"
    )
    with pytest.raises(FigureError, match="no built-in figure, file or robot ''"):
        poise.load("")
    with pytest.raises(FigureError, match="no built-in figure, file or robot"):
        poise.load("a\0b")


@pytest.mark.parametrize("load", [poise.load, poise.load_clip])
def test_files_that_cannot_be_read_get_one_sentence(tmp_path: Path, load, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "folder.bvh"
    folder.mkdir()
    empty = tmp_path / "empty.bvh"
    empty.touch()
    odd = tmp_path / "walk.abc"
    odd.write_text("x")
    bare = tmp_path / "bare"
    bare.write_text("x")
    large = tmp_path / "large.bvh"
    large.write_text("HIERARCHY")
    for path, sentence in (
        (tmp_path / "missing.bvh", "does not exist."),
        (folder, "is a folder, not a file."),
        (empty, "is empty."),
        (odd, "its name ends in '.abc'. Poise reads"),
        (bare, "its name has no ending. Poise reads"),
    ):
        with pytest.raises(FormatError) as caught:
            load(path)
        assert sentence in str(caught.value)
        assert caught.value.path == path
    monkeypatch.setattr(files, "MOST_FILE_BYTES", 4)
    with pytest.raises(FormatError, match="files over 0 MB are not read"):
        load(large)


@pytest.mark.parametrize("name", ["robot.urdf", "robot.xml", "robot.glb", "robot.figure.toml", "walk.bvh"])
def test_a_pointer_of_git_lfs_is_named(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:12ab\nsize 42\n")
    with pytest.raises(FormatError, match=f"{name}: is a pointer of Git LFS, not the file itself: git lfs pull"):
        poise.load(path)


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "secret.figure.toml"
    path.write_text('name = "x"')

    def denied(self: Path, *mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(FormatError, match="cannot be read: permission denied"):
        poise.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_that_never_ends_is_refused(tmp_path: Path):
    endless = tmp_path / "endless.figure.toml"
    os.mkfifo(endless)
    with pytest.raises(FormatError, match="is a device, not a file"):
        poise.load(endless)


def test_clips(tmp_path: Path):
    clip = poise.load_clip(GOOD[".bvh"])
    assert clip.q.shape == (3, clip.figure.nq)
    assert poise.load_clip(GOOD[".gltf"]).name == poise.load_clip(GOOD[".gltf"], name="kick").name
    with pytest.raises(FormatError, match=r"has no animation 'kik'\. Did you mean 'kick'\? Animations: kick"):
        poise.load_clip(GOOD[".gltf"], name="kik")
    with pytest.raises(FormatError, match="has no animations"):
        poise.load_clip(FOLDER / "gltf" / "good_matrix.gltf")
    with pytest.raises(FormatError, match="holds one motion without a name"):
        poise.load_clip(GOOD[".bvh"], name="kick")
    table = FOLDER / "table" / "good_small.csv"
    np.testing.assert_allclose(poise.load_clip(table, small_figure()).q[:, -1], [0.1, 0.11, 0.12])
    with pytest.raises(FormatError, match="give the figure that its joint values are of"):
        poise.load_clip(table)
