"""Motion of `poise.Expressive`: each frame continues the result of the previous one.

See `poise.kernels.gaze.expressive.advance` for the method.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from poise.chains.chain import Limb
from poise.chains.targets import Gaze
from poise.expressive.result import ExpressiveResult
from poise.figure.model.figure import PostureLike
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.chains.chain import pointing, tip_rotation
from poise.kernels.gaze.expressive.approach import Pace
from poise.kernels.gaze.expressive.batch import SCORE_COUNT, near_angles, near_roll, next_frame
from poise.kernels.gaze.expressive.change_goal import OUT_OF_SIGHT
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.tracking_state import (
    FOR_GAZE,
    FOR_SHAPE,
    NEARING,
    TrackingState,
    make_tracking_state,
)
from poise.kernels.gaze.expressive.workspace import FRAME_ROW, WORKSPACE_ROWS
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.maths.vector import Vector

MAX_AIM_ITERATIONS = 8
"""Largest number of times per frame that the direction to a point is computed again, from the tip's latest position."""
NEAR_POINT_LENGTHS = 2.5
"""A point within this many chain lengths of the root is near."""
SAME_SIGHT = 1e-12
"""1 − the cosine of an angle that counts as zero."""
REASONS: dict[int, Literal["gaze", "shape", "speed"]] = {0: "speed", FOR_GAZE: "gaze", FOR_SHAPE: "shape"}
"""Why a chain on its way is off its target, for each value of `TrackingState.reason`."""
SIGHT_LOST = 1e-8
"""1 − the cosine of the angle, 0.008°, above which the tip misses a point at rest, and the frame is solved again."""


@dataclass(frozen=True)
class TrackedResult(ExpressiveResult):
    """The result of one frame of a motion, with the state for the next frame."""

    memory: TrackingState = field(repr=False, compare=False)
    """State of the motion: angles, and the goal that the chain follows or moves to."""

    @property
    def changing(self) -> bool:
        """Whether the chain is on its way to another branch of solutions."""
        return int(self.memory.left) > 1

    @property
    def direction_error(self) -> float:
        """Angle between the tip's direction and that of the target [rad]."""
        return float(self.memory.off)

    @property
    def gave_up_gaze(self) -> Literal["gaze", "shape", "speed", "reach"] | None:
        """Why the gaze is off by more than 1°, or by more than the hold grants, or None if it is not.

        "gaze": the target would be lost on the branch that the chain leaves; "shape": the shape is better on another
        branch, and no way there holds the gaze; "speed": the target or the posture is new, or moves faster than
        the joints may turn; "reach": the target cannot be faced.
        """
        if self.direction_error < OUT_OF_SIGHT + float(self.memory.slack):
            return None
        if not self.changing:
            return "reach"
        return REASONS[int(self.memory.reason)]


def first_memory(limb: Limb, previous: PostureLike) -> TrackingState:
    """The state of a motion that starts at a posture."""
    state = make_tracking_state(len(limb.joints))
    state.angles[:] = np.clip(limb.angles(previous), limb.chain.lower, limb.chain.upper)
    return state


def _seen_from(eye: FloatArray, point: FloatArray, memory: TrackingState) -> None:
    """Recompute the last direction from the current eye, so that a moving tip does not count as a moving point."""
    way = memory.point - eye if np.isfinite(memory.point[0]) else point - eye
    memory.direction[:] = way / max(float(np.linalg.norm(way)), 1e-12)
    memory.point[:] = point


