"""Face a near point, whose direction depends on the position of the tip.

A joint with world axis z through o turns the tip by z per radian and moves it by z × (t - o). The direction u from the
tip t to a point D away then turns by -u × (z × (t - o)) / D, so that relative to the point the tip turns by

    z + u × (z × (t - o)) / D

These columns form the Jacobian of the direction error, so a step takes the motion of the tip into account. Every frame
reduces the error within the limits of the joints and of their rate, and never increases it, so a chain comes to rest
when the point does. Where the chain can face the point, the shape moves towards the posture in the remaining null
space. Where it cannot, the error is minimised from other starts; if one of them is better by MIN_IMPROVEMENT, the chain
moves there on a straight line in joint space.
"""

import math

import numpy as np

from poise.kernels.chains.chain import TWIST_JOINT, Chain, pointing, wrapped
from poise.kernels.gaze.expressive.aim import copy_row, start_at_posture, turn_to
from poise.kernels.gaze.expressive.approach import END_STIFFNESS, JOINT_STIFFNESS, STRAIGHT, distance
from poise.kernels.gaze.expressive.bounded_step import box_step, remove_roll, turn_between
from poise.kernels.gaze.expressive.follow import nearer_sign
from poise.kernels.gaze.expressive.hold_gaze import LOST, box_round
from poise.kernels.gaze.expressive.nearest_shape import MIN_SHAPE_CURVATURE, shape_cost, store_posture_terms
from poise.kernels.gaze.expressive.solve import SearchSettings, even_start
from poise.kernels.gaze.expressive.tracking_state import FOR_GAZE, FRESH, NEARING, TrackingState
from poise.kernels.gaze.expressive.workspace import (
    AXIS_ROWS,
    BOX_LOWER_ROW,
    BOX_UPPER_ROW,
    COMPLIANCE_ROW,
    CURRENT_ROW,
    FRAME_ROW,
    GOAL_ROW,
    KEPT_ROW,
    POSITION_ROWS,
    PREVIOUS_ROW,
    REFERENCE_ROW,
    START_ROW,
    STEP_LOWER_ROW,
    STEP_ROW,
    STEP_UPPER_ROW,
)
from poise.kernels.gaze.measures import Scoring
from poise.kernels.jit.compile import kernel
from poise.kernels.maths.portable_trigonometry import sine, turn_about
from poise.kernels.maths.quaternion import Quaternion, multiply, quaternion_at, rotate
from poise.kernels.maths.vector import Vector, add, cross, length, scale, subtract, vector_at

Array = np.ndarray

GOAL_SEES_POINT = math.radians(0.5)
"""A goal whose error grows by more than this is abandoned [rad]."""
MIN_IMPROVEMENT = math.radians(2.0)
"""Decrease of the error for which the chain moves to another posture [rad]."""
NEAR_STARTS = 12
"""Number of starts of a search for another posture."""
FRAMES_BETWEEN_SEARCHES = 10
"""Frames between two searches for another posture."""
STEPS_HERE, STEPS_THERE = 12, 40
"""Largest number of steps towards the point, in a frame and in a search."""
FRAME_SHAPE_STEPS, REST_SHAPE_STEPS = 3, 12
"""Number of steps towards the shape, in a frame and after a search."""
MAX_NEAR_TURN = 0.7
"""Largest turn of the tip in one step [rad]."""
MIN_NEAR_DECREASE = 1e-4
"""`face_near` stops after a step that decreases the error by less than this fraction."""
POINT_FACED = 1e-8
"""A direction error below this counts as zero [rad]."""
CLOSEST = 1e-6
"""Smallest distance of the point from the tip that is used [m]."""


@kernel
def look_near(chain: Chain, point: Vector, work: Array, row: int) -> tuple[Vector, Vector]:
    """The tip's direction at the angles `work[row]`, and the direction from the tip to `point`.

    The columns of the Jacobian are written to AXIS_ROWS.
    """
    axis, rest, offset = chain.axis, chain.rest, chain.offset
    n = axis.shape[0]
    turned, place = Quaternion(1.0, 0.0, 0.0, 0.0), vector_at(offset, 0)
    for k in range(n):
        a = vector_at(axis, k)
        turned = multiply(turned, quaternion_at(rest, k))
        z = rotate(turned, a)
        work[AXIS_ROWS, k], work[AXIS_ROWS + 1, k], work[AXIS_ROWS + 2, k] = z.x, z.y, z.z
        work[POSITION_ROWS, k], work[POSITION_ROWS + 1, k], work[POSITION_ROWS + 2, k] = place.x, place.y, place.z
        turned = multiply(turned, turn_about(a, work[row, k]))
        place = add(place, rotate(turned, vector_at(offset, k + 1)))
    way = subtract(point, place)
    far = max(CLOSEST, length(way))
    u = scale(way, 1.0 / far)
    for k in range(n):
        z = Vector(work[AXIS_ROWS, k], work[AXIS_ROWS + 1, k], work[AXIS_ROWS + 2, k])
        arm = subtract(place, Vector(work[POSITION_ROWS, k], work[POSITION_ROWS + 1, k], work[POSITION_ROWS + 2, k]))
        moved = scale(cross(u, cross(z, arm)), 1.0 / far)
        work[AXIS_ROWS, k] += moved.x
        work[AXIS_ROWS + 1, k] += moved.y
        work[AXIS_ROWS + 2, k] += moved.z
    p = pointing(turned)
    remove_roll(work, n, p)
    return p, u


