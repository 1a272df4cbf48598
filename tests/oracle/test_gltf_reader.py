"""Skinned animals against 4 × 4 matrices from their JSON, read with pygltflib; splines against scipy.

One fox is made here; the Fox of the Khronos samples may be beside the repository.
"""

import base64
import json
import struct

import numpy as np
import pytest
from pygltflib import GLTF2
from scipy.interpolate import CubicHermiteSpline

from poise.formats.gltf.animation import GltfChannel, sampled
from poise.formats.gltf.read import read_gltf_clips, read_gltf_figure
from tests import real_data
from tests.unit.formats.gltf.samples import performance
from tests.unit.motion.retarget.performances import fox_on_the_spot

FOX = real_data.FOLDER / "gltf" / "Fox.gltf"


def read_floats(gltf, data, index):
    """One accessor, element by element."""
    accessor = gltf.accessors[index]
    view = gltf.bufferViews[accessor.bufferView]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor.type]
    start, stride = (view.byteOffset or 0) + (accessor.byteOffset or 0), view.byteStride or 4 * width
    return np.array([struct.unpack_from(f"<{width}f", data, start + stride * i) for i in range(accessor.count)])


def slerp(a, b, share):
    """Along the great circle from a to b, the short way."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    if a @ b < 0.0:
        b = -b
    angle = np.arccos(min(a @ b, 1.0))
    if angle < 1e-7:
        return a + share * (b - a)
    return (np.sin((1.0 - share) * angle) * a + np.sin(share * angle) * b) / np.sin(angle)


def local_matrix(translation, rotation, scale):
    x, y, z, w = np.array(rotation) / np.linalg.norm(rotation)
    turned = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    m = np.eye(4)
    m[:3, :3] = np.array(turned) * scale
    m[:3, 3] = translation
    return m


class Reference:
    def __init__(self, path):
        self.gltf = GLTF2().load(str(path))
        self.data = base64.b64decode(self.gltf.buffers[0].uri.split(",", 1)[1])
        self.keys = {}
        for animation in self.gltf.animations:
            for channel in animation.channels:
                sampler = animation.samplers[channel.sampler]
                times = read_floats(self.gltf, self.data, sampler.input)[:, 0]
                values = read_floats(self.gltf, self.data, sampler.output)
                self.keys[animation.name, channel.target.node, channel.target.path] = times, values

    def value(self, animation, node, path, time, rest):
        if (animation, node, path) not in self.keys:
            return rest
        times, values = self.keys[animation, node, path]
        if time <= times[0] or time >= times[-1]:
            return values[0 if time <= times[0] else -1]
        i = int(np.searchsorted(times, time, side="right")) - 1
        share = (time - times[i]) / (times[i + 1] - times[i])
        if path == "rotation":
            return slerp(values[i], values[i + 1], share)
        return values[i] + share * (values[i + 1] - values[i])

    def duration(self, animation):
        return max(times[-1] for (name, _, _), (times, _) in self.keys.items() if name == animation)

    def world(self, animation, time):
        """World matrix of every node by name."""
        found = {}

        def walk(i, parent):
            node = self.gltf.nodes[i]
            parts = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
            local = local_matrix(*(self.value(animation, i, p, time, getattr(node, p) or d) for p, d in parts.items()))
            found[node.name] = parent @ local
            for child in node.children or []:
                walk(child, found[node.name])

        for root in self.gltf.scenes[0].nodes:
            walk(root, np.eye(4))
        return found


@pytest.fixture(scope="module", params=["made here", pytest.param("Khronos", marks=pytest.mark.real_data)])
def fox(request, tmp_path_factory):
    """The file."""
    if request.param == "Khronos":
        return FOX
    path = tmp_path_factory.mktemp("fox") / "fox.gltf"
    path.write_bytes(performance({"Walk": fox_on_the_spot(), "Run": fox_on_the_spot(strides=3, rate=24.0)}))
    return path


@pytest.fixture(scope="module")
def reference(fox):
    return Reference(fox)


@pytest.mark.real_data
def test_joints_and_animations_of_the_fox_of_khronos():
    reference = Reference(FOX)
    clips = read_gltf_clips(FOX)
    assert list(clips) == ["Survey", "Walk", "Run"]
    figure = clips["Walk"].figure
    assert len(figure.bodies) == 24
    assert set(figure.bodies.names) == {reference.gltf.nodes[i].name for i in reference.gltf.skins[0].joints}
    assert all(clip.figure is figure for clip in clips.values())
    assert clips["Survey"].rate == 24.0
    assert len(clips["Survey"]) == 83


@pytest.mark.parametrize("rate", [None, 60.0, 37.0])
def test_world_positions_of_the_fox_equal_those_of_matrices(fox, reference, rate):
    for name, clip in read_gltf_clips(fox, rate=rate).items():
        names = clip.figure.bodies.names
        positions = clip.positions(names)
        assert clip.duration == pytest.approx(reference.duration(name), abs=1.0 / clip.rate)
        for i, time in enumerate(clip.times):
            world = reference.world(name, time)
            assert np.abs(positions[i] - [world[n][:3, 3] for n in names]).max() < 1e-6


def test_world_rotations_of_the_fox_equal_those_of_matrices(fox, reference):
    clip = read_gltf_clips(fox)["Run"]
    for i in range(0, len(clip), 5):
        world, frames = reference.world("Run", clip.times[i]), clip.figure.frames(clip[i])
        for name in clip.figure.bodies.names:
            assert np.abs(frames[name].matrix - world[name][:3, :3]).max() < 1e-9


def test_the_rest_posture_of_the_fox_is_that_of_its_nodes(fox, reference):
    figure = read_gltf_figure(fox)
    frames, world = figure.frames(figure.neutral()), reference.world(None, 0.0)
    for name in figure.bodies.names:
        assert np.abs(frames[name].position - world[name][:3, 3]).max() < 1e-9


def test_a_scale_scales_all_positions_of_the_fox(fox):
    whole, small = read_gltf_clips(fox)["Walk"], read_gltf_clips(fox, scale=0.01)["Walk"]
    assert np.allclose(small.positions(), 0.01 * whole.positions(), atol=1e-12)


def test_the_fox_as_glb_reads_the_same(fox, tmp_path):
    top = json.loads(fox.read_text())
    data = base64.b64decode(top["buffers"][0].pop("uri").split(",", 1)[1])
    text = json.dumps(top).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    path = tmp_path / f"{fox.stem}.glb"
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    assert read_gltf_clips(path) == read_gltf_clips(fox)


@pytest.mark.parametrize("target", ["translation", "rotation"])
def test_cubic_splines_equal_those_of_scipy(target):
    rng = np.random.default_rng(3)
    width = 4 if target == "rotation" else 3
    times = np.cumsum(rng.uniform(0.1, 2.0, 6))
    values, slopes = rng.normal(size=(6, width)), rng.normal(size=(6, 2, width))
    channel = GltfChannel(0, target, "CUBICSPLINE", times, values, slopes)
    for i in range(5):
        # Arriving and leaving slopes differ, so that every interval is a spline of its own.
        spline = CubicHermiteSpline(times[i : i + 2], values[i : i + 2], [slopes[i, 1], slopes[i + 1, 0]])
        asked = np.linspace(times[i], times[i + 1], 7)[:-1]
        assert np.allclose(sampled(channel, asked), spline(asked), atol=1e-12)
