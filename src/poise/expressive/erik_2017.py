"""The three passes of the first ERIK and its posture gradient: see `poise.kernels.gaze.erik.erik_2017`."""

from __future__ import annotations

import numpy as np

from poise.expressive.result import empty_answers
from poise.kernels.chains.chain import Chain
from poise.kernels.gaze.batch_arrays import Answers, Questions
from poise.kernels.gaze.erik.batch import answer_erik_2017
from poise.kernels.gaze.erik.descent import Descent
from poise.kernels.gaze.erik.erik_2017 import Room2017, forget
from poise.kernels.gaze.erik.joint import Lalut
from poise.kernels.gaze.measures import Scoring

FABRIK_SWEEPS = 10
CCD = Descent(sweeps=20, precision=1e-6, progress=1e-9)
"""When the CCD pass stops: at a tenth of a degree."""


class Passes:
    """The solver of 2017 on one chain; it remembers the gradient of the frame it answered last."""

    def __init__(self, chain: Chain, scoring: Scoring, lalut: Lalut) -> None:
        """Start without a gradient."""
        self._constants = chain, scoring, lalut, FABRIK_SWEEPS, CCD
        self._room = room_2017(len(chain.role))
        self._last = b""

    def answer_rows(self, asked: Questions, first: int, stop: int, given: Answers) -> None:
        """Answer the questions of some rows, each without a gradient."""
        answer_erik_2017(*self._constants, asked, first, stop, 1, room_2017(asked.posture.shape[1]), given)

    def answer_frame(self, asked: Questions, follows: bool) -> Answers:
        """Answer the question of a frame, with the gradient of the last one if it follows that."""
        if not follows or asked.start.tobytes() != self._last:
            forget(self._room)
        given = empty_answers(asked)
        answer_erik_2017(*self._constants, asked, 0, 1, 0, self._room, given)
        self._last = given.angles.tobytes()
        return given


def room_2017(joints: int) -> Room2017:
    """Room for one solve."""
    frames = np.empty((2, joints, 4))
    places = np.empty((2, joints + 1, 3))
    return Room2017(np.empty((joints, 4)), *frames, *places, *np.empty((2, joints)))
