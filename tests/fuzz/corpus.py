"""The seeds: small files, `good_*` that must be read and `bad_*` that must be refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"


def seeds(target: str) -> dict[str, bytes]:
    """All seeds of a target by name; those of binary glTF are packed from the ones in JSON."""
    if target == "glb":
        return _glb_seeds()
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
