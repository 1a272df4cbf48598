"""Messages on the wire: JSON as text, or as bytes with arrays behind it.

A message of bytes is JSON on one line, a newline, and numbers of 64 bits, the lowest byte first. An array in the JSON
is `{"shape": [120, 60, 4], "at": 0}`: it has this shape and begins with this number of those behind the newline.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from poise.errors import FormatError
from poise.figure.model.pose import FloatArray

NEWLINE = b"\n"
NUMBER_ON_WIRE = np.dtype("<f8")
REFERENCE = {"shape", "at"}
"""Keys of what stands for an array."""


def unpack(message: str | bytes) -> dict[str, Any]:
    """The object in a message, with its arrays; raises `FormatError`."""
    head, _, data = (message, b"", b"") if isinstance(message, str) else message.partition(NEWLINE)
    if len(data) % NUMBER_ON_WIRE.itemsize:
        raise FormatError(f"{len(data)} bytes follow the first line, which are no whole numbers of 8 bytes.")
    try:
        found = json.loads(head)
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"this message is not JSON: {problem}.") from None
    if not isinstance(found, dict):
        raise FormatError('a message is a JSON object such as {"do": "hello"}.')
    numbers = np.frombuffer(data, NUMBER_ON_WIRE)
    return found if isinstance(message, str) else _replaced(found, lambda part: _array(part, numbers))


def pack(message: dict[str, Any], *, binary: bool) -> str | bytes:
    """A message as text, or with its arrays as bytes."""
    if not binary:
        return json.dumps(message, default=_as_list)
    chunks: list[bytes] = []
    count = 0

    def reference(value: FloatArray) -> dict[str, Any]:
        nonlocal count
        at, count = count, count + value.size
        chunks.append(np.ascontiguousarray(value, NUMBER_ON_WIRE).tobytes())
        return {"shape": list(value.shape), "at": at}

    head = json.dumps(message, default=reference).encode()
    return head + NEWLINE + b"".join(chunks)


def _as_list(value: Any) -> Any:
    return np.asarray(value).tolist()


def _replaced(value: Any, made: Callable[[dict[str, Any]], Any]) -> Any:
    """A value with arrays in the places of their references."""
    if isinstance(value, list):
        return [_replaced(part, made) for part in value]
    if not isinstance(value, dict):
        return value
    return made(value) if value.keys() == REFERENCE else {key: _replaced(part, made) for key, part in value.items()}


def _array(reference: dict[str, Any], numbers: FloatArray) -> FloatArray:
    shape, at = reference["shape"], reference["at"]
    whole = [*shape, at] if isinstance(shape, list) else [None]
    if not all(type(part) is int and part >= 0 for part in whole):
        raise FormatError(f"{reference} stands for no array: 'shape' and 'at' are whole numbers.")
    size = int(np.prod(shape, dtype=object))
    if at + size > len(numbers):
        raise FormatError(f"{reference} needs {at + size} numbers behind the first line, which has {len(numbers)}.")
    return numbers[at : at + size].reshape(shape)
