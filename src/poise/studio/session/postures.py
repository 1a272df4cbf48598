"""Functions that return the studio's state with another posture, or a posture carried over to an edited figure."""

from __future__ import annotations

from dataclasses import replace

from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import JointValues, Posture
from poise.studio.session.freedoms import turned
from poise.studio.session.mirror import mirrored
from poise.studio.session.state import State


def in_posture(state: State, name: str) -> State:
    """The state in a named posture of the figure; "neutral" always exists."""
    figure = state.figure
    known = name != "neutral" or name in figure.posture_names
    return replace(state, posture=figure.posture(name) if known else figure.neutral())


def with_joint_values(state: State, values: JointValues) -> State:
    """The state with joint values given by name; other joints keep their values."""
    return replace(state, posture=state.figure.clamp(state.posture.changed(values)))


def with_mirrored(state: State, source: str = "") -> State:
    """The state with left and right exchanged, or with one side, "left" or "right", copied to the other."""
    return replace(state, posture=mirrored(state.posture, source))


def with_freedom(state: State, number: int, value: float) -> State:
    """The state with one degree of freedom at a value [° or m], clamped to the figure's limits."""
    return replace(state, posture=turned(state.posture, state.freedoms[number], value))


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
