"""Draws discs and lines into pixels, and scales and writes pictures: what a figure with its joints needs, in numpy."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from poise.figure.model.pose import FloatArray
from poise.figure.model.shapes import Color

Pixels = NDArray[np.uint8]
Spot = tuple[float, float]
BLUR_WIDTH = 3.0
"""Number of standard deviations from the middle after which a blur ends."""


def color_bytes(color: Color) -> tuple[int, int, int]:
    """A colour as three bytes."""
    red, green, blue = (round(255.0 * channel) for channel in color)
    return red, green, blue


def disc(pixels: Pixels, spot: Spot, radius: float, color: Color) -> None:
    """Fill a disc around a spot; what is outside the picture is left out."""
    line(pixels, spot, spot, 2.0 * radius, color)


def line(pixels: Pixels, start: Spot, end: Spot, width: float, color: Color) -> None:
    """Draw a line with round ends; what is outside the picture is left out."""
    ends, reach = np.array([start, end]), 0.5 * width
    limit = np.array([pixels.shape[1], pixels.shape[0]])
    first = np.clip(np.floor(ends.min(axis=0) - reach), 0, limit).astype(int)
    last = np.clip(np.ceil(ends.max(axis=0) + reach) + 1, 0, limit).astype(int)
    x, y = np.arange(first[0], last[0])[None, :] - ends[0, 0], np.arange(first[1], last[1])[:, None] - ends[0, 1]
    way = ends[1] - ends[0]
    along = np.clip((x * way[0] + y * way[1]) / max(float(way @ way), 1e-12), 0.0, 1.0)
    near = (x - along * way[0]) ** 2 + (y - along * way[1]) ** 2 <= reach * reach
    pixels[first[1] : last[1], first[0] : last[0]][near] = color_bytes(color)


def reduced(pixels: Pixels, factor: int) -> Pixels:
    """Average squares of `factor` by `factor` pixels."""
    height, width, channels = pixels.shape
    blocks = pixels.reshape(height // factor, factor, width // factor, factor, channels)
    found: Pixels = np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)
    return found


def resized(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Scale pixels to another width and height; each new pixel is the average of the area that it covers."""
    found = pixels.astype(np.float64)
    for axis, count in ((1, size[0]), (0, size[1])):
        found = _averaged(found, axis, count)
    return np.rint(found).astype(np.uint8)


def _averaged(values: FloatArray, axis: int, count: int) -> FloatArray:
    """`values` with an axis divided into `count` equal parts, each replaced by its average."""
    length = values.shape[axis]
    sums = np.insert(np.cumsum(values, axis=axis), 0, 0.0, axis=axis)
    edges = np.linspace(0.0, length, count + 1)
    whole = np.minimum(edges.astype(int), length - 1)
    shape = [-1 if k == axis else 1 for k in range(values.ndim)]
    upto = np.take(sums, whole, axis=axis) + (edges - whole).reshape(shape) * np.take(values, whole, axis=axis)
    found: FloatArray = np.diff(upto, axis=axis) * (count / length)
    return found


def blurred(mask: FloatArray, deviation: float) -> NDArray[np.float32]:
    """(n, m) a mask from 0 to 1, blurred by a Gaussian with a standard deviation [pixels]."""
    half = int(np.ceil(BLUR_WIDTH * deviation))
    weights = np.exp(-0.5 * (np.arange(-half, half + 1) / deviation) ** 2)
    found = np.clip(mask, 0.0, 1.0)
    for axis in (0, 1):
        wide = np.pad(found, [(half, half) if k == axis else (0, 0) for k in (0, 1)], mode="edge")
        parts = (np.take(wide, range(k, k + mask.shape[axis]), axis=axis) for k in range(len(weights)))
        found = sum(w * part for w, part in zip(weights / weights.sum(), parts, strict=True))
    return found.astype(np.float32)


def png(pixels: Pixels) -> bytes:
    """The bytes of a PNG file: a header, the rows without filter in one compressed block, and an end."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
