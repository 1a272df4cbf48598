"""Transfers a posture to a changed version of its figure."""

from __future__ import annotations

from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture


def carried_over(posture: Posture, figure: Figure) -> Posture:
    """The posture of a changed figure in which joints of the same name and kind keep their values.

    If all joints have the same kinds as before, the bodies of a floating figure also keep their places in the world.
    """
    old = posture.figure
    try:
        return figure.clamp(figure.adopt(posture))
    except FigureError:
        same = [
            joint.name
            for joint in figure.joints
            if joint.nq and joint.name in old.joints and old.joints[joint.name].kind == joint.kind
        ]
        return figure.clamp(figure.posture({name: posture.q[old.q_slice(name)] for name in same}))
