"""Sites of the human: eyes, hands, chest and soles.

The eyes point along their own +Y, and so do the hands, along their fingers. The corners of each sole are the sites
`left_foot_…` and `right_foot_…`; those named `…_toe_…` are on the toes.
"""

from __future__ import annotations

from poise.figure.model.builder import Builder
from poise.figure.model.pose import turn
from poise.figures.people import anthropometry as body

GAZE = turn("x", 90.0)
"""Rotation whose +Y is forward."""
ALONG_FINGERS = turn("x", 180.0)
"""Rotation whose +Y is down, along the fingers of a hanging arm."""


def add_sites(builder: Builder, h: float) -> None:
    """Add the sites of a human of stature `h` [m]."""
    tall = (1.0 - body.JAW_LEVEL) * h
    builder.site("eyes", "head", (0, 0.47 * tall, 0.062 * h), GAZE)
    builder.site("crown", "head", (0, tall, 0))
    builder.site("chest", "thorax", (0, 0.5 * (body.NECK_LEVEL - body.XIPHION_LEVEL) * h, 0.065 * h), GAZE)
    for side, s in (("left", 1.0), ("right", -1.0)):
        builder.site(f"{side}_hand", f"{side}_hand", (-s * 0.012 * h, -body.KNUCKLES_FRACTION * h, 0), ALONG_FINGERS)
        builder.site(f"{side}_fingertips", f"{side}_hand", (0, -body.HAND_FRACTION * h, 0), ALONG_FINGERS)
        _add_sole(builder, h, side, s)


def _add_sole(builder: Builder, h: float, side: str, s: float) -> None:
    """Add centre, ends and corners of one sole, all on the ground in the standing posture."""
    ground = -body.ANKLE_LEVEL * h
    back, front = -body.HEEL_TO_ANKLE * h, (body.HEEL_TO_TOES - body.HEEL_TO_ANKLE) * h
    tip = (body.FOOT_LENGTH - body.HEEL_TO_TOES) * h
    below = -0.2 * body.ANKLE_LEVEL * h
    foot, toes = f"{side}_foot", f"{side}_toes"
    builder.site(foot, foot, (0, ground, 0.5 * (back + front)))
    builder.site(f"{side}_heel", foot, (0, ground, back))
    builder.site(toes, toes, (0, below, tip))
    for edge, x in (("inner", -0.5), ("outer", 0.5)):
        across = s * x * 0.9 * body.FOOT_BREADTH * h
        builder.site(f"{foot}_heel_{edge}", foot, (across, ground, back))
        builder.site(f"{foot}_ball_{edge}", foot, (across, ground, front))
        builder.site(f"{foot}_toe_{edge}", toes, (across, below, tip))
