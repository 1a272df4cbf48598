"""The list of built-in figures, with what `poise figures` says about each.

Building a figure calls kernels, which may have to be compiled first, so a list is made from these facts. A test
compares them with the figures.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A built-in figure."""

    module: str
    """The module whose `build(name)` returns the figure, in this package."""
    degrees_of_freedom: int
    """Those of the tree: `Figure.nv`."""
    joints: int
    """Number of joints that move."""
    loops: int
    """Number of joints that close loops."""
    mass: float
    """Total mass, to three digits [kg]."""
    description: str
    """One sentence."""


BUILT_IN = {
    "erik_a": Entry("robots.erik", 3, 3, 0, 0.274, "Skeleton A of the ERIK evaluation: 3 hinges about Y-X-Y, ±90°."),
    "erik_b": Entry("robots.erik", 4, 4, 0, 0.374, "Skeleton B of the ERIK evaluation: 4 hinges about Y-X-Z-Y, ±180°."),
    "erik_c": Entry(
        "robots.erik", 5, 5, 0, 0.474, "Skeleton C of the ERIK evaluation: 5 hinges about Y-X-X-Z-Y, ±90°."
    ),
    "erik_d": Entry(
        "robots.erik", 5, 5, 0, 0.474, "Skeleton D of the ERIK evaluation: 5 hinges about Y-X-Z-X-Y, ±180°."
    ),
    "erik_e": Entry(
        "robots.erik", 5, 5, 0, 0.474, "Skeleton E of the ERIK evaluation: 5 hinges about Y-X-Z-X-Y, ±90°."
    ),
    "erik_f": Entry(
        "robots.erik", 6, 6, 0, 0.574, "Skeleton F of the ERIK evaluation: 6 hinges about Y-X-X-Z-X-Y, ±90°."
    ),
    "erik_g": Entry(
        "robots.erik", 8, 8, 0, 0.775, "Skeleton G of the ERIK evaluation: 8 hinges about Y-X-Z-X-Y-X-Z-Y, ±90°."
    ),
    "adelino": Entry(
        "robots.adelino",
        5,
        5,
        0,
        0.941,
        "Adelino: a desk robot of five hobby servos whose whole body is its expression.",
    ),
    "snake": Entry(
        "robots.snake", 24, 24, 0, 2.74, "A snake of 24 hinges that bend it sideways and upwards in alternation."
    ),
    "arm": Entry("robots.arm", 4, 4, 0, 39.5, "A robot arm of three links in a vertical plane, on a turntable."),
    "hand": Entry(
        "people.hand",
        22,
        16,
        0,
        0.717,
        "A right hand of five fingers; the last two hinges of each finger curl together.",
    ),
    "cyclist": Entry(
        "people.cyclist", 21, 17, 0, 80.5, "A rider on a bicycle; legs reach for the pedals, arms for the handlebar."
    ),
    "human": Entry(
        "people.human_body",
        50,
        23,
        0,
        70.0,
        "A human of 1.75 m and 70 kg with 50 degrees of freedom; faces +z, its left is +x.",
    ),
    "four_bar": Entry(
        "mechanisms.four_bar", 3, 3, 1, 2.2, "A four-bar linkage with one motor that cannot turn all the way round."
    ),
    "five_bar": Entry("mechanisms.five_bar", 4, 4, 1, 3.3, "A planar five-bar robot whose two motors place its tip."),
    "delta": Entry(
        "mechanisms.delta", 18, 10, 5, 12.6, "A delta robot: three motors move a platform that never turns."
    ),
    "stewart": Entry(
        "mechanisms.stewart", 21, 13, 5, 66.0, "A Stewart platform: six driven legs place and turn its platform."
    ),
    "all_joints": Entry(
        "mechanisms.all_joints",
        16,
        9,
        3,
        22.8,
        "One motor moves all: every kind of joint in three loops, with one degree of freedom.",
    ),
    "serial12": Entry("mechanisms.serial12", 12, 12, 0, 9.8, "A serial robot of six hinges and six slides in turn."),
    "boxer": Entry(
        "mechanisms.boxer", 4, 4, 0, 7.0, "A boxing robot's arm: three motors in the shoulder and one in the elbow."
    ),
    "dancer": Entry(
        "mechanisms.dancer",
        12,
        12,
        1,
        7.8,
        "Dancing hips: feet, legs and pelvis are one ring of twelve hinges, eight of them driven.",
    ),
    "walker": Entry(
        "mechanisms.walker",
        30,
        30,
        6,
        2.76,
        "A walking robot whose legs are two parallel chains each: twelve motors, six loops.",
    ),
}
"""All built-in figures by name, in the order of the list."""
