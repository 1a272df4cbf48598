"""Answers do not depend on the order of sets, which differs from process to process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ANSWERS = """
import hashlib, warnings
import numpy as np
import poise
from tests.unit.motion.retarget.stick_man import stepping
from tests.unit.motion.retarget.test_self_collision import one_armed

warnings.simplefilter("ignore")
human, arm, lamp = poise.load("human"), one_armed(), poise.load("adelino")
moved = 0.2 * np.sin(np.arange(12)[:, None] / 4.0 + np.arange(arm.nq))
points = {"upper": "upper", "fore": "elbow", "hand": "hand"}
hands = [poise.Position(f"{side}_hand", (x, 1.2, 0.4)) for side, x in (("left", 0.3), ("right", -0.3))]
for answer in (
    poise.retarget(poise.Clip(arm, moved, 30.0), arm, points).q,
    poise.retarget(stepping(frames=8), human).q,
    poise.solve(human, hands, solid=True).posture.q,
    poise.Expressive(lamp).solve("sad", poise.facing([1.0, 0.3, 0.5])).posture.q,
    np.frombuffer(repr(poise.load("human").roles).encode(), dtype=np.uint8),
):
    print(hashlib.sha256(answer.tobytes()).hexdigest())
"""


def answers(seed: int) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", ANSWERS],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_process_gives_the_same_answers(seed):
    assert answers(seed) == answers(0)
