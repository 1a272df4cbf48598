"""What is fuzzed: for every format a function from bytes to nothing, which lets only FormatError pass.

Each goes through the public reader and a file, as a user does. What a reader accepts is used a little: a figure must
have finite frames, survive a round trip through its own format and clamp without complaint.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from poise.errors import FormatError
from poise.figure.model.builder import Builder, ball, free, prismatic, revolute
from poise.figure.model.figure import Figure

Target = Callable[[bytes], None]

SANE = 1e9
"""Lengths beyond which frames may overflow."""


@contextlib.contextmanager
def as_file(data: bytes, suffix: str) -> Iterator[Path]:
    """The bytes in a file of their own."""
    with tempfile.TemporaryDirectory(prefix="poise-fuzz-") as folder:
        path = Path(folder) / f"input{suffix}"
        path.write_bytes(data or b"\n")
        yield path


def strict(read: Target) -> Target:
    """`read`, letting FormatErrors pass, and nothing else: not even a warning about arithmetic."""

    def target(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with contextlib.suppress(FormatError):
                read(data)

    return target


def use(figure: Figure) -> None:
    """Ask a few things of a figure that a reader accepted."""
    from poise.formats.figure_toml import figure_text, parse_figure

    neutral = figure.neutral()
    assert np.isfinite(neutral.q).all()
    if reach(figure) < SANE:
        frames = figure.frames(neutral)
        assert np.isfinite(frames.position).all()
        assert np.abs(np.linalg.norm(frames.rotation, axis=1) - 1.0).max() < 1e-9
        figure.clamp(figure.random(0))
    assert parse_figure(figure_text(figure)) == figure


def reach(figure: Figure) -> float:
    """About how far the figure extends [m]."""
    lengths = [abs(x) for joint in figure.joints for x in (*joint.parent_frame.position, *joint.child_frame.position)]
    lengths += [abs(x) for site in figure.sites for x in site.pose.position]
    lengths += [abs(x) for x in (*figure.placement.position, *figure.neutral().q)]
    return math.fsum(lengths)


def read_urdf(data: bytes) -> None:
    """URDF."""
    from poise.formats.urdf.read import read_urdf

    with as_file(data, ".urdf") as path:
        use(read_urdf(path))


ROBOT = b"""<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="2" effort="3"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/></joint>
<joint name="f" type="fixed"><parent link="a"/><child link="d"/></joint></robot>"""


def read_closures(data: bytes) -> None:
    """YAML of loops beside a URDF."""
    from poise.formats.urdf.read import read_urdf

    with as_file(ROBOT, ".urdf") as robot, as_file(data, ".yaml") as path:
        use(read_urdf(robot, path))


def read_mjcf(data: bytes) -> None:
    """MJCF."""
    from poise.formats.mjcf.read import read_mjcf

    with as_file(data, ".xml") as path:
        use(read_mjcf(path))


def read_bvh(data: bytes) -> None:
    """BVH, skeleton and motion."""
    from poise.formats.bvh.read import read_bvh_clip, read_bvh_figure

    with as_file(data, ".bvh") as path:
        use(read_bvh_figure(path))
        assert np.isfinite(read_bvh_clip(path).q).all()


def _read_gltf(data: bytes, suffix: str) -> None:
    from poise.formats.gltf.read import read_gltf_clips, read_gltf_figure

    with as_file(data, suffix) as path:
        use(read_gltf_figure(path))
        for clip in read_gltf_clips(path).values():
            assert np.isfinite(clip.q).all()


def read_gltf(data: bytes) -> None:
    """The glTF that is JSON."""
    _read_gltf(data, ".gltf")


def read_glb(data: bytes) -> None:
    """The glTF that is binary."""
    _read_gltf(data, ".glb")


def read_figure(data: bytes) -> None:
    """poise's own format."""
    from poise.formats.figure_toml import read_figure

    with as_file(data, ".figure.toml") as path:
        use(read_figure(path))


def read_scene(data: bytes) -> None:
    """Scenes."""
    from poise.engine.scene import Scene
    from poise.formats.scene_toml import parse_scene, scene_text

    with as_file(data, ".toml") as path:
        scene = Scene.load(path)
        assert parse_scene(scene_text(scene, path.parent), path) == scene


