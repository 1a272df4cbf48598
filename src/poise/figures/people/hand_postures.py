"""Named postures of the fingers, and blends of them.

The values apply to every hand with the joints of `poise.figures.people.hand`, left or right: the two are mirror images,
so that equal values give mirrored postures. In "hold" the hand encloses a bar of 40 mm diameter across the
palm, whose middle is `BAR` from the wrist: every bone of the four fingers touches it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from poise.errors import FigureError
from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray

Degrees = Mapping[str, float | tuple[float, float]]
"""Values by joint [degrees]: hinges by flexion, knuckles and the base of the thumb by flexion and spread."""
Side = Literal["left", "right"]

FINGERS = ("index", "middle", "ring", "little")
DIP_PER_PIP = 2.0 / 3.0
"""Flexion of a finger's last hinge (DIP) as a share of that of the hinge before it (PIP) [Rijpkema & Girard 1991]."""
BAR = (0.069, 0.0317)
"""Middle of the bar that "hold" encloses [m]: along the fingers, and out of the palm."""
BAR_RADIUS = 0.02
"""Radius of the bar that "hold" encloses [m]."""


def _fingers(mcp: float, pip: float, names: tuple[str, ...] = FINGERS) -> dict[str, float | tuple[float, float]]:
    """Equal flexion of some fingers, with their coupled last hinges [degrees]."""
    values: dict[str, float | tuple[float, float]] = {}
    for finger in names:
        values |= {f"{finger}_mcp": (mcp, 0.0), f"{finger}_pip": pip, f"{finger}_dip": pip * DIP_PER_PIP}
    return values


HAND_POSTURES: dict[str, Degrees] = {
    "open": {
        "index_mcp": (-5, 8),
        "middle_mcp": (-5, 0),
        "ring_mcp": (-5, -6),
        "little_mcp": (-5, -14),
        "thumb_cmc": (0, -20),
    },
    "relaxed": {**_fingers(25, 30), "thumb_cmc": (20, 0), "thumb_mcp": 10, "thumb_ip": 15},
    "fist": {**_fingers(85, 98), "thumb_cmc": (50, 18), "thumb_mcp": 40, "thumb_ip": 55},
    "point": {**_fingers(85, 98, ("middle", "ring", "little")), "thumb_cmc": (48, 15), "thumb_mcp": 35, "thumb_ip": 45},
    "pinch": {
        **_fingers(20, 25, ("middle", "ring", "little")),
        "index_mcp": (52, 0),
        "index_pip": 60,
        "index_dip": 40,
        "thumb_cmc": (34, 18),
        "thumb_mcp": 16,
        "thumb_ip": 25,
    },
    "hold": {
        **_fingers(85, 59, ("index",)),
        **_fingers(89, 67, ("middle",)),
        **_fingers(82, 65, ("ring",)),
        **_fingers(66.5, 52, ("little",)),
        "thumb_cmc": (33, -24),
        "thumb_mcp": 58,
        "thumb_ip": 72,
    },
}
"""Joint values of the named postures [degrees]; joints that a posture does not name are at 0."""
JOINT_SIZES = {
    **{f"{finger}_{joint}": 2 if joint == "mcp" else 1 for finger in FINGERS for joint in ("mcp", "pip", "dip")},
    "thumb_cmc": 2,
    "thumb_mcp": 1,
    "thumb_ip": 1,
}
"""Number of values of every joint of the fingers."""


def hand_posture(
    posture: str | Mapping[str, float], amount: float = 1.0, *, side: Side | None = None, rest: str = "relaxed"
) -> dict[str, tuple[float, ...]]:
    """Joint values of the fingers for a posture by name, to merge into a posture of a figure.

        hand.posture(poise.hand_posture("fist"))
        person.posture_from(start, poise.hand_posture("hold", 0.6, side="right"))
        poise.hand_posture({"point": 0.7, "fist": 0.3})

    Args:
        posture: "open", "relaxed", "fist", "point", "pinch" or "hold"; or several with their shares, which are scaled
            to add up to 1.
        amount: How far to go from `rest` to the posture, from 0 to 1.
        side: Which hand of a figure with two: names of joints then begin with "left_" or "right_".
        rest: The posture at amount 0.

    Returns:
        Values by joint [rad].
    """
    if side not in (None, "left", "right"):
        raise FigureError(f"side must be 'left', 'right' or None, not {side!r}.")
    if not 0.0 <= amount <= 1.0:
        raise FigureError(f"the amount of a hand posture must be from 0 to 1, not {amount}.")
    shares = {posture: 1.0} if isinstance(posture, str) else dict(posture)
    total = sum(shares.values())
    if not (shares and min(shares.values()) >= 0.0 and 0.0 < total < math.inf):
        raise FigureError(f"shares of hand postures must not be negative and not all zero, not {shares}.")
    start, ends = _radians(rest), {name: _radians(name) for name in shares}
    prefix = "" if side is None else f"{side}_"
    values = {}
    for joint in JOINT_SIZES:
        end = sum((share / total) * ends[name][joint] for name, share in shares.items())
        values[prefix + joint] = tuple(((1.0 - amount) * start[joint] + amount * end).tolist())
    return values


def _radians(name: str) -> dict[str, FloatArray]:
    """The values of all joints of the fingers in a named posture [rad]."""
    degrees = look_up(HAND_POSTURES, name, "posture", "the hand")
    zeros = {joint: np.zeros(size) for joint, size in JOINT_SIZES.items()}
    return zeros | {joint: np.radians(np.atleast_1d(value)) for joint, value in degrees.items()}
