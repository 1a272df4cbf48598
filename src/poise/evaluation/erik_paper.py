"""Numbers reported in the paper [Ribeiro & Paiva 2019, tables 8 and 9]."""

from __future__ import annotations

from typing import NamedTuple


class Table8(NamedTuple):
    """A row of table 8."""

    postures: int
    samples: int
    least: int
    """Smallest number of iterations; the next three fields are their largest number, mean and standard deviation."""
    most: int
    mean: float
    deviation: float
    milliseconds: float
    """Mean time per sample [ms]."""


class Table9(NamedTuple):
    """A row of table 9: means and standard deviations of the errors, with the posture error weighted."""

    combined: float
    combined_deviation: float
    orientation: float
    orientation_deviation: float
    posture: float
    posture_deviation: float


TABLE_8 = {
    "A": Table8(33, 251_097, 1, 7, 4.14, 2.17, 45),
    "B": Table8(377, 2_868_593, 1, 10, 3.42, 2.19, 45),
    "C": Table8(3_789, 28_830_501, 1, 12, 2.31, 2.08, 37),
    "C-DLS100": Table8(3_789, 20_561_499, 1, 100, 63, 43.6, 167),
    "C-DLS200": Table8(3_789, 20_561_499, 1, 200, 120, 92.8, 298),
    "C-DLS400": Table8(3_789, 20_561_499, 1, 400, 234, 191.6, 678),
    "D": Table8(3_789, 28_830_501, 1, 13, 2.02, 1.67, 36),
    "E": Table8(3_789, 28_830_501, 1, 12, 1.93, 1.78, 28),
    "F": Table8(8_305, 63_192_745, 1, 13, 1.61, 1.46, 35),
    "G": Table8(19_657, 149_570_113, 1, 11, 1.35, 1.02, 74),
}

TABLE_9 = {
    "C": Table9(0.026614, 0.021258, 0.005819, 0.009977, 0.020795, 0.021520),
    "C-DLS100": Table9(0.087067, 0.086930, 0.052744, 0.085997, 0.034323, 0.020593),
    "C-DLS200": Table9(0.086973, 0.086897, 0.052652, 0.085980, 0.034321, 0.020591),
    "C-DLS400": Table9(0.086831, 0.086581, 0.052523, 0.085669, 0.034308, 0.020579),
}

KEPT_OF_DLS = 20_561_499 / 28_830_501
"""Fraction of the DLS samples that the paper kept: those whose orientation DLS100_nopost comes near to."""
