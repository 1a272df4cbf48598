"""Small glTF files made in memory."""

import base64
import copy
import json
import struct

import numpy as np

from poise.figure.model.pose import turn
from poise.formats.gltf.read import GltfMotion, parse_gltf

TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
COMPONENTS = {"float32": 5126, "int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125}

CHAIN = [
    {"name": "hip", "children": [1], "translation": [0, 1, 0]},
    {"name": "knee", "children": [2], "translation": [0, -0.5, 0]},
    {"name": "foot", "translation": [0, -0.5, 0]},
]


class Sample:
    """A glTF file under construction."""

    def __init__(self, nodes, joints=None):
        self.top = {"asset": {"version": "2.0"}, "nodes": copy.deepcopy(nodes), "accessors": [], "bufferViews": []}
        if joints is not None:
            self.top["skins"] = [{"joints": joints}]
        self.data = b""

    def view(self, values):
        """A view of an array, by index."""
        self.data += b"\0" * (-len(self.data) % 4)
        raw = np.ascontiguousarray(values).tobytes()
        self.top["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)})
        self.data += raw
        return len(self.top["bufferViews"]) - 1

    def accessor(self, values, **more):
        """An accessor of a two-dimensional array, by index."""
        values = np.atleast_2d(np.asarray(values))
        values = values.astype("<f4") if values.dtype.kind == "f" or values.dtype == np.int64 else values
        accessor = {
            "bufferView": self.view(values),
            "componentType": COMPONENTS[values.dtype.name],
            "count": len(values),
            "type": TYPES[values.shape[1]],
        }
        self.top["accessors"].append(accessor | more)
        return len(self.top["accessors"]) - 1

    def animate(self, channels, name=None):
        """An animation of (node, path, times, values, interpolation)."""
        animation = {"samplers": [], "channels": []}
        if name is not None:
            animation["name"] = name
        for i, (node, path, times, values, interpolation) in enumerate(channels):
            output = values if isinstance(values, int) else self.accessor(values)
            times = self.accessor(np.reshape(np.array(times, float), (-1, 1)))
            animation["samplers"].append({"input": times, "output": output, "interpolation": interpolation})
            animation["channels"].append({"sampler": i, "target": {"node": node, "path": path}})
        self.top.setdefault("animations", []).append(animation)
        return self

    def gltf(self):
        """The bytes of a .gltf with its buffer inside."""
        uri = f"data:application/octet-stream;base64,{base64.b64encode(self.data).decode()}"
        return self.text({"uri": uri})

    def text(self, buffer):
        """The JSON with a buffer described some other way."""
        buffers = [{"byteLength": len(self.data)} | buffer] if self.data else []
        return json.dumps(self.top | {"buffers": buffers}).encode()

    def glb(self):
        """The bytes of a .glb."""
        text = self.text({})
        text += b" " * (-len(text) % 4)
        return glb([(0x4E4F534A, text), (0x004E4942, self.data + b"\0" * (-len(self.data) % 4))])


def glb(chunks, version=2, length=None):
    """A GLB file of chunks (type, bytes)."""
    body = b"".join(struct.pack("<II", len(data), kind) + data for kind, data in chunks)
    return struct.pack("<4sII", b"glTF", version, 12 + len(body) if length is None else length) + body


def xyzw(axis, degrees):
    w, x, y, z = turn(axis, degrees)
    return [x, y, z, w]


def motion(sample, scale=1.0):
    return GltfMotion(parse_gltf(sample.gltf()), "test", scale)


def sparse_part(sample, rows, values):
    return {
        "count": len(rows),
        "indices": {"bufferView": sample.view(np.array(rows, dtype="<u2")), "componentType": 5123},
        "values": {"bufferView": sample.view(np.array(values, dtype="<f4"))},
    }


def performance(clips):
    """The bytes of a .gltf with the skeleton of clips of one figure of ball joints, and an animation for each clip."""
    figure = next(iter(clips.values())).figure
    names, rest = list(figure.bodies.names), figure.frames(figure.neutral())
    joints = {joint.child: joint for joint in figure.joints}
    nodes = []
    for name in names:
        parent = joints[name].parent
        at = rest[name].position - (rest[parent].position if parent else 0.0)
        children = [names.index(joint.child) for joint in figure.joints if joint.parent == name]
        nodes.append({"name": name, "translation": at.tolist()} | ({"children": children} if children else {}))
    sample = Sample(nodes, list(range(len(names))))
    sample.top |= {"scene": 0, "scenes": [{"nodes": [names.index(n) for n in names if joints[n].parent is None]}]}
    for title, clip in clips.items():
        channels = []
        for i, name in enumerate(names):
            values = clip.q[:, figure.q_slice(joints[name].name)]
            if values.shape[1] == 7:
                channels.append((i, "translation", clip.times, values[:, :3], "LINEAR"))
            channels.append((i, "rotation", clip.times, np.roll(values[:, -4:], -1, axis=1), "LINEAR"))
        sample.animate(channels, title)
    return sample.gltf()


def walking():
    return Sample(CHAIN, [0, 1, 2]).animate([(0, "translation", [0, 1], [[0, 1, 0], [4, 1, 0]], "LINEAR")], "walk")
