"""Clips of any figure: written and read they move the same, and between frames they stay between them."""

import base64
import math
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import FormatError
from poise.figure.model.builder import Builder, ball, cylindrical, fixed, free, planar, prismatic, revolute, universal
from poise.figure.model.joints import Joint
from poise.formats.bvh.figure import bvh_figure, bvh_values
from poise.formats.bvh.read import parse_bvh, read_bvh_clip, write_bvh
from poise.formats.gltf.read import GltfMotion, parse_gltf
from poise.formats.table.table import parse_table, read_table, table_clip, write_table
from poise.motion.clip.clip import Clip

MAKERS = {
    "free": free,
    "ball": ball,
    "fixed": fixed,
    "revolute": lambda name: revolute(name, "x"),
    "slanted": lambda name: revolute(name, (1, 1, -2)),
    "universal": lambda name: universal(name, "z", "x"),
    "prismatic": lambda name: prismatic(name, (0, 1, 1)),
    "cylindrical": lambda name: cylindrical(name, "y"),
    "planar": lambda name: planar(name, "z"),
}
lengths = st.floats(-1.0, 1.0, allow_subnormal=False)
places = st.tuples(lengths, lengths, lengths)
turns = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 0.1)
joints = st.tuples(st.sampled_from(sorted(MAKERS)), st.integers(0, 50), places, turns)


@st.composite
def clips(draw):
    """A clip of a random tree of random joints in random postures."""
    builder = Builder("any", up=draw(st.sampled_from("xyz")))
    builder.body("b0", joint=draw(st.sampled_from([None, free("j0"), revolute("j0", "y"), ball("j0")])))
    for i, (kind, parent, at, turned) in enumerate(draw(st.lists(joints, min_size=1, max_size=6)), start=1):
        joint: Joint = MAKERS[kind](f"j{i}")
        builder.body(f"b{i}", parent=f"b{parent % i}", joint=joint, at=at, turned=turned)
    figure = builder.build()
    seeds = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=4))
    return Clip(figure, [figure.random(seed).q for seed in seeds], draw(st.floats(0.1, 1000.0)))


