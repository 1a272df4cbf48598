"""Numbers reported in the paper [Schumacher et al. 2021, table I and section V]."""

from __future__ import annotations

from typing import NamedTuple


class TableOne(NamedTuple):
    """A row of table I, and the errors given in the text."""

    actuators: int
    joints: int
    """Number of passive joints."""
    components: int
    targets: str
    milliseconds: float
    """Time per frame [ms]."""
    largest: float | None
    """Largest position error of a frame [mm]."""
    speed: float | None
    """Largest speed of a joint [rad/s]."""
    center: float | None
    """Largest error of the centre of mass [mm]."""


TABLE_1 = {
    "Boxer": TableOne(4, 0, 5, "Fr (1)", 0.14, 3.89, 147.04, None),
    "Boxer (limited)": TableOne(4, 0, 5, "Fr (1)", 0.23, 24.03, 5.90, None),
    "Dancer": TableOne(8, 4, 12, "Fr (1)", 0.68, 2.46e-5, None, None),
    "Walker": TableOne(12, 24, 31, "Fr (3), CoM", 13.99, 1.11, None, 1.30),
}
"""Rows by case. The paper slows the boxer down by a regulariser on the rotations of its bodies; here its motors have
speed limits."""
