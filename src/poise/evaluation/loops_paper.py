"""What the paper reports [Schumacher et al. 2021, table I and section V]."""

from __future__ import annotations

from typing import NamedTuple


class TableOne(NamedTuple):
    """A row of table I, and the errors that the text gives."""

    actuators: int
    joints: int
    """Passive ones."""
    components: int
    targets: str
    milliseconds: float
    """Per frame."""
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
"""The paper slows the boxer down by a regulariser of its bodies' rotations; here its motors keep their limits."""
