"""State of a motion that is passed from one frame to the next."""

from typing import Annotated

import numpy as np

from poise.kernels.jit.memory import Memory

Array = np.ndarray
Angles = Annotated[Array, float, "joints"]
"""An angle of each joint [rad]."""
InSpace = Annotated[Array, float, "three"]

FRESH, TRACKING, NEARING = 0, 1, 2
"""Values of `TrackingState.mode`.

FRESH: no frame yet. TRACKING: following a direction. NEARING: a near point is missed, or the chain moves straight to a
posture that faces it."""
FOR_GAZE, FOR_SHAPE = 1, 2
"""Values of `TrackingState.reason`: the chain changes its goal because it would not face the target, or because the
shape is better there."""


class TrackingState(Memory):
    """State of a motion between frames; `advance` changes it."""

    mode: int
    """FRESH, TRACKING or NEARING."""
    left: int
    """Frames until the chain is at its goal; 1 if it is there."""
    spare: int
    """Number of frames by which the gaze may delay that."""
    manner: int
    """How the chain moves to its goal: a manner of `poise.kernels.gaze.expressive.approach`."""
    reason: int
    """FOR_GAZE or FOR_SHAPE: why the chain is on its way to another goal; 0 if it is not, or for a new target."""
    resting: int
    """Frames since the target or the wanted posture last changed."""
    wait: int
    """Frames until another goal is considered again."""
    candidate: int
    """Which of several other goals was considered last, see `poise.kernels.gaze.expressive.change_goal`."""
    off: float
    """Direction error of the last frame [rad]."""
    slack: float
    """Direction error that counted as none in the last frame [rad]."""
    near_error: float
    """Angle error of the posture to which the chain moves straight, since it faces a near point [rad]."""

    angles: Angles
    """Angles of the last frame."""
    goal: Angles
    """Angles of the posture that the chain follows or moves to."""
    posture: Angles
    """Angles of the wanted posture in the last frame."""
    direction: InSpace
    """Direction of the target in the last frame."""
    turn: InSpace
    """Turn of the target per frame, averaged over some frames; a rotation vector [rad]."""
    point: InSpace
    """The point looked at, or NaN [m]."""


def make_tracking_state(joints: int) -> TrackingState:
    """The state before the first frame of a chain."""
    state = TrackingState(joints=joints, three=3)
    state.point[:] = np.nan
    return state