def small_figure() -> Figure:
    """Whose joint values the tables hold."""
    b = Builder("small")
    b.body("root")
    b.body("arm", parent="root", joint=revolute("turn", "z", limits=(-1.0, 1.0)))
    b.body("hand", parent="arm", joint=ball("wrist"))
    b.body("tool", parent="hand", joint=prismatic("slide", "x"))
    return b.build()


def read_table(data: bytes) -> None:
    """Tables of joint values."""
    from poise.formats.table.table import read_table

    with as_file(data, ".csv") as path:
        assert np.isfinite(read_table(path, small_figure()).q).all()


def read_servo_file(data: bytes) -> None:
    """A file of servos; what it accepts must be a robot that can be told to move."""
    from poise.errors import RobotError
    from poise.figures import built_in
    from poise.robots import DryRunDriver, Robot
    from poise.robots.servo_file import read_servos

    lamp = built_in("adelino")
    with as_file(data, ".toml") as path:
        found = read_servos(path, lamp, {})
    with contextlib.suppress(RobotError):
        robot = Robot(lamp, DryRunDriver("fuzz", lambda _: None), found.servos or (), safe=found.safe)
        robot.tick()
        robot.write(lamp.neutral())
        robot.tick()


def _read_motion(data: bytes, suffix: str) -> None:
    from poise.formats.table.motion_file import read_motion

    with as_file(data, suffix) as path:
        assert np.isfinite(read_motion(path, small_figure()).q).all()


def read_json_motion(data: bytes) -> None:
    """Motions as JSON."""
    _read_motion(data, ".json")


def read_npz(data: bytes) -> None:
    """Motions as NPZ."""
    _read_motion(data, ".npz")


def read_amass(data: bytes) -> None:
    """AMASS archives and tables of joint positions."""
    from poise.formats.smpl.read import read_smpl_clip

    with as_file(data, ".npz") as path:
        assert np.isfinite(read_smpl_clip(path).q).all()


def small_robot() -> Figure:
    """A robot with a floating base and two hinges."""
    b = Builder("robot", up="z")
    b.body("trunk", joint=free("root"))
    b.body("arm", parent="trunk", joint=revolute("turn", "z"), at=(0, 0, 0.3))
    b.body("hand", parent="arm", joint=revolute("bend", "y"), at=(0, 0, 0.3))
    return b.build()


def _read_trainer(data: bytes, kind: str, suffix: str) -> None:
    from poise.formats.trainers.kinds import read_from

    with as_file(data, suffix) as path:
        assert np.isfinite(read_from(path, small_robot(), kind).q).all()


def read_trainer_pickle(data: bytes) -> None:
    """Pickles of GMR."""
    _read_trainer(data, "gmr", ".pkl")


def read_trainer_npz(data: bytes) -> None:
    """Archives of mjlab."""
    _read_trainer(data, "mjlab", ".npz")


def read_trainer_rows(data: bytes) -> None:
    """Tables of Unitree."""
    _read_trainer(data, "unitree", ".csv")


def _read_mesh(data: bytes, suffix: str) -> None:
    from poise.figure.collision.mesh_files import read_triangles

    with as_file(data, suffix) as path:
        vertices, triangles = read_triangles(path)
        assert np.isfinite(vertices[triangles]).all()


def read_collada(data: bytes) -> None:
    """Collada meshes."""
    _read_mesh(data, ".dae")


def read_stl(data: bytes) -> None:
    """STL meshes, text and binary."""
    _read_mesh(data, ".stl")


def read_obj(data: bytes) -> None:
    """Wavefront meshes."""
    _read_mesh(data, ".obj")


READERS: dict[str, Target] = {
    "urdf": read_urdf,
    "closures": read_closures,
    "mjcf": read_mjcf,
    "bvh": read_bvh,
    "gltf": read_gltf,
    "glb": read_glb,
    "figure": read_figure,
    "scene": read_scene,
    "table": read_table,
    "servos": read_servo_file,
    "motion": read_json_motion,
    "npz": read_npz,
    "amass": read_amass,
    "trainer_pickle": read_trainer_pickle,
    "trainer_npz": read_trainer_npz,
    "trainer_rows": read_trainer_rows,
    "collada": read_collada,
    "stl": read_stl,
    "obj": read_obj,
}
"""The reader of each format."""
TARGETS: dict[str, Target] = {name: strict(read) for name, read in READERS.items()}
"""The same, letting no FormatErrors out."""
