"""From frame to frame: what `poise.Expressive` does with the answer of the frame before.

See `poise.kernels.expressive_advance` for the method.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.chains.chain import Limb
from poise.chains.targets import Gaze
from poise.expressive.result import ExpressiveResult
from poise.figure.figure import PostureLike
from poise.figure.pose import FloatArray
from poise.figure.posture import Posture
from poise.kernels.chain import pointing, tip_rotation
from poise.kernels.expressive_batch import SCORES, next_frame
from poise.kernels.expressive_memory import CHANGING, MEMORY_ROWS, MODE, PATH_MOST, TALLIES, Memory
from poise.kernels.expressive_solve import Manner
from poise.kernels.expressive_track import Pace
from poise.kernels.expressive_work import ROWS
from poise.kernels.measures import Scoring

SIGHTINGS = 8
"""How often a point is looked at again in one frame from where the tip has come to be, at most."""
SAME_SIGHT = 1e-12
"""1 − the cosine of an angle that is none."""


@dataclass(frozen=True)
class TrackedResult(ExpressiveResult):
    """The answer for one frame of many, with what the next one needs to know."""

    memory: Memory = field(repr=False, compare=False)
    """Where the chain is, and which change of branch it is planning or making."""

    @property
    def changing(self) -> bool:
        """Whether the chain is on its way to another branch."""
        return int(self.memory.tally[MODE]) == CHANGING


def first_memory(limb: Limb, previous: PostureLike) -> Memory:
    """What is known from a posture alone."""
    joints = len(limb.joints)
    rows = np.zeros((MEMORY_ROWS, joints))
    rows[0] = np.clip(limb.angles(previous), limb.chain.lower, limb.chain.upper)
    return Memory(rows, np.zeros((PATH_MOST, joints + 1)), np.zeros(TALLIES, dtype=np.int64), np.zeros((2, 3)))


def copied(memory: Memory) -> Memory:
    """The same, to be changed."""
    return Memory(*(part.copy() for part in memory))


class Tracker:
    """Moves one chain from frame to frame."""

    def __init__(self, limb: Limb, scoring: Scoring, manner: Manner, pace: Pace) -> None:
        """Keep the chain and make room."""
        self.limb, self.scoring, self.manner, self.pace = limb, scoring, manner, pace
        self._work = np.zeros((ROWS, len(limb.joints)))
        self._draft = np.zeros((PATH_MOST, len(limb.joints) + 1))
        self._scores = np.zeros(SCORES)

    def step(self, wanted: Posture, target: Gaze, memory: Memory) -> TrackedResult:
        """One frame on from `memory`, towards a target, holding the posture `wanted`."""
        eye = self._eye(wanted, memory)
        result = self._look(wanted, target, eye, copied(memory))
        return result if target.point is None else self._look_again(wanted, target, eye, memory, result)

    def _look_again(
        self, wanted: Posture, target: Gaze, eye: FloatArray, memory: Memory, first: TrackedResult
    ) -> TrackedResult:
        """The frame that misses a point least, seen from its own tip.

        A near point turns by more than the tip moves, so the eye follows the tip half-way only: it would run from side
        to side otherwise.
        """
        best, latest, least = first, first, self._missed(wanted, target, first)
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
        scores = self._scores
        next_frame(
            limb.chain,
            self.scoring,
            self.manner,
            self.pace,
            aim,
            wanted.q[limb.places],
            memory,
            self._work,
            self._draft,
            scores,
        )
        q = wanted.q.copy()
        q[limb.places] = memory.rows[0]
        combined, turned, bent, shape, steps = scores.tolist()
        rotation = np.array(aim.rotation)
        return TrackedResult(Posture(limb.figure, q), combined, turned, bent, shape, int(steps), rotation, memory)
