"""glTF files with mistakes: each raises one sentence that names the place."""

import json

import numpy as np
import pytest

from poise.errors import FormatError
from poise.formats.gltf.read import GltfMotion, parse_gltf, read_gltf_clips
from tests.unit.formats.gltf.samples import CHAIN, Sample, glb, motion, sparse_part, walking


def broken(change):
    """The bytes of a file with one value of its JSON changed."""
    sample = walking()
    top = json.loads(sample.gltf())
    change(top)
    return json.dumps(top).encode()


def set_in(*path, to):
    def change(top):
        *outer, last = path
        for key in outer:
            top = top[key]
        top[last] = to

    change.__name__ = f"{'.'.join(map(str, path))}={str(to)[:30]}"
    return change


TIMES, VALUES, SAMPLER = ("accessors", 1), ("accessors", 0), ("animations", 0, "samplers", 0)
CHANNEL = ("animations", 0, "channels", 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (set_in("asset", to=None), "asset must be a JSON object, not nothing"),
        (set_in("asset", to={}), "glTF version ''; only version 2.0 can be read"),
        (set_in("asset", "version", to="1.0"), "glTF version '1.0'"),
        (set_in("nodes", to=[]), "an index below 0"),
        (set_in("nodes", to={}), "the file has an object as its 'nodes'"),
        (set_in("nodes", 0, to=7), "nodes[0] must be a JSON object, not 7"),
        (set_in("nodes", 0, "name", to=5), "nodes[0] has 5 as its 'name', which must be text"),
        (set_in("nodes", 0, "children", to=[3]), "nodes[0] has 3 in its 'children', where an index below 3 must be"),
        (set_in("nodes", 0, "children", to=[-1]), "where an index below 3"),
        (set_in("nodes", 0, "children", to=[True]), "nodes[0] has true in its 'children'"),
        (set_in("nodes", 0, "children", to=[1.5]), "nodes[0] has 1.5 in its 'children'"),
        (set_in("nodes", 0, "children", to=[1, 2]), "nodes[2] is a child of both nodes[0] and nodes[1]"),
        (set_in("nodes", 0, "children", to=[1, 1]), "nodes[1] is a child of both nodes[0] and nodes[0]"),
        (set_in("nodes", 2, "children", to=[0]), "nodes[0] is its own ancestor"),
        (set_in("nodes", 2, "children", to=[2]), "nodes[2] is a child of both"),
        (set_in("nodes", 0, "translation", to=[1, 2]), "an array of 2 as its 'translation', which must be 3 finite"),
        (set_in("nodes", 0, "translation", to=[1, 2, 1e99]), "must be 3 finite numbers"),
        (set_in("nodes", 0, "translation", to=[1, 2, 10**400]), "must be 3 finite numbers"),
        (set_in("nodes", 0, "translation", to=[1, 2, "3"]), "must be 3 finite numbers"),
        (set_in("nodes", 0, "rotation", to=[0, 0, 0, 0]), "nodes[0] has a zero quaternion"),
        (set_in("nodes", 0, "matrix", to=[1] * 16), "both a 'matrix' and a translation, rotation or scale"),
        (set_in("nodes", 0, to={"matrix": [1] * 16}), "last row is not 0 0 0 1"),
        (set_in("nodes", 0, to={"matrix": [1] * 15}), "must be 16 finite numbers"),
        (set_in("skins", 0, "joints", to=[0, 9]), "skins[0] has 9 in its 'joints'"),
        (set_in("skins", 0, "joints", to=[0, 0]), "must list at least one joint, and each joint once"),
        (set_in("skins", 0, "joints", to=[]), "at least one"),
        (set_in(*CHANNEL, "sampler", to=1), "has 1 in its 'sampler', where an index below 1"),
        (set_in(*CHANNEL, "target", to=[]), "target must be a JSON object"),
        (set_in(*CHANNEL, "target", "node", to=3), "has 3 in its 'node', where an index below 3"),
        (set_in(*CHANNEL, "target", "path", to="colour"), "has the unknown path 'colour'"),
        (
            set_in(*SAMPLER, "interpolation", to="SMOOTH"),
            "has the unknown interpolation 'SMOOTH'. Interpolations: LINEAR",
        ),
        (set_in(*SAMPLER, "interpolation", to="CUBICSPLINE"), "2 values for 2 times; CUBICSPLINE needs 6"),
        (set_in(*SAMPLER, "input", to=2), "has 2 in its 'input', where an index below 2"),
        (set_in(*SAMPLER, "input", to=0), "holds 3 numbers per element where 1 are needed"),
        (set_in(*SAMPLER, "output", to=1), "holds 1 numbers per element where 3 are needed"),
        (set_in(*TIMES, "count", to=3), "needs 12 bytes of a view of 8"),
        (set_in(*TIMES, "count", to=1), "2 values for 1 times; LINEAR needs 1"),
        (set_in(*TIMES, "count", to=0), "has 0 as its 'count', which must be a whole number from 1 up"),
        (set_in(*TIMES, "count", to=2**52), "bytes of a view of 8"),
        (set_in(*TIMES, "count", to=2**60), "a number of many digits as its 'count'"),
        (set_in(*TIMES, "byteOffset", to=4), "needs 12 bytes of a view of 8"),
        (set_in(*TIMES, "byteOffset", to=-4), "whole number from 0 up"),
        (set_in(*TIMES, "componentType", to=5124), "unknown component type 5124"),
        (set_in(*TIMES, "componentType", to=5123), "integers that are not normalised"),
        (set_in(*TIMES, "type", to="MAT4"), "has the type 'MAT4'"),
        (set_in(*TIMES, "bufferView", to=2), "has 2 in its 'bufferView', where an index below 2"),
        (
            set_in(*TIMES, to={"componentType": 5126, "count": 2, "type": "SCALAR"}),
            "neither a 'bufferView' nor 'sparse'",
        ),
        (set_in("bufferViews", 1, "buffer", to=1), "has 1 in its 'buffer', where an index below 1"),
        (set_in("bufferViews", 1, "byteLength", to=99), "ends at byte 123 of a buffer of 32 bytes"),
        (set_in("bufferViews", 1, "byteOffset", to=2**52), "of a buffer of 32 bytes"),
        (set_in("bufferViews", 0, "byteStride", to=4), "a stride of 4 bytes for elements of 12"),
        (set_in("bufferViews", 0, "extensions", to={"EXT_meshopt_compression": {}}), "EXT_meshopt_compression"),
        (set_in("buffers", 0, "byteLength", to=33), "must have 33 bytes and has 32"),
        (set_in("buffers", 0, to={"byteLength": 32}), "no 'uri', and the file has no binary chunk"),
    ],
)
def test_mistakes_raise_errors(change, sentence):
    with pytest.raises(FormatError) as caught:
        motion_of(broken(change))
    assert sentence in caught.value.reason
    assert str(caught.value).startswith("some.gltf: ")


