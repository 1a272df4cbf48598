"""Robots by name: where they are looked for, in which order, and what is said of those that are not there."""

import sys
from pathlib import Path

import pytest

import poise
from poise.errors import FigureError, FormatError, MissingPackageError
from poise.figure.collision.mesh_files import find_mesh
from poise.formats.catalog import places, robots
from poise.formats.catalog.robots import ROBOTS, command_for, find_robot, robots_here
from poise.kernels.jit.cache import user_cache

MJCF = (
    '<mujoco model="{}"><worldbody><body name="base"><joint name="j" axis="0 0 1"/><geom size="0.1"/></body>'
    "</worldbody></mujoco>"
)
URDF = '<robot name="{}"><link name="base"/></robot>'


@pytest.fixture
def empty(monkeypatch, tmp_path):
    """A machine without any robots, on which the kernels are compiled as on this one."""
    monkeypatch.setenv("POISE_CACHE_DIR", str(user_cache()))
    for variable in ("MENAGERIE_ROOT", "MENAGERIE_CACHE_DIR", "ROBOT_DESCRIPTIONS_CACHE", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(robots, "example_robots", lambda: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def fake_package(monkeypatch, folder, name, files):
    for file, text in files.items():
        write(folder / name / file, text)
    monkeypatch.syspath_prepend(str(folder))
    sys.modules.pop(name, None)


def test_a_robot_that_is_not_here_is_answered_with_the_command_that_brings_it(empty):
    with pytest.raises(FigureError, match=r"pip install mujoco-menagerie && .* prefetch unitree_h1"):
        poise.load("h1")
    with pytest.raises(FigureError, match="pip install example-robot-data"):
        poise.load("g1")
    with pytest.raises(FigureError, match="pip install example-robot-data"):
        poise.load("g1_description")
    with pytest.raises(FigureError, match=r"Did you mean 'talos'\?"):
        poise.load("tallos")
    assert robots_here() == []


def test_every_known_robot_has_a_command():
    assert all(command_for(name).startswith("pip install ") for name in ROBOTS)


def test_a_checkout_of_menagerie(empty, monkeypatch):
    pytest.importorskip("mujoco")
    root = empty / "menagerie"
    write(root / "unitree_h1" / "scene.xml", MJCF.format("scene"))
    model = write(root / "unitree_h1" / "h1.xml", MJCF.format("h1"))
    monkeypatch.setenv("MENAGERIE_ROOT", str(root))
    assert find_robot("h1") == find_robot("unitree_h1") == find_robot("H1") == model
    assert poise.load("h1").name == "h1"
    assert [found.name for found in robots_here()] == ["h1"]


@pytest.mark.parametrize(
    ("folder", "files", "main"),
    [
        ("unitree_g1", ["g1.xml", "g1_with_hands.xml", "g1_mjx.xml", "scene.xml"], "g1.xml"),
        ("franka_emika_panda", ["hand.xml", "mjx_panda.xml", "panda.xml", "panda_nohand.xml"], "panda.xml"),
        ("trs_so_arm100", ["scene.xml", "so_arm100.xml"], "so_arm100.xml"),
        ("empty", ["scene.xml"], None),
    ],
)
def test_the_robot_itself_is_chosen_in_a_folder_of_menagerie(tmp_path, folder, files, main):
    for file in files:
        write(tmp_path / folder / file, "<mujoco/>")
    found = places.main_model(tmp_path / folder)
    assert (None if found is None else found.name) == main


def test_models_that_the_menagerie_package_has_fetched(empty, monkeypatch):
    fake_package(monkeypatch, empty / "site", "mujoco_menagerie", {"__init__.py": "raise RuntimeError('imported')"})
    models = empty / "cache" / "mujoco_menagerie" / "models"
    done = write(models / "unitree_h1-0123456789abcdef" / "h1.xml", MJCF.format("h1"))
    write(done.with_name(".complete"), "{}")
    write(models / "unitree_g1-0123456789abcdef" / "g1.xml", MJCF.format("half a download"))
    assert places.menagerie_models() == {"unitree_h1": done}


DESCRIPTION = """
from os import getenv as _getenv
from os import path as _path
from ._cache import clone_to_cache as _clone_to_cache
REPOSITORY_PATH: str = _clone_to_cache(
    "some-repository",
    commit=_getenv("ROBOT_DESCRIPTION_COMMIT", None),
)
PACKAGE_PATH: str = _path.join(REPOSITORY_PATH, "robots", "x")
URDF_PATH: str = _path.join(PACKAGE_PATH, "valkyrie.urdf")
"""
REPOSITORIES = """
REPOSITORIES = {
    "some-repository": Repository(
        url="https://example.org/x.git",
        commit="abc",  # v1 (of two)
        cache_path="some_clone",
    ),
}
"""


def test_descriptions_are_used_only_if_they_are_cloned_already(empty, monkeypatch):
    files = {
        "__init__.py": "raise RuntimeError('imported')",
        "_repositories.py": REPOSITORIES,
        "valkyrie_description.py": DESCRIPTION,
    }
    fake_package(monkeypatch, empty / "site", "robot_descriptions", files)
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(empty / "clones"))
    with pytest.raises(FigureError, match="python -m robot_descriptions pull valkyrie_description"):
        poise.load("valkyrie")
    model = write(empty / "clones" / "some_clone" / "robots" / "x" / "valkyrie.urdf", URDF.format("valkyrie"))
    assert find_robot("valkyrie") == find_robot("valkyrie_description") == model
    assert poise.load("valkyrie").name == "valkyrie"


def test_example_robot_data():
    if places.example_robots() is None:
        pytest.skip("example-robot-data is not installed")
    for name, nv in (("g1", 29), ("panda", 9), ("ur5", 6), ("so101", 6)):
        path = places.example_robots() / ROBOTS[name].example
        assert path.is_file()
        if find_robot(name) == path:
            assert poise.load(name).nv == nv
    assert find_robot("icub_reduced").name == "icub_reduced.urdf"


def test_a_built_in_figure_and_a_file_come_first(empty, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "talos", "not a robot")
    assert poise.load("human").name == "human"
    with pytest.raises(FormatError, match="ending"):
        poise.load("talos")


def test_xacro_needs_its_package(tmp_path, monkeypatch):
    path = write(tmp_path / "arm.urdf.xacro", '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"/>')
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(MissingPackageError, match=r"reading xacro needs xacrodoc: pip install 'poise\[xacro\]'"):
        poise.load(path)


def test_meshes_of_packages_are_found_where_ros_and_gazebo_keep_them(tmp_path, monkeypatch):
    home = tmp_path / "elsewhere"
    home.mkdir()
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH"):
        monkeypatch.delenv(variable, raising=False)
    mesh = write(tmp_path / "ws" / "arm_description" / "meshes" / "link.stl", "solid")
    shared = write(tmp_path / "prefix" / "share" / "leg_description" / "meshes" / "foot.stl", "solid")
    model = write(tmp_path / "models" / "cup" / "cup.obj", "v 0 0 0")
    assert find_mesh("package://arm_description/meshes/link.stl", home) is None
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    monkeypatch.setenv("GAZEBO_MODEL_PATH", str(tmp_path / "models"))
    assert find_mesh("package://arm_description/meshes/link.stl", home) == mesh
    assert find_mesh("package://leg_description/meshes/foot.stl", home) == shared
    assert find_mesh("model://cup/cup.obj", home) == model
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws" / "arm_description"))
    assert find_mesh("package://arm_description/meshes/link.stl", home) == mesh
    assert find_mesh("package://arm_description/meshes/link.stl", tmp_path / "ws" / "arm_description" / "urdf") == mesh


def test_a_mesh_of_a_plain_path_is_found_beside_the_model(tmp_path):
    mesh = write(tmp_path / "meshes" / "link.stl", "solid")
    assert find_mesh("meshes/link.stl", tmp_path) == mesh
    assert find_mesh("../other/link.stl", tmp_path) is None
    assert find_mesh(f"file://{mesh}", Path("/")) == mesh
