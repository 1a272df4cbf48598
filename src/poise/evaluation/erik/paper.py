"""Numbers reported in the paper [Ribeiro & Paiva 2019, tables 5 to 9]."""

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
    shortest: float
    """Shortest time of a sample; the next three fields are the longest, the mean and the standard deviation [ms]."""
    longest: float
    milliseconds: float
    milliseconds_deviation: float


class Table9(NamedTuple):
    """A row of table 9: means and standard deviations of the errors, with the posture error weighted."""

    combined: float
    combined_deviation: float
    orientation: float
    orientation_deviation: float
    posture: float
    posture_deviation: float


TABLE_5 = {
    "A": ("Y-X-Y", 90),
    "B": ("Y-X-Z-Y", 180),
    "C": ("Y-X-X-Z-Y", 90),
    "D": ("Y-X-Z-X-Y", 180),
    "E": ("Y-X-Z-X-Y", 90),
    "F": ("Y-X-X-Z-X-Y", 90),
    "G": ("Y-X-Z-X-Y-X-Z-Y", 90),
}
"""Axes from root to tip, and the limits of all joints, ± so many degrees."""

TABLE_6 = (
    (0, 90, 0, 10),
    (90, 0, 30, 0),
    (0, 90, 30, 0),
    (90, 90, 0, 0),
    (90, 0, 0, 40),
)
"""Denavit-Hartenberg parameters θ, α [degrees], a, d [cm] of skeleton C."""

TABLE_7 = (
    ("Intel i7-7700HQ", 5341, 1.0),
    ("AMD Opteron 6180 SE", 1615, 0.3024),
    ("AMD Opteron 6344", 2233, 0.4181),
    ("AMD EPYC 7401", 3853, 0.7214),
    ("AMD 6180 SE & 6344, average", 1924, 0.3602),
    ("all AMD, weighted average (4:5:5)", 2475, 0.4634),
)
"""Processors, their scores in a benchmark, and the ratio of the scores to the first."""

TABLE_8 = {
    "A": Table8(33, 251_097, 1, 7, 4.14, 2.17, 6, 126, 45, 28),
    "B": Table8(377, 2_868_593, 1, 10, 3.42, 2.19, 8, 189, 45, 30),
    "C": Table8(3_789, 28_830_501, 1, 12, 2.31, 2.08, 6, 1165, 37, 36),
    "C-DLS100": Table8(3_789, 20_561_499, 1, 100, 63, 43.6, 1.60, 2112, 167, 121),
    "C-DLS200": Table8(3_789, 20_561_499, 1, 200, 120, 92.8, 1.57, 3822, 298, 240),
    "C-DLS400": Table8(3_789, 20_561_499, 1, 400, 234, 191.6, 1.55, 7520, 678, 570),
    "D": Table8(3_789, 28_830_501, 1, 13, 2.02, 1.67, 10, 458, 36, 30),
    "E": Table8(3_789, 28_830_501, 1, 12, 1.93, 1.78, 6, 225, 28, 27),
    "F": Table8(8_305, 63_192_745, 1, 13, 1.61, 1.46, 13, 368, 35, 35),
    "G": Table8(19_657, 149_570_113, 1, 11, 1.35, 1.02, 22, 759, 74, 63),
}

TABLE_9 = {
    "C": Table9(0.026614, 0.021258, 0.005819, 0.009977, 0.020795, 0.021520),
    "C-DLS100": Table9(0.087067, 0.086930, 0.052744, 0.085997, 0.034323, 0.020593),
    "C-DLS200": Table9(0.086973, 0.086897, 0.052652, 0.085980, 0.034321, 0.020591),
    "C-DLS400": Table9(0.086831, 0.086581, 0.052523, 0.085669, 0.034308, 0.020579),
}

KEPT_OF_DLS = 20_561_499 / 28_830_501
"""Fraction of the DLS samples that the paper kept: those whose orientation DLS100_nopost comes near to."""