@settings(max_examples=60)
@given(clips())
def test_bvh_keeps_every_position(clip):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.bvh"
        write_bvh(clip, path)
        back = read_bvh_clip(path)
    names = clip.figure.bodies.names
    upright = {"y": np.eye(3), "z": [[1, 0, 0], [0, 0, 1], [0, -1, 0]], "x": [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}
    expected = clip.positions(names) @ np.transpose(upright[clip.figure.up])
    assert np.abs(back.positions(names) - expected).max() < 1e-5
    assert math.isclose(back.rate, clip.rate, rel_tol=1e-12)


@settings(max_examples=60)
@given(clips().filter(lambda clip: clip.figure.nq))
def test_a_table_keeps_every_bit(clip):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.csv"
        write_table(clip, path)
        back = read_table(path, clip.figure)
    assert back.q.tobytes() == clip.q.tobytes()
    assert back.rate == clip.rate


@settings(max_examples=60)
@given(clips(), st.floats(0.0, 1.0))
def test_between_two_frames_the_way_is_split_in_proportion(clip, share):
    figure, start, end = clip.figure, clip[0], clip[min(1, len(clip) - 1)]
    posture = clip.at(share / clip.rate)
    way = figure.difference(start, end)
    # A half turn has two shortest ways.
    if np.abs(way).max(initial=0.0) < 3.1:
        assert np.allclose(figure.difference(start, posture), share * way, atol=1e-6)


@settings(max_examples=60)
@given(clips(), st.integers(1, 5))
def test_a_faster_clip_still_has_every_frame(clip, times):
    fast = clip.resampled(times * clip.rate)
    assert len(fast) == times * (len(clip) - 1) + 1
    assert np.allclose(fast.positions()[::times], clip.positions(), atol=1e-6)


BVH = b"""HIERARCHY
ROOT Hips { OFFSET 0 1 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
JOINT Arm { OFFSET 1 0 0
CHANNELS 2 Zrotation Xrotation
End Site { OFFSET 1 0 0 } } }
MOTION
Frames: 1
Frame Time: 0.04
0 1 0 0 0 0 90 0
"""
KEYS = np.array([0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.8], dtype="<f4").tobytes()
"""Two times [s], then two quaternions (x, y, z, w)."""
GLTF = b"""{"asset": {"version": "2.0"}, "skins": [{"joints": [0, 1]}],
"nodes": [{"children": [1], "scale": [2, 2, 2]}, {"translation": [0, 1, 0]}],
"buffers": [{"byteLength": 40, "uri": "data:application/octet-stream;base64,%s"}],
"bufferViews": [{"buffer": 0, "byteLength": 40}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"},
{"bufferView": 0, "byteOffset": 8, "componentType": 5126, "count": 2, "type": "VEC4"}],
"animations": [{"samplers": [{"input": 0, "output": 1}],
"channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]}]}""" % base64.b64encode(KEYS)
TABLE = b"# rate: 60\n# angles: degrees\ntime,turn,nod\n0,1,2\n0.0166667,2,3\n"
PAIR = Builder("pair")
PAIR.body("a", joint=revolute("turn", "y"))
PAIR.body("b", parent="a", joint=revolute("nod", "x"), at=(0, 1, 0))
LAMP = PAIR.build()


def read_bvh(data):
    """The frames of a BVH file."""
    document = parse_bvh(data)
    bvh_figure(document, "any")
    return bvh_values(document)


def read_gltf(data):
    """The frames of all clips of a glTF file, one after another."""
    clips = GltfMotion(parse_gltf(data), "any").clips()
    return np.concatenate([np.empty(0), *(clip.q.ravel() for clip in clips.values())])


def read_lamp_table(data):
    """The frames of a table of the lamp."""
    return table_clip(parse_table(data), LAMP).q


NUMBERS = [b"nan", b"inf", b"1e308", b"-1", b"0", b"3", b"-72.5", b"1e-3", b"1e-320", b"9" * 30]
WORDS = [*NUMBERS, b"{", b"}", b"]", b'"', b",", b"\n", b"\x00", b"\xff", b"null", b" "]


def changed(seed):
    """`seed` with some of its numbers, or some runs of bytes, replaced by others."""
    numbers = [(found.start(), len(found[0])) for found in re.finditer(rb"-?[0-9]+(\.[0-9]+)?", seed)]
    another_number = st.tuples(st.sampled_from(numbers), st.sampled_from(NUMBERS))
    runs = st.tuples(st.integers(0, len(seed)), st.integers(0, 12))
    other_bytes = st.tuples(runs, st.sampled_from(WORDS) | st.binary(max_size=4))

    def apply(edits):
        data = seed
        for (at, length), new in sorted(edits, reverse=True):
            data = data[:at] + new + data[at + length :]
        return data

    return st.lists(another_number, min_size=1, max_size=3).map(apply) | st.lists(
        other_bytes, min_size=1, max_size=3
    ).map(apply)


def finite_or_refused(read, data):
    """Read what may be wrong: it is refused with a reason, or all numbers read are finite."""
    try:
        frames = read(data)
    except FormatError as problem:
        assert problem.reason.endswith((".", "?", "…"))
    else:
        assert np.isfinite(frames).all()


@pytest.mark.parametrize(
    ("read", "data", "count"), [(read_bvh, BVH, 7 + 2), (read_gltf, GLTF, 2 * (7 + 4)), (read_lamp_table, TABLE, 2 * 2)]
)
def test_files_before_they_are_changed_are_read(read, data, count):
    assert np.size(read(data)) == count


@settings(max_examples=300)
@given(changed(BVH) | st.binary(max_size=60))
def test_bvh_readers_raise_nothing_but_format_errors(data):
    finite_or_refused(read_bvh, data)


@settings(max_examples=300)
@given(changed(GLTF) | st.binary(max_size=60))
def test_gltf_readers_raise_nothing_but_format_errors(data):
    finite_or_refused(read_gltf, data)


@settings(max_examples=300)
@given(changed(TABLE) | st.binary(max_size=60))
def test_table_readers_raise_nothing_but_format_errors(data):
    finite_or_refused(read_lamp_table, data)