@kernel
def _box(chain: Chain, work: Array, row: int) -> None:
    """Set the box of a step from `work[row]` to the box of angles BOX_LOWER_ROW … BOX_UPPER_ROW."""
    for k in range(chain.role.shape[0]):
        work[STEP_LOWER_ROW, k] = work[BOX_LOWER_ROW, k] - work[row, k]
        work[STEP_UPPER_ROW, k] = work[BOX_UPPER_ROW, k] - work[row, k]


@kernel
def face_near(chain: Chain, point: Vector, steps: int, work: Array, row: int) -> float:
    """Turn the tip of `work[row]` towards the point inside the box of angles; returns the direction error [rad]."""
    n = chain.role.shape[0]
    p, u = look_near(chain, point, work, row)
    e = turn_between(p, u)
    off, damping = length(e), 1e-3
    for _ in range(steps):
        if off < POINT_FACED:
            break
        _box(chain, work, row)
        for k in range(n):
            work[COMPLIANCE_ROW, k], work[STEP_ROW, k] = 1.0, 0.0
            work[START_ROW, k] = work[row, k]
        box_step(work, n, scale(e, min(1.0, MAX_NEAR_TURN / off)), damping * min(1.0, off * off) + 1e-12, p)
        for k in range(n):
            work[row, k] += work[STEP_ROW, k]
        p, u = look_near(chain, point, work, row)
        e = turn_between(p, u)
        if length(e) < off:
            before, off = off, length(e)
            damping *= 0.2
            if off > before * (1.0 - MIN_NEAR_DECREASE):
                break
            continue
        copy_row(work, START_ROW, row)
        damping *= 30.0
        if damping > 1e6:
            break
        p, u = look_near(chain, point, work, row)
        e = turn_between(p, u)
    return off


@kernel
def hold_near(chain: Chain, point: Vector, steps: int, work: Array, row: int) -> float:
    """Bring `work[row]` to face the point inside the box, near REFERENCE_ROW; returns the direction error [rad].

    COMPLIANCE_ROW holds 1 / stiffness towards the reference.
    """
    n = chain.role.shape[0]
    for _ in range(steps):
        p, u = look_near(chain, point, work, row)
        _box(chain, work, row)
        for k in range(n):
            work[STEP_ROW, k] = turn_to(chain, k, work[row, k], work[REFERENCE_ROW, k])
        box_step(work, n, turn_between(p, u), 1e-7, p)
        for k in range(n):
            work[row, k] += work[STEP_ROW, k]
    p, u = look_near(chain, point, work, row)
    return length(turn_between(p, u))


@kernel
def _limits(chain: Chain, work: Array, row: int) -> None:
    """Set the box of angles to the limits, at most a full turn from `work[row]`."""
    box_round(chain, work, row, 2.0 * math.pi)


@kernel
def best_look(
    chain: Chain, scoring: Scoring, search: SearchSettings, point: Vector, posture: Array, starts: int, work: Array
) -> float:
    """Write the posture that faces the point best to GOAL_ROW; returns its direction error [rad].

    The first start is PREVIOUS_ROW. Of postures that face the point equally well, the nearest in shape and in angles
    wins.
    """
    store_posture_terms(chain, posture, work)
    least, missed = math.inf, math.inf
    for start in range(starts):
        if start == 0:
            copy_row(work, PREVIOUS_ROW, CURRENT_ROW)
        elif start < 3:
            start_at_posture(chain, posture, start - 1, work)
        else:
            even_start(chain, start, work)
        _limits(chain, work, CURRENT_ROW)
        off = face_near(chain, point, STEPS_THERE, work, CURRENT_ROW)
        cost = off if off > POINT_FACED else 0.0
        cost += 0.2 * shape_cost(chain, scoring, search.blend, work, CURRENT_ROW) + 0.02 * distance(
            chain, work, PREVIOUS_ROW, CURRENT_ROW
        )
        if cost < least:
            least, missed = cost, off
            copy_row(work, CURRENT_ROW, GOAL_ROW)
    return missed


