"""Where the target will be, and whether the chain can still face it there without changing its branch.

The target is expected to go on as it went in the last frame: in heading about the root's axis and in polar angle, which
is exact for a turn and for a nod.
"""

import math

import numpy as np

from poise.kernels.chain import Chain, pointing, wrapped
from poise.kernels.compile import kernel
from poise.kernels.expressive_aim import copy_row
from poise.kernels.expressive_hold import box_round, hold
from poise.kernels.expressive_path import lifted, polar
from poise.kernels.expressive_surface import heading, root_axis
from poise.kernels.expressive_track import LOOSE, stay
from poise.kernels.expressive_work import EASE, GUESS, LAST
from poise.kernels.measures import Aim
from poise.kernels.quaternion import Quaternion, about, direct_rotation, multiply, rotate
from poise.kernels.vector import Vector

Array = np.ndarray

STAGES = 4
OUT_OF_SIGHT = math.radians(0.5)
"""A direction missed by more than this is lost [rad]."""
WILD = math.radians(15.0)
"""A heading that changes by more than this in a frame says nothing about the next [rad]."""
NEVER = 10_000


@kernel(borrows=True)
def speed(chain: Chain, before: Vector, d: Vector) -> tuple[float, float]:
    """Change of heading and of polar angle from the direction of the last frame to this one [rad]."""
    r = root_axis(chain)
    turned = heading(r, before, d)
    if abs(turned) > WILD:
        turned = 0.0
    return turned, polar(r, d) - polar(r, before)


@kernel(borrows=True)
def expected(chain: Chain, d: Vector, turning: float, nodding: float, frames: float) -> tuple[Vector, float]:
    """The direction after so many frames, and the turn about the root's axis that is part of the way."""
    r = root_axis(chain)
    theta = polar(r, d) + nodding * frames
    turn = turning * frames
    if theta < 0.0:
        theta, turn = -theta, turn + math.pi
    if theta > math.pi:
        theta, turn = 2.0 * math.pi - theta, turn + math.pi
    return rotate(about(r, turn), lifted(r, d, theta)), wrapped(turn)


@kernel(borrows=True)
def expected_aim(chain: Chain, aim: Aim, turning: float, nodding: float, frames: float) -> tuple[Aim, float]:
    """`expected` for a whole aim, its roll carried along."""
    r = root_axis(chain)
    d = pointing(aim.rotation)
    there, turn = expected(chain, d, turning, nodding, frames)
    turned = multiply(about(r, turn), aim.rotation)
    there_rotation: Quaternion = multiply(direct_rotation(pointing(turned), there), turned)
    return Aim(there_rotation, aim.kind), turn


@kernel(borrows=True)
def frames_left(
    chain: Chain, d: Vector, turning: float, nodding: float, rate: float, frames: int, row: int, work: Array
) -> int:
    """After how many frames, of at most `frames`, the branch of `work[row]` loses the target; NEVER if it does not."""
    n = chain.role.shape[0]
    copy_row(work, row, GUESS)
    for stage in range(1, STAGES + 1):
        there, _ = expected(chain, d, turning, nodding, frames * stage / STAGES)
        copy_row(work, GUESS, LAST)
        box_round(chain, work, LAST, rate * frames / STAGES)
        stay(work, n)
        work[EASE, 0] = 1.0 / LOOSE
        if hold(chain, there, 12, work, GUESS) > OUT_OF_SIGHT:
            return frames * (stage - 1) // STAGES
    return NEVER
