"""Errors with a unit that suits their size, for people."""

from __future__ import annotations

import math

LENGTH_AND_ANGLE = "m+rad"
"""Unit of an error that mixes lengths and angles."""


def amount(error: float, unit: str) -> str:
    """An error with a suitable unit: degrees for "rad", m, cm or mm for "m"."""
    if unit == "m":
        return length(error)
    if unit == "rad":
        degrees = math.degrees(error)
        return f"{degrees:.3g}°" if degrees >= 0.001 else "0"
    if unit == LENGTH_AND_ANGLE:
        return f"{1000.0 * error:.3g} mm or mrad" if error >= 1e-6 else "0"
    return f"{error:.3g} {unit}".rstrip() if error >= 1e-6 else "0"


def length(metres: float) -> str:
    """A length in metres, centimetres or millimetres."""
    if metres >= 1.0:
        return f"{metres:.3g} m"
    if metres >= 0.01:
        return f"{100.0 * metres:.3g} cm"
    return f"{1000.0 * metres:.3g} mm" if metres >= 1e-6 else "0"


def inside_words(inside: float) -> str:
    """How far a point is inside the edge of a region, or outside it if `inside` is negative [m]."""
    distance = length(abs(inside))
    return "on the edge" if distance == "0" else f"{distance} {'inside' if inside > 0.0 else 'outside'}"
