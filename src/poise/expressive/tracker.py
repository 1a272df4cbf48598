"""From frame to frame: what `poise.Expressive` does with the answer of the frame before.

See `poise.kernels.gaze.expressive.advance` for the method.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.chains.chain import Limb
from poise.chains.targets import Gaze
from poise.expressive.result import ExpressiveResult
from poise.figure.model.figure import PostureLike
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.chains.chain import pointing, tip_rotation
from poise.kernels.gaze.expressive.advance import ASTRAY_FOR
from poise.kernels.gaze.expressive.batch import SCORE_COUNT, near_angles, near_roll, next_frame
from poise.kernels.gaze.expressive.memory import (
    CHANGING,
    LAST_DIRECTION,
    LOST_FRAMES,
    MEMORY_ROWS,
    NEARING,
    PATH_MOST,
    POINT,
    RETURNING,
    TALLIES,
    TRACKING_MODE,
    Memory,
)
from poise.kernels.gaze.expressive.solve import SearchSettings
from poise.kernels.gaze.expressive.track import Pace
from poise.kernels.gaze.expressive.workspace import FRAME_ROW, WORKSPACE_ROWS
from poise.kernels.gaze.measures import Aim, Scoring
from poise.kernels.maths.vector import Vector

SIGHTINGS = 8
"""How often a point is looked at again in one frame from where the tip has come to be, at most."""
NEAR = 2.5
"""Lengths of the chain from its root within which a point is near."""
SAME_SIGHT = 1e-12
"""1 − the cosine of an angle that is none."""
SIGHT_LOST = 1e-8
"""The same of an angle by which a point that rests must not be missed: 0.008°."""


@dataclass(frozen=True)
class TrackedResult(ExpressiveResult):
    """The answer for one frame of many, with what the next one needs to know."""

    memory: Memory = field(repr=False, compare=False)
    """Where the chain is, and which change of branch it is planning or making."""

    @property
    def changing(self) -> bool:
        """Whether the chain is on its way to another branch."""
        return int(self.memory.tally[TRACKING_MODE]) == CHANGING


def first_memory(limb: Limb, previous: PostureLike) -> Memory:
    """What is known from a posture alone."""
    joints = len(limb.joints)
    rows = np.zeros((MEMORY_ROWS, joints))
    seen = np.zeros((3, 3))
    seen[POINT] = np.nan
    rows[0] = np.clip(limb.angles(previous), limb.chain.lower, limb.chain.upper)
    return Memory(rows, np.zeros((PATH_MOST, joints + 1)), np.zeros(TALLIES, dtype=np.int64), seen)


def copied(memory: Memory) -> Memory:
    """The same, to be changed."""
    return Memory(*(part.copy() for part in memory))


def _seen_from(eye: FloatArray, point: FloatArray, memory: Memory) -> None:
    """Have the last direction be that of the last point from this eye: a tip that moves makes no point move."""
    way = memory.seen[POINT] - eye if np.isfinite(memory.seen[POINT, 0]) else point - eye
    memory.seen[LAST_DIRECTION] = way / max(float(np.linalg.norm(way)), 1e-12)
    memory.seen[POINT] = point


class Tracker:
    """Moves one chain from frame to frame."""

    def __init__(self, limb: Limb, scoring: Scoring, search: SearchSettings, pace: Pace) -> None:
        """Keep the chain and make room."""
        self.limb, self.scoring, self.search, self.pace = limb, scoring, search, pace
        self._work = np.zeros((WORKSPACE_ROWS, len(limb.joints)))
        self._draft = np.zeros((PATH_MOST, len(limb.joints) + 1))
        self._scores = np.zeros(SCORE_COUNT)
        self._root = limb.chain.offset[0]
        self._near = NEAR * float(np.linalg.norm(limb.chain.offset[1:], axis=1).sum())

    def step(self, wanted: Posture, target: Gaze, memory: Memory) -> TrackedResult:
        """One frame on from `memory`, towards a target, holding the posture `wanted`."""
        eye = self._eye(wanted, memory)
        if target.point is None:
            return self._look(wanted, target, eye, copied(memory))
        if self._is_near(target.point) or (memory.tally[TRACKING_MODE] == NEARING and not self.limb.slides):
            return self._look_near(wanted, target, copied(memory))
        result = self._look_again(wanted, target, eye, memory)
        lost = result.memory.tally[TRACKING_MODE] == RETURNING or result.memory.tally[LOST_FRAMES] > ASTRAY_FOR
        if np.array_equal(memory.seen[POINT], target.point) and result.memory.tally[TRACKING_MODE] != CHANGING:
            lost = lost or self._missed(wanted, target, result) > SIGHT_LOST
        return self._look_near(wanted, target, copied(memory)) if lost and not self.limb.slides else result

    def _is_near(self, point: FloatArray) -> bool:
        """Whether a point is so near that its direction depends on the posture more than on anything else."""
        return not self.limb.slides and float(np.linalg.norm(point - self._root)) < self._near

    def _look_near(self, wanted: Posture, target: Gaze, memory: Memory) -> TrackedResult:
        limb, chain, posture = self.limb, self.limb.chain, wanted.q[self.limb.places]
        assert target.point is not None
        near_angles(chain, self.scoring, self.search, self.pace, Vector(*target.point), posture, memory, self._work)
        aim = target.aim(limb.up, limb.tip_at(self._work[FRAME_ROW], wanted.q))
        memory.seen[POINT] = target.point
        near_roll(chain, self.scoring, self.pace, aim, posture, memory, self._work, self._scores)
        return self._result(wanted, aim, memory)

    def _look_again(self, wanted: Posture, target: Gaze, eye: FloatArray, memory: Memory) -> TrackedResult:
        """The frame that misses a point least, seen from its own tip.

        A near point turns by more than the tip moves, so the eye follows the tip half-way only: it would run from side
        to side otherwise.
        """
        best = latest = self._look(wanted, target, eye, copied(memory))
        least = self._missed(wanted, target, latest)
        for _ in range(SIGHTINGS):
            if least < SAME_SIGHT:
                break
            eye = 0.5 * (eye + self._eye(wanted, latest.memory))
            latest = self._look(wanted, target, eye, copied(memory))
            missed = self._missed(wanted, target, latest)
            if missed < least:
                best, least = latest, missed
        return best

    def _missed(self, wanted: Posture, target: Gaze, result: TrackedResult) -> float:
        """1 − the cosine of the angle between where the tip points and where the target is from there."""
        angles = result.memory.rows[0]
        pointed = np.array(pointing(tip_rotation(self.limb.chain, angles)))
        aim = target.aim(self.limb.up, self._eye(wanted, result.memory))
        return 1.0 - float(pointed @ np.array(pointing(aim.rotation)))

    def _eye(self, wanted: Posture, memory: Memory) -> FloatArray:
        return self.limb.tip_at(memory.rows[0], wanted.q)

    def _look(self, wanted: Posture, target: Gaze, eye: FloatArray, memory: Memory) -> TrackedResult:
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
            self._draft,
            self._scores,
        )
        return self._result(wanted, aim, memory)

    def _result(self, wanted: Posture, aim: Aim, memory: Memory) -> TrackedResult:
        q = wanted.q.copy()
        q[self.limb.places] = memory.rows[0]
        combined, turned, bent, shape, steps = self._scores.tolist()
        rotation = np.array(aim.rotation)
        return TrackedResult(Posture(self.limb.figure, q), combined, turned, bent, shape, int(steps), rotation, memory)
