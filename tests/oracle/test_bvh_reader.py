"""BVH files against two other readers: 4 × 4 matrices written here, and bvhio, which computes in single precision."""

import math
from pathlib import Path

import bvhio
import numpy as np
import pytest

from poise.formats.bvh.read import read_bvh_clip, read_bvh_figure
from tests import real_data

ROOT = Path(__file__).parents[2]
OWN = [*(ROOT / "examples" / "clips").glob("*.bvh"), *(ROOT / "tests" / "fuzz" / "corpus" / "bvh").glob("good_*.bvh")]
RECORDED = sorted(real_data.BVH.glob("*/*.bvh"))
WALK = ROOT / "examples" / "clips" / "walk.bvh"

MANY = 20
"""How many files of one folder the everyday suite reads; the rest of a large collection is slow."""


def every_file():
    """The files, those of large folders slow but for some spread over the folder."""
    found = [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in sorted(OWN)]
    for folder in sorted({path.parent for path in RECORDED}):
        paths = [path for path in RECORDED if path.parent == folder]
        every = -(-len(paths) // MANY)
        for i, path in enumerate(paths):
            marks = [pytest.mark.real_data, *([pytest.mark.slow] if i % every else [])]
            found.append(pytest.param(path, marks=marks, id=f"{folder.name}/{path.stem}"))
    return found


by_file = pytest.mark.parametrize("path", every_file())


class Node:
    def __init__(self, name):
        self.name, self.offset, self.channels, self.children = name, None, [], []


def read_nodes(words):
    """One block by recursion: the words after its opening brace."""
    node = Node(None)
    while (word := next(words)) != "}":
        if word == "OFFSET":
            node.offset = [float(next(words)) for _ in range(3)]
        elif word == "CHANNELS":
            node.channels = [next(words) for _ in range(int(next(words)))]
        else:
            name = next(words)
            assert next(words) == "{"
            child = read_nodes(words)
            child.name = None if word == "End" else name
            node.children.append(child)
    return node


def read_reference(path):
    """The root, and the frames as lists of floats."""
    head, tail = path.read_text().split("MOTION")
    words = iter(head.split())
    assert [next(words), next(words)] == ["HIERARCHY", "ROOT"]
    name = next(words)
    assert next(words) == "{"
    root = read_nodes(words)
    root.name = name
    rows = [line.split() for line in tail.strip().splitlines()[2:] if line.strip()]
    return root, [[float(word) for word in row] for row in rows]


def channel_matrix(channel, value):
    m = np.eye(4)
    c, s = math.cos(math.radians(value)), math.sin(math.radians(value))
    i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[channel[0]]
    m[i, i] = m[j, j] = c
    m[j, i], m[i, j] = s, -s
    return m


def walk(node, parent, values, found):
    place, turned = list(node.offset), np.eye(4)
    for channel in node.channels:
        value = next(values)
        if channel.endswith("position"):
            place["XYZ".index(channel[0])] = value
        else:
            turned = turned @ channel_matrix(channel, value)
    local = np.eye(4)
    local[:3, 3] = place
    world = parent @ local @ turned
    for child in node.children:
        if child.name is None:
            found.setdefault(f"{node.name}_end", (world @ [*child.offset, 1.0])[:3])
        else:
            walk(child, world, values, found)
    found[node.name] = world[:3, 3]
    return found


@by_file
def test_world_positions_equal_those_of_matrices(path):
    clip = read_bvh_clip(path)
    root, rows = read_reference(path)
    assert len(clip) == len(rows)
    names = [*clip.figure.bodies.names, *clip.figure.sites.names]
    positions = clip.positions(names)
    for i, row in enumerate(rows):
        expected = walk(root, np.eye(4), iter(row), {})
        assert set(expected) == set(names)
        assert np.abs(positions[i] - [expected[name] for name in names]).max() < 1e-6


@by_file
def test_world_positions_equal_those_of_bvhio(path):
    clip = read_bvh_clip(path)
    root = bvhio.readAsHierarchy(str(path))
    names = [joint.Name for joint, _, _ in root.layout()]
    assert set(names) == set(clip.figure.bodies.names)
    positions = clip.positions(names)
    # Single precision keeps seven digits of the distance from the origin.
    tolerance = 2e-6 * np.abs(positions).max()
    for frame in range(0, len(clip), max(1, len(clip) // 20)):
        root.loadPose(frame)
        expected = np.array([list(joint.PositionWorld) for joint, _, _ in root.layout()])
        assert np.abs(positions[frame] - expected).max() < tolerance


@by_file
def test_rest_skeleton_and_rate_equal_those_of_bvhio(path):
    raw = bvhio.readAsBvh(str(path))
    figure = read_bvh_figure(path)
    neutral = figure.neutral()
    assert read_bvh_clip(path).rate == pytest.approx(1.0 / raw.FrameTime)

    def check(joint, parent):
        here = parent + np.array(list(joint.Offset))
        assert np.allclose(figure.pose_of(joint.Name, neutral).position, here, atol=1e-4)
        for child in joint.Children:
            check(child, here)

    check(raw.Root, np.zeros(3))


def test_a_scale_scales_all_positions():
    assert np.allclose(read_bvh_clip(WALK, scale=0.7).positions(), 0.7 * read_bvh_clip(WALK).positions(), atol=1e-12)


@pytest.mark.real_data
def test_the_walker_of_the_cmu_file_has_a_human_height_in_metres():
    positions = read_bvh_clip(real_data.BVH / "cmu" / "02_01.bvh", scale=0.0254 / 0.45).positions()
    height = np.ptp(positions[..., 1], axis=1)
    assert 1.3 < height.min() < height.max() < 1.9
