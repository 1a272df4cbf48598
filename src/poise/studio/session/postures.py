"""Functions that return the studio's state with another posture, or a posture carried over to an edited figure."""

from __future__ import annotations

from dataclasses import replace

from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import JointValues, Posture
from poise.figures.people.hand_postures import Side, hand_posture
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


def blended(state: State, start: Posture, name: str, share: float) -> State:
    """The state in a posture on the way from `start` to a named posture; `share` is 0 at the start and 1 at the end."""
    figure = state.figure
    way = figure.difference(start, in_posture(state, name).posture)
    return replace(state, posture=figure.clamp(figure.integrate(start, share * way), previous=start))


def has_fingers(figure: Figure) -> tuple[Side | None, ...]:
    """The sides whose fingers can take postures of the hand; (None,) for a single hand."""
    sides: tuple[Side | None, ...] = ("left", "right", None)
    return tuple(side for side in sides if set(hand_posture("open", side=side)) <= set(figure.joints.names))


def finger_values(figure: Figure, side: Side | None, name: str, amount: float) -> JointValues:
    """Values of the joints of the fingers of a hand, from relaxed to a named posture."""
    return {joint: value for joint, value in hand_posture(name, amount, side=side).items() if joint in figure.joints}


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