def motion_of(data):
    return GltfMotion(parse_gltf(data, "some.gltf"), "test").clips()


@pytest.mark.parametrize("times", [[1, 0], [0, 0], [-1, 1], [0, np.nan], [0, np.inf]])
def test_times_must_increase_from_zero_up(times):
    sample = Sample(CHAIN).animate([(0, "translation", times, [[0, 0, 0], [1, 0, 0]], "LINEAR")])
    with pytest.raises(FormatError, match="times that are not increasing numbers from 0 up"):
        parse_gltf(sample.gltf())


@pytest.mark.parametrize(
    ("path", "values", "sentence"),
    [
        ("translation", [[0, 0, 0], [np.nan, 0, 0]], "values that are not finite"),
        ("translation", [[0, 0, 0], [np.inf, 0, 0]], "values that are not finite"),
        ("rotation", [[0, 0, 0, 1], [0, 0, 0, 0]], "zero quaternion among its rotations"),
    ],
)
def test_values_must_be_finite_and_rotations_no_zeros(path, values, sentence):
    sample = Sample(CHAIN).animate([(0, path, [0, 1], values, "LINEAR")])
    with pytest.raises(FormatError, match=sentence):
        parse_gltf(sample.gltf())


def test_two_channels_for_one_property_are_refused():
    both = [(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]], "LINEAR")] * 2
    with pytest.raises(FormatError, match=r"the translation of nodes\[0\], which another channel animates already"):
        parse_gltf(Sample(CHAIN).animate(both).gltf())


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"count": 5}, "needs 10 bytes of a view of 4"),
        ({"count": 0}, "whole number from 1 up"),
        ({"indices": {"bufferView": 0, "componentType": 5126}}, "indices are unsigned integers"),
        ({"indices": {"bufferView": 9, "componentType": 5123}}, "where an index below"),
        ({"values": {"bufferView": 1, "byteOffset": 100}}, "bytes of a view of"),
    ],
)
def test_sparse_parts_are_checked(part, sentence):
    sample = Sample(CHAIN)
    output = sample.accessor(np.zeros((4, 3)))
    sample.top["accessors"][output]["sparse"] = sparse_part(sample, [1, 3], [[1, 0, 0], [3, 0, 0]]) | part
    sample.animate([(0, "translation", [0, 1, 2, 3], output, "LINEAR")])
    with pytest.raises(FormatError, match=sentence):
        parse_gltf(sample.gltf())


