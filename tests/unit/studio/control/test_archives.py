"""Folders that are dropped on the page as an archive: robots with their meshes, loops, and what is missing."""

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import PoiseError
from poise.studio.control.archives import missing_meshes
from poise.studio.control.files import saved_scene
from poise.studio.control.modes import Modes
from poise.studio.session.session import Session

LINK = '<link name="{name}"><visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>'
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0 0 0.3"/><axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>"""


def robot(*meshes: str) -> str:
    """A chain of links, each with a mesh."""
    links = [LINK.format(name=f"link{k}", mesh=mesh) for k, mesh in enumerate(meshes)]
    joints = [JOINT.format(name=f"joint{k}", parent=f"link{k}", child=f"link{k + 1}") for k in range(len(meshes) - 1)]
    return f'<robot name="robot">{"".join(links + joints)}</robot>'


def tetrahedron(size: float) -> bytes:
    """A binary STL file."""
    corners = size * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [
        struct.pack("<12fH", 0, 0, 0, *corners[[a, b, c]].ravel(), 0)
        for a, b, c in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    ]
    return b"\0" * 80 + struct.pack("<I", 4) + b"".join(faces)


def archive(**files: str | bytes) -> bytes:
    """An archive of files, by their paths in it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as into:
        for name, data in files.items():
            into.writestr(name, data)
    return packed.getvalue()


@pytest.fixture
def modes() -> Modes:
    return Modes(Session(poise.load("human")))


def test_a_folder_with_a_robot_is_opened_with_its_meshes(modes: Modes) -> None:
    files = {
        "robot/urdf/robot.urdf": robot("package://robot/meshes/a.stl", "../meshes/b.STL"),
        "robot/meshes/a.stl": tetrahedron(0.1),
        "robot/meshes/b.STL": tetrahedron(0.2),
        "robot/package.xml": "<package/>",
    }
    assert modes.inbox.take("robot.zip", archive(**files)) == ""
    state = modes.session.state
    assert state.figure.name == "robot"
    assert state.look.notes == ()
    assert not any(part.is_bone for part in state.look.parts)


def test_loose_files_find_each_other_by_name(modes: Modes) -> None:
    files = {
        "robot.urdf": robot("package://lost/meshes/deep/A.stl", "b.stl"),
        "a.STL": tetrahedron(0.1),
        "b.stl": tetrahedron(0.2),
    }
    assert modes.inbox.take("files.zip", archive(**files)) == ""
    assert missing_meshes(modes.session.state.figure) == []


def test_what_is_missing_is_named_and_can_be_dropped_afterwards(modes: Modes) -> None:
    files = {"r/robot.urdf": robot("meshes/a.stl", "meshes/b.stl"), "r/meshes/a.stl": tetrahedron(0.1)}
    said = modes.inbox.take("r.zip", archive(**files))
    assert said.startswith("1 mesh is missing") and "b.stl" in said
    assert modes.session.state.figure.name == "robot"
    assert modes.inbox.take("more.zip", archive(**{"x/b.stl": tetrahedron(0.2)})) == ""
    assert modes.session.state.look.notes == ()
    with pytest.raises(PoiseError, match="no mesh that the present figure misses"):
        modes.inbox.take("more.zip", archive(**{"x/c.stl": tetrahedron(0.2)}))


def test_one_of_several_robots_is_chosen_and_a_world_around_one_is_not(modes: Modes) -> None:
    one, two = robot("a.stl"), robot("b.stl")
    modes.inbox.take("two.zip", archive(**{"one.urdf": one, "deep/two.urdf": two, "a.stl": tetrahedron(0.1)}))
    assert modes.session.state.figure.name == "human"
    assert sorted(modes.inbox.choices) == ["deep/two.urdf", "one.urdf"]
    modes.inbox.choose("one.urdf")
    assert modes.session.state.figure.name == "robot"
    body = '<body name="arm"><joint name="j"/><geom size="0.1"/></body>'
    arm = f'<mujoco model="arm"><worldbody>{body}</worldbody></mujoco>'
    world = '<mujoco><include file="arm.xml"/></mujoco>'
    modes.inbox.take("arm.zip", archive(**{"arm.xml": arm, "scene.xml": world}))
    assert modes.session.state.figure.name == "arm"
    assert modes.inbox.choices == {}


def test_a_dropped_robot_is_saved_with_its_meshes(modes: Modes) -> None:
    files = {
        "r/robot.urdf": robot("meshes/a.stl", "meshes/b.stl"),
        "r/meshes/a.stl": tetrahedron(0.1),
        "r/meshes/b.stl": tetrahedron(0.2),
    }
    modes.inbox.take("r.zip", archive(**files))
    name, data = saved_scene(modes.session, modes.inbox.folder)
    assert name == "robot_scene.zip"
    assert {"scene.toml", "meshes/a.stl", "meshes/b.stl"} <= set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    other = Modes(Session(poise.load("human")))
    assert other.inbox.take(name, data) == ""
    assert other.session.state.figure.name == "robot"
    assert other.session.state.look.notes == ()
    assert other.session.state.posture.q == pytest.approx(modes.session.state.posture.q)


def test_nothing_leaves_the_folder(modes: Modes) -> None:
    with pytest.raises(PoiseError):
        modes.inbox.take("x.zip", archive(**{"../../../outside.txt": "no", "/etc/absolute.txt": "no"}))
    found = {path.relative_to(modes.inbox.folder) for path in modes.inbox.folder.rglob("*.txt")}
    assert found == {Path("1/outside.txt"), Path("1/etc/absolute.txt")}
