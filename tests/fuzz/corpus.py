"""The seeds: small files, `good_*` that must be read and `bad_*` that must be refused."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "corpus"


def seeds(target: str) -> dict[str, bytes]:
    """All seeds of a target by name; those of binary formats are packed here."""
    made = {
        "glb": _glb_seeds,
        "npz": _npz_seeds,
        "stl": _stl_seeds,
        "amass": _amass_seeds,
        "trainer_pickle": _pickle_seeds,
        "trainer_npz": _tracking_seeds,
        "trainer_rows": _row_seeds,
    }
    if target in made:
        return made[target]()
    return {path.name: path.read_bytes() for path in sorted((FOLDER / target).iterdir())}


def _glb_seeds() -> dict[str, bytes]:
    found = {}
    for name, text in seeds("gltf").items():
        if name.startswith("good"):
            found[f"{name}.glb"] = pack_glb(text)
    whole = next(iter(found.values()))
    found["bad_magic.glb"] = b"glTF"[::-1] + whole[4:]
    found["bad_version.glb"] = whole[:4] + struct.pack("<I", 7) + whole[8:]
    found["bad_length.glb"] = whole[:8] + struct.pack("<I", 2**32 - 1) + whole[12:]
    found["bad_chunk_length.glb"] = whole[:12] + struct.pack("<I", 2**31) + whole[16:]
    found["bad_first_chunk.glb"] = whole[:16] + b"BIN\0" + whole[20:]
    found["bad_truncated.glb"] = whole[:40]
    found["bad_json.glb"] = pack_glb(b"{")
    found["bad_header_only.glb"] = struct.pack("<4sII", b"glTF", 2, 12)
    return found


def _npz_seeds() -> dict[str, bytes]:
    """Motions, packed and plain, and archives that are none."""
    motion = json.loads((FOLDER / "motion" / "good_two_frames.json").read_bytes())
    arrays = {key: _npy(np.asarray(value)) for key, value in motion.items()}
    found = {f"good_{how}.npz": _zip(arrays, kind) for how, kind in (("plain", 0), ("packed", zipfile.ZIP_DEFLATED))}
    promises = (("long", (10**11, 6)), ("large", (10**18, 10**18)), ("negative", (-1, 6)))
    for name, shape in promises:
        found[f"bad_{name}.npz"] = _zip(arrays | {"q": _npy(np.zeros(4), shape)}, zipfile.ZIP_DEFLATED)
    found["bad_objects.npz"] = _zip(arrays | {"q": _npy(np.zeros(4)).replace(b"'<f8'", b"'|O' ")}, 0)
    found["bad_key.npz"] = _zip({"q": arrays["q"]}, 0)
    found["bad_zip.npz"] = b"PK\x03\x04 and nothing else"
    found["bad_bomb.npz"] = _zip(arrays | {"q": bytes(300 << 20)}, zipfile.ZIP_DEFLATED)
    packed = bytearray(found["good_packed.npz"])
    start = packed.index(b"q.npy") + len(b"q.npy")
    packed[start + 20 : start + 24] = b"\xff" * 4
    found["bad_deflate.npz"] = bytes(packed)
    return found


def _amass_seeds() -> dict[str, bytes]:
    """Two frames of a body, in the old and the new form, and as positions."""
    new = {"trans": np.zeros((2, 3)), "root_orient": np.zeros((2, 3)), "pose_body": np.zeros((2, 63))}
    rate = {"mocap_frame_rate": np.asarray(30.0), "betas": np.zeros(16)}
    old = {"trans": np.zeros((2, 3)), "poses": np.zeros((2, 156))}
    places = {"global_joint_positions": np.arange(132.0).reshape(2, 22, 3)}
    found = {}
    for name, content in (("new", new | rate), ("old", old | rate), ("places", places)):
        arrays = {key: _npy(value) for key, value in content.items()}
        found[f"good_{name}.npz"] = _zip(arrays, zipfile.ZIP_DEFLATED)
    bad = {
        "rate": new,
        "short": new | rate | {"pose_body": np.zeros((1, 63))},
        "trans": new | rate | {"trans": np.zeros(3)},
    }
    for name, content in bad.items():
        found[f"bad_{name}.npz"] = _zip({key: _npy(value) for key, value in content.items()}, 0)
    return found


def _trainer_arrays() -> dict[str, np.ndarray]:
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1, 1))
    return {
        "fps": np.array([50]),
        "joint_pos": np.zeros((2, 2)),
        "joint_vel": np.zeros((2, 2)),
        "body_pos_w": np.zeros((2, 1, 3)),
        "body_quat_w": turn,
        "body_lin_vel_w": np.zeros((2, 1, 3)),
        "body_ang_vel_w": np.zeros((2, 1, 3)),
    }


def _tracking_seeds() -> dict[str, bytes]:
    good = _trainer_arrays()
    named = good | {"joint_names": np.array(["turn", "bend"]), "body_names": np.array(["trunk"])}
    bad = {
        "rate": good | {"fps": np.array([0])},
        "joints": good | {"joint_pos": np.zeros((2, 3))},
        "turn": good | {"body_quat_w": np.zeros((2, 1, 4))},
        "names": named | {"joint_names": np.array(["turn", "fold"])},
        "nan": good | {"body_pos_w": np.full((2, 1, 3), np.nan)},
    }
    found = {f"good_{n}.npz": c for n, c in (("plain", good), ("named", named))} | {
        f"bad_{n}.npz": c for n, c in bad.items()
    }
    return {name: _zip({key: _npy(value) for key, value in content.items()}, 0) for name, content in found.items()}


def _pickle_seeds() -> dict[str, bytes]:
    good = {
        "fps": 30,
        "root_pos": np.zeros((2, 3)),
        "root_rot": np.tile([0.0, 0.0, 0.0, 1.0], (2, 1)),
        "dof_pos": np.zeros((2, 2)),
        "local_body_pos": None,
        "link_body_list": None,
    }
    bad = {"list": [1, 2], "empty": {}, "text": good | {"dof_pos": "none"}, "call": good | {"fps": np.polyfit}}
    found = {"good_numpy.pkl": pickle.dumps(good), "bad_bytes.pkl": b"\x80\x04."}
    return found | {f"bad_{name}.pkl": pickle.dumps(content) for name, content in bad.items()}


def _row_seeds() -> dict[str, bytes]:
    row = b"0,0,1,0,0,0,1,0.1,0.2\n"
    return {
        "good_rows.csv": 2 * row,
        "bad_header.csv": b"x,y,z\n" + row,
        "bad_short.csv": row + b"1,2\n",
        "bad_joints.csv": b"0,0,1,0,0,0,1\n",
        "bad_turn.csv": b"0,0,1,0,0,0,0,0.1,0.2\n",
        "bad_nan.csv": b"nan,0,1,0,0,0,1,0.1,0.2\n",
    }


def _npy(array: np.ndarray, shape: tuple[int, ...] | None = None) -> bytes:
    """An array as NPY, whose header promises another shape if one is given."""
    stream = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(stream, header | ({} if shape is None else {"shape": shape}))
    return stream.getvalue() + array.tobytes()


def _zip(entries: dict[str, bytes], kind: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for key, data in entries.items():
            archive.writestr(f"{key}.npy", data)
    return stream.getvalue()


def _stl_seeds() -> dict[str, bytes]:
    """A triangle as text and as binary, and files that promise more than they have."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype="<f4")
    lines = "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners)
    text = f"solid a\nfacet normal 0 0 1\nouter loop\n{lines}endloop\nendfacet\nendsolid a\n".encode()
    binary = bytes(80) + struct.pack("<I", 1) + bytes(12) + corners.tobytes() + bytes(2)
    nan = np.full((3, 3), np.nan, dtype="<f4")
    return {
        "good_text.stl": text,
        "good_binary.stl": binary,
        "bad_empty.stl": bytes(84),
        "bad_count.stl": bytes(80) + struct.pack("<I", 2**32 - 1),
        "bad_nan.stl": bytes(80) + struct.pack("<I", 1) + bytes(12) + nan.tobytes() + bytes(2),
        "bad_signalling_nan.stl": binary.replace(bytes.fromhex("0000803f"), bytes.fromhex("0100b27f")),
        "bad_corner.stl": text.replace(b"vertex 0.0 1.0 0.0\n", b""),
        "bad_number.stl": text.replace(b"1.0", b"one"),
    }


def pack_glb(text: bytes) -> bytes:
    """JSON as a binary glTF; its first buffer, if it is inline, becomes the binary chunk."""
    body, binary = text, b""
    try:
        document = json.loads(text)
        uri = document["buffers"][0].pop("uri")
        import base64

        binary = base64.b64decode(uri.partition(",")[2])
        body = json.dumps(document).encode()
    except (ValueError, KeyError, IndexError, TypeError):
        pass
    body += b" " * (-len(body) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<I4s", len(body), b"JSON") + body
    if binary:
        chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
