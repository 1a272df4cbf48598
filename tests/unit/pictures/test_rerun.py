"""Recordings for Rerun, against a stand-in that keeps what is logged."""

import sys
import types
from importlib.machinery import ModuleSpec

import numpy as np
import pytest

import poise
from poise.errors import PoiseError
from poise.figure.model.viewable import View
from poise.pictures.rerun_recording import record


class Stream:
    """Keeps everything that is logged."""

    def __init__(self, name):
        self.name, self.static, self.columns, self.files, self.spawned = name, {}, {}, [], False

    def log(self, path, what, *, static):
        assert static
        self.static[path] = what

    def send_columns(self, path, *, indexes, columns):
        self.columns[path] = (indexes, columns)

    def save(self, path):
        self.files.append(path)

    def spawn(self):
        self.spawned = True

    def flush(self):
        pass


@pytest.fixture
def rerun(monkeypatch):
    module = types.ModuleType("rerun")
    module.__spec__ = ModuleSpec("rerun", None)
    module.streams, module.active = [], None

    def recording(name):
        module.streams.append(Stream(name))
        return module.streams[-1]

    module.RecordingStream = recording
    module.get_global_data_recording = lambda: module.active
    module.new_entity_path = lambda parts: "/".join(parts)
    module.ViewCoordinates = types.SimpleNamespace(RIGHT_HAND_X_UP="x", RIGHT_HAND_Y_UP="y", RIGHT_HAND_Z_UP="z")
    module.TimeColumn = lambda name, duration: (name, duration)
    module.Mesh3D = dict
    module.Transform3D = types.SimpleNamespace(columns=dict)
    monkeypatch.setitem(sys.modules, "rerun", module)
    return module


def nod():
    lamp = poise.load("adelino")
    return poise.Motion(lamp, [lamp.random(k).q for k in range(5)], 25.0, "nod")


def test_bodies_are_where_the_motion_has_them(rerun, tmp_path):
    motion = nod()
    motion.to_rerun(tmp_path / "nod.rrd")
    (stream,) = rerun.streams
    assert (stream.files, stream.spawned) == ([str(tmp_path / "nod.rrd")], False)
    assert stream.static["adelino"] == motion.figure.up
    for name in motion.figure.bodies.names:
        (index,), columns = stream.columns[f"adelino/{name}"]
        assert index[0] == "time"
        np.testing.assert_allclose(index[1], [0.0, 0.04, 0.08, 0.12, 0.16])
        for k, posture in enumerate(motion):
            pose = motion.figure.pose_of(name, posture)
            np.testing.assert_allclose(columns["translation"][k], pose.position, atol=1e-12)
            x, y, z, w = columns["quaternion"][k]
            np.testing.assert_allclose([w, x, y, z], pose.rotation, atol=1e-12)
    meshes = {path: mesh for path, mesh in stream.static.items() if "surface" in path}
    assert {path.split("/")[1] for path in meshes} <= set(motion.figure.bodies.names)
    assert all(mesh["triangle_indices"].max() < len(mesh["vertex_positions"]) for mesh in meshes.values())


def test_without_a_file_the_active_recording_is_used_or_a_window_opened(rerun):
    nod().to_rerun()
    assert rerun.streams[0].spawned
    rerun.active = Stream("mine")
    nod().to_rerun()
    assert len(rerun.streams) == 1
    assert rerun.active.columns


def test_a_view_of_no_frames_is_refused(rerun):
    with pytest.raises(PoiseError, match="at least one posture"):
        record(View(poise.load("adelino"), []))
