"""The problems of an evaluation, each a function of its own number: a posture and an orientation.

Any range of numbers can thus be computed anywhere, on a CPU or a GPU, in any order, with the same result to the last
bit. Draws are hashes of (seed, stream, number, draw): products and shifts of 32-bit integers, written so that they are
the same in compiled code, which wraps at 64 bits, and in Python, which does not.

The orientation of the tip is R(y, h) R(x, v) R(y, t), with heading h, tilt v and roll t.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.gaze.batch_arrays import BatchProblems
from poise.kernels.jit.compile import kernel, threaded_kernel
from poise.kernels.maths.portable_trigonometry import sine_cosine

Array = np.ndarray

GRID, UNIFORM, EXHAUSTIVE = 0, 1, 2
"""Values of `SampleSpace.kind`: draws from a grid, draws from its ranges, every pair of the grid once."""
_BITS_32 = 0xFFFFFFFF


class SampleSpace(NamedTuple):
    """What the problems are drawn from."""

    kind: int
    """GRID, UNIFORM or EXHAUSTIVE."""
    seed: int
    """Seed of the draws, at least 0."""
    stream: int
    """Draws with other streams are independent of these."""
    joint_values: int
    """Number of values of each joint that defines the shape, both limits included."""
    turn_values: int
    """Number of values of heading, tilt and roll, both ends included."""
    pairs: int
    """Number of pairs of the grid."""
    stride: int
    """EXHAUSTIVE takes the pairs in steps of this, which has no factor in common with their number."""
    lower: Array
    """(n,) smallest value of each joint; equal to the largest for joints that do not define the shape [rad]."""
    upper: Array
    """(n,) largest value of each joint [rad]."""


@kernel
def mixed(x: int) -> int:
    """A 32-bit hash of a 32-bit number: every bit of the result depends on every bit of `x`."""
    x ^= x >> 16
    x = (x * 0x7FEB352D) & _BITS_32
    x ^= x >> 15
    x = (x * 0x846CA68B) & _BITS_32
    return x ^ (x >> 16)


@kernel
def random_fraction(seed: int, stream: int, number: int, draw: int) -> float:
    """A number in [0, 1) with 53 random bits, the same for the same arguments."""
    h = mixed((seed + 0x9E3779B9) & _BITS_32)
    h = mixed(h ^ (seed >> 32))
    h = mixed((h + stream) & _BITS_32)
    h = mixed((h + (number & _BITS_32)) & _BITS_32)
    h = mixed(h ^ (number >> 32))
    high = mixed((h + 2 * draw + 1) & _BITS_32)
    low = mixed((high ^ (h + 2 * draw + 2)) & _BITS_32)
    return ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0


@kernel
def _value(space: SampleSpace, number: int, draw: int, digit: int, values: int, low: float, high: float) -> float:
    """A value between `low` and `high`; `digit` is its place on the grid if all pairs are taken."""
    if space.kind == UNIFORM:
        return low + (high - low) * random_fraction(space.seed, space.stream, number, draw)
    if space.kind == GRID:
        digit = int(values * random_fraction(space.seed, space.stream, number, draw))
    return high if digit == values - 1 else low + (high - low) * (digit / (values - 1))


@kernel
def write_sample(
    space: SampleSpace,
    number: int,
    i: int,
    # outputs
    problems: BatchProblems,
) -> None:
    """Write the problem with this number to row `i`; its solve starts at zero."""
    n = space.lower.shape[0]
    rest = (number % space.pairs) * space.stride % space.pairs
    turns = space.turn_values
    heading = _value(space, number, 0, rest % turns, turns, -math.pi, math.pi)
    rest //= turns
    tilt = _value(space, number, 1, rest % turns, turns, -math.pi, math.pi)
    rest //= turns
    roll = _value(space, number, 2, rest % turns, turns, -math.pi, math.pi)
    rest //= turns
    for k in range(n):
        low, high = space.lower[k], space.upper[k]
        problems.start[i, k] = 0.0
        problems.posture[i, k] = low
        if low < high:
            problems.posture[i, k] = _value(
                space, number, 3 + k, rest % space.joint_values, space.joint_values, low, high
            )
            rest //= space.joint_values
    plus_sine, plus_cosine = sine_cosine(0.5 * (heading + roll))
    minus_sine, minus_cosine = sine_cosine(0.5 * (heading - roll))
    s, c = sine_cosine(0.5 * tilt)
    problems.rotation[i, 0] = c * plus_cosine
    problems.rotation[i, 1] = s * minus_cosine
    problems.rotation[i, 2] = c * plus_sine
    problems.rotation[i, 3] = -s * minus_sine
    problems.kind[i] = 0


@threaded_kernel
def write_samples(
    space: SampleSpace,
    first: int,
    # outputs
    problems: BatchProblems,
) -> None:
    """Fill `problems` with the problems from number `first` on."""
    for i in range(problems.rotation.shape[0]):
        write_sample(space, first + i, i, problems)
