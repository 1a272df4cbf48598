"""State of a motion that is passed from one frame to the next."""

from typing import Annotated

import numpy as np

from poise.kernels.jit.memory import Memory

Array = np.ndarray
Angles = Annotated[Array, float, "joints"]
"""An angle of each joint [rad]."""
InSpace = Annotated[Array, float, "three"]

FRESH, TRACKING, CHANGING, RETURNING, NEARING = 0, 1, 2, 3, 4
"""Values of `TrackingState.mode`.

FRESH: no frame yet. TRACKING: following the target on a branch of solutions. CHANGING: executing a plan to another
branch. RETURNING: moving straight to a solution after the gaze was lost. NEARING: a near point is missed, or the chain
moves straight to a posture that faces it."""
PATH_MOST = 240
"""Largest number of way-points of a plan."""


class TrackingState(Memory):
    """State of a motion between frames; `advance` changes it."""

    mode: int
    """FRESH, TRACKING, CHANGING, RETURNING or NEARING."""
    negated: int
    """1 if the bends are those of the posture negated."""
    lost_frames: int
    """Frames since the gaze was lost."""

    way_points: int
    """Number of way-points of the current plan, 0 without one."""
    way_point: int
    """The way-point reached; while a near point is approached, 1 until the goal is reached."""
    stuck_frames: int
    """Frames without progress on the plan."""
    plan_attempt: int
    """The attempt that found the current plan."""
    plan_latitude: int
    """The latitude of the current plan."""
    for_shape: int
    """1 if the current plan leads to a better shape."""
    hurried: int
    """1 if the current plan was made without enough time, as if the target stood still."""

    attempt: int
    """The next attempt to plan, -1 if no plan is wanted."""
    lift_attempt: int
    """The next attempt that lifts the gaze."""
    goals: int
    """Number of goals of the next plan."""
    mirrored: int
    """1 if the last goal is the mirror image of the current posture."""
    wait: int
    """Frames until planning is tried again."""
    failed_rounds: int
    """How often all attempts have failed."""
    noted: int
    """The best attempt rejected because it falls too far behind the target, -1 without one."""
    noted_lifts: int
    """1 if that attempt lifts the gaze."""
    noted_cost: int
    """Its direction error [thousandths of a degree]."""
    near_error: float
    """Angle error of the posture to which the chain moves straight, since it faces a near point [rad]."""

    angles: Angles
    """Angles of the last frame."""
    goal: Angles
    """First goal of the next plan."""
    other_goal: Angles
    """Second goal of the next plan."""
    path: Annotated[Array, float, "path_most", "joints_and_lift"]
    """The current plan: angles and lift of each way-point [rad]."""
    direction: InSpace
    """Direction of the target in the last frame."""
    speed: InSpace
    """Turn and nod of the target per frame, and the change of the turn [rad]."""
    point: InSpace
    """The point looked at, or NaN [m]."""


def make_tracking_state(joints: int) -> TrackingState:
    """The state before the first frame of a chain."""
    state = TrackingState(joints=joints, joints_and_lift=joints + 1, path_most=PATH_MOST, three=3)
    state.point[:] = np.nan
    return state