@kernel
def near_frame(
    chain: Chain,
    scoring: Scoring,
    search: SearchSettings,
    rate: float,
    point: Vector,
    posture: Array,
    # changed
    memory: TrackingState,
    work: Array,
) -> None:
    """Write one frame from the angles in memory, towards the point with the shape of `posture`, to FRAME_ROW."""
    n = posture.shape[0]
    going = memory.mode == NEARING and memory.left > 1
    wait = memory.wait if memory.mode == NEARING else 0
    for k in range(n):
        work[PREVIOUS_ROW, k], work[GOAL_ROW, k] = memory.angles[k], memory.goal[k]
    if going:
        _limits(chain, work, GOAL_ROW)
        going = face_near(chain, point, STEPS_THERE, work, GOAL_ROW) < memory.near_error + GOAL_SEES_POINT
    off = 0.0
    if not going:
        off = _look_from_here(chain, scoring, rate, point, posture, work)
        wait = max(0, wait - 1)
        if off > LOST and wait == 0:
            memory.near_error = best_look(chain, scoring, search, point, posture, NEAR_STARTS, work)
            going, wait = memory.near_error < off - MIN_IMPROVEMENT, FRAMES_BETWEEN_SEARCHES
    memory.wait, memory.resting, memory.manner, memory.reason = wait, 0, STRAIGHT, FOR_GAZE
    memory.slack = 0.0
    memory.left = 1
    if going:
        far = distance(chain, work, PREVIOUS_ROW, GOAL_ROW)
        memory.left = 2 if far > rate else 1
        share = min(1.0, rate / max(far, 1e-12))
        for k in range(n):
            memory.goal[k] = work[GOAL_ROW, k]
            work[FRAME_ROW, k] = work[PREVIOUS_ROW, k] + share * turn_to(
                chain, k, work[PREVIOUS_ROW, k], work[GOAL_ROW, k]
            )
    memory.mode = NEARING if memory.left > 1 or off > LOST else FRESH


@kernel
def _look_from_here(chain: Chain, scoring: Scoring, rate: float, point: Vector, posture: Array, work: Array) -> float:
    """Write the frame that faces the point best from PREVIOUS_ROW to FRAME_ROW; returns the direction error [rad]."""
    copy_row(work, PREVIOUS_ROW, FRAME_ROW)
    negated = nearer_sign(chain, scoring, posture, work, FRAME_ROW)
    box_round(chain, work, PREVIOUS_ROW, rate)
    copy_row(work, PREVIOUS_ROW, CURRENT_ROW)
    off = face_near(chain, point, STEPS_HERE, work, CURRENT_ROW)
    copy_row(work, CURRENT_ROW, FRAME_ROW)
    if off > LOST:
        return off
    off = _pull_near(chain, scoring, point, posture, negated, off, FRAME_SHAPE_STEPS, work)
    copy_row(work, CURRENT_ROW, FRAME_ROW)
    return off


@kernel
def _pull_to_shape(chain: Chain, scoring: Scoring, posture: Array, negated: int, work: Array, row: int) -> None:
    """Set REFERENCE_ROW and COMPLIANCE_ROW to the quadratic bound of the shape error at `work[row]`.

    The quadratic also includes a small stiffness towards the previous frame, PREVIOUS_ROW.
    """
    shapes, role = scoring.shapes, chain.role
    for k in range(role.shape[0]):
        here, last = work[row, k], work[PREVIOUS_ROW, k]
        work[REFERENCE_ROW, k], work[COMPLIANCE_ROW, k] = last, 1.0 / END_STIFFNESS
        if shapes[k] > 0.0:
            wanted = -posture[k] if negated and role[k] != TWIST_JOINT else posture[k]
            d = wrapped(wanted - here)
            if not chain.lower[k] <= here + d <= chain.upper[k]:
                d = turn_to(chain, k, here, min(chain.upper[k], max(chain.lower[k], wanted)))
            pull = shapes[k] * max(MIN_SHAPE_CURVATURE, sine(d) / d if abs(d) > 1e-6 else 1.0)
            stiff = pull + JOINT_STIFFNESS
            work[REFERENCE_ROW, k] = here + (pull * d + JOINT_STIFFNESS * turn_to(chain, k, here, last)) / stiff
            work[COMPLIANCE_ROW, k] = 1.0 / stiff


@kernel
def _pull_near(
    chain: Chain, scoring: Scoring, point: Vector, posture: Array, negated: int, off: float, rounds: int, work: Array
) -> float:
    """Move CURRENT_ROW, which faces the point, towards the shape of the posture; returns the direction error [rad].

    The angles stay inside the box, and the point stays faced.
    """
    for _ in range(rounds):
        copy_row(work, CURRENT_ROW, KEPT_ROW)
        _pull_to_shape(chain, scoring, posture, negated, work, CURRENT_ROW)
        held = hold_near(chain, point, 6, work, CURRENT_ROW)
        if held > LOST:
            copy_row(work, KEPT_ROW, CURRENT_ROW)
            break
        off = held
    return off


@kernel
def look_at(
    chain: Chain, scoring: Scoring, search: SearchSettings, point: Vector, posture: Array, starts: int, work: Array
) -> float:
    """Write the posture that faces the point best, with the nearest shape, to FRAME_ROW; returns the error [rad]."""
    off = best_look(chain, scoring, search, point, posture, starts, work)
    copy_row(work, GOAL_ROW, FRAME_ROW)
    if off > LOST:
        return off
    negated = nearer_sign(chain, scoring, posture, work, FRAME_ROW)
    copy_row(work, GOAL_ROW, CURRENT_ROW)
    copy_row(work, GOAL_ROW, PREVIOUS_ROW)
    _limits(chain, work, CURRENT_ROW)
    off = _pull_near(chain, scoring, point, posture, negated, off, REST_SHAPE_STEPS, work)
    copy_row(work, CURRENT_ROW, FRAME_ROW)
    return off