@pytest.mark.parametrize("rows", [[3, 1], [1, 1], [1, 4]])
def test_sparse_indices_increase_and_stay_inside(rows):
    sample = Sample(CHAIN)
    output = sample.accessor(np.zeros((4, 3)))
    sample.top["accessors"][output]["sparse"] = sparse_part(sample, rows, [[1, 0, 0], [3, 0, 0]])
    sample.animate([(0, "translation", [0, 1, 2, 3], output, "LINEAR")])
    with pytest.raises(FormatError, match="indices below 4 in increasing order"):
        parse_gltf(sample.gltf())


def test_sparse_zeros_beyond_the_size_of_the_file_are_refused():
    sample = Sample(CHAIN)
    output = sample.accessor(np.zeros((4, 3)))
    del sample.top["accessors"][output]["bufferView"]
    sample.top["accessors"][output] |= {"count": 2**50, "sparse": sparse_part(sample, [1], [[1, 0, 0]])}
    sample.animate([(0, "translation", [0, 1], output, "LINEAR")])
    with pytest.raises(FormatError, match="more than the buffers of the file can"):
        parse_gltf(sample.gltf())


def test_broken_json_raises_an_error_with_its_line():
    with pytest.raises(FormatError) as caught:
        parse_gltf(b'{\n"asset": {\n"version" "2.0"}}', "some.gltf")
    assert caught.value.line == 3
    assert "its JSON is broken" in caught.value.reason


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "its JSON is broken"),
        (b"[]", "the file must be a JSON object"),
        (b"{}", "the file has no 'asset'"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"asset": NaN}', "has NaN in its JSON, which is not a finite number"),
        (b'{"asset": -Infinity}', "has -Infinity in its JSON, which is not a finite number"),
        (b'{"asset": ' + b"[" * 200_000, "nests JSON objects too deeply"),
        (b'{"asset": ' + b"9" * 5000 + b"}", "too many digits"),
        (b"glTF", "too short for a GLB"),
        (glb([(0x4E4F534A, b"{}  ")], version=1), "GLB version 1"),
        (glb([(0x4E4F534A, b"{}  ")], length=99), "has 24 bytes, and its header announces 99"),
        (glb([(0x4E4F534A, b"{}  ")], length=28) + b"abcd", "4 bytes at the end of the file belong to no chunk"),
        (glb([(0x004E4942, b"{}  ")]), "first chunk of a GLB file must hold its JSON"),
        (
            glb([(0x4E4F534A, b"{}  ")])[:12] + b"\xff\0\0\0JSON{}  ",
            "ends before the chunk at byte 12, which has 255 bytes",
        ),
    ],
)
def test_bytes_that_are_not_gltf_are_refused(data, sentence):
    with pytest.raises(FormatError) as caught:
        parse_gltf(data, "some.gltf")
    assert sentence in caught.value.reason


def test_a_file_without_nodes_has_no_skeleton():
    with pytest.raises(FormatError, match="no nodes, and so no skeleton"):
        motion(Sample([]))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        read_gltf_clips(tmp_path / "none.glb")