class Tracker:
    """Moves one chain from frame to frame."""

    def __init__(self, limb: Limb, scoring: Scoring, search: SearchSettings, pace: Pace) -> None:
        """Store the chain and allocate the workspace arrays."""
        self.limb, self.scoring, self.search, self.pace = limb, scoring, search, pace
        self._work = np.zeros((WORKSPACE_ROWS, len(limb.joints)))
        self._scores = np.zeros(SCORE_COUNT)
        self._root = limb.chain.offset[0]
        self._near = NEAR_POINT_LENGTHS * float(np.linalg.norm(limb.chain.offset[1:], axis=1).sum())

    def step(self, wanted: Posture, target: Gaze, memory: TrackingState) -> TrackedResult:
        """Compute the next frame of `memory` for a target, near the posture `wanted`."""
        eye = self._eye(wanted, memory)
        if target.point is None:
            return self._look(wanted, target, eye, memory.copy())
        if self._is_near(target.point) or (memory.mode == NEARING and not self.limb.slides):
            return self._look_near(wanted, target, memory.copy())
        result = self._look_again(wanted, target, eye, memory)
        lost = False
        if np.array_equal(memory.point, target.point) and not result.changing:
            lost = self._missed(wanted, target, result) > SIGHT_LOST
        return self._look_near(wanted, target, memory.copy()) if lost and not self.limb.slides else result

    def _is_near(self, point: FloatArray) -> bool:
        """Whether a point is so near that its direction depends strongly on the posture."""
        return not self.limb.slides and float(np.linalg.norm(point - self._root)) < self._near

    def _look_near(self, wanted: Posture, target: Gaze, memory: TrackingState) -> TrackedResult:
        """The next frame towards a near point."""
        limb, chain, posture = self.limb, self.limb.chain, wanted.q[self.limb.places]
        assert target.point is not None
        near_angles(chain, self.scoring, self.search, self.pace, Vector(*target.point), posture, memory, self._work)
        aim = target.aim(limb.up, limb.tip_at(self._work[FRAME_ROW], wanted.q))
        memory.point[:] = target.point
        near_roll(chain, self.scoring, self.pace, aim, posture, memory, self._work, self._scores)
        return self._result(wanted, aim, memory)

    def _look_again(self, wanted: Posture, target: Gaze, eye: FloatArray, memory: TrackingState) -> TrackedResult:
        """Compute the direction to the point again from the tip of each solution; the frame with the least error.

        The direction of a near point changes by more than the tip moves, so the eye moves only half-way to the new tip;
        otherwise the iteration would oscillate.
        """
        best = latest = self._look(wanted, target, eye, memory.copy())
        least = self._missed(wanted, target, latest)
        for _ in range(MAX_AIM_ITERATIONS):
            if least < SAME_SIGHT or latest.changing:
                break
            eye = 0.5 * (eye + self._eye(wanted, latest.memory))
            latest = self._look(wanted, target, eye, memory.copy())
            missed = self._missed(wanted, target, latest)
            if missed < least:
                best, least = latest, missed
        return best

    def _missed(self, wanted: Posture, target: Gaze, result: TrackedResult) -> float:
        """1 − the cosine of the angle between the tip's direction and the direction from the tip to the target."""
        angles = result.memory.angles
        pointed = np.array(pointing(tip_rotation(self.limb.chain, angles)))
        aim = target.aim(self.limb.up, self._eye(wanted, result.memory))
        return 1.0 - float(pointed @ np.array(pointing(aim.rotation)))

    def _eye(self, wanted: Posture, memory: TrackingState) -> FloatArray:
        """(3,) position of the tip in the last frame [m]."""
        return self.limb.tip_at(memory.angles, wanted.q)

    def _look(self, wanted: Posture, target: Gaze, eye: FloatArray, memory: TrackingState) -> TrackedResult:
        """The next frame with the target seen from `eye`."""
        limb = self.limb
        aim = target.aim(limb.up, eye)
        if target.point is not None:
            _seen_from(eye, target.point, memory)
        next_frame(
            limb.chain,
            self.scoring,
            self.search,
            self.pace,
            aim,
            wanted.q[limb.places],
            memory,
            self._work,
            self._scores,
        )
        return self._result(wanted, aim, memory)

    def _result(self, wanted: Posture, aim: Aim, memory: TrackingState) -> TrackedResult:
        q = wanted.q.copy()
        q[self.limb.places] = memory.angles
        combined, turned, bent, shape, steps = self._scores.tolist()
        rotation = np.array(aim.rotation)
        return TrackedResult(Posture(self.limb.figure, q), combined, turned, bent, shape, int(steps), rotation, memory)
