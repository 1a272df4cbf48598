"""The motion filter: smooth motion from any set-points, inside limits of position, velocity, acceleration and jerk.

It stands between a solver and whatever shows its postures: the solver may be late, jump or flip, and what comes out
still moves as a body can. The method, and why its limits hold for any input, is in
`poise.kernels.motion.motion_filter`; the equations as they were printed are in `poise.motion.filter.nutty`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import LARGEST, FloatArray
from poise.kernels.motion.motion_filter import Limits, Motion, Style, filter_step

LONGEST_FRAME = 1e3
"""[s]"""


class MotionFilter:
    """Moves joints towards set-points.

    Every setting is one number for all joints or one per joint. The filter starts with `reset`; until then, and as a
    setting of a `Character`, it has no state.
    """

    def __init__(
        self,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        jerk: ArrayLike,
        *,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
        smoothness: ArrayLike = 0.0,
        responsiveness: ArrayLike = 0.9,
        beta: ArrayLike = math.inf,
        bounce: ArrayLike = 0.0,
        slowest: ArrayLike = 1.0,
    ) -> None:
        """Check the limits and the style of a motion.

        Args:
            velocity: Greatest speed [rad/s or m/s].
            acceleration: Greatest acceleration [1/s²].
            jerk: Greatest change of acceleration [1/s³].
            lower: Least position [rad or m].
            upper: Greatest position [rad or m].
            smoothness: σ from 0, which ends a motion as fast as the limits allow, to 1, which takes several times
                `slowest` to come to rest.
            responsiveness: ρ from 0 to below 1: the larger, the nearer to the set-point the easing starts.
            beta: β above 0: position limits slow a motion towards them, the later the larger β is; infinite for not
                at all, so that a posture at a limit is reached as fast as any other.
            bounce: κ from 0 to 0.9: share of the distance travelled by which a motion may overshoot.
            slowest: Closing time of σ = 1 [s].
        """
        positive = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "slowest": slowest}
        checked = {what: _positive(what, value) for what, value in positive.items()}
        checked |= {"lower": _numbers("lower", lower), "upper": _numbers("upper", upper)}
        _check_range(checked["lower"], checked["upper"])
        checked["smoothness"] = _within("smoothness", smoothness, 0.0, 1.0)
        checked["responsiveness"] = _within("responsiveness", responsiveness, 0.0, 1.0, open_end=True)
        checked["beta"] = _beta(beta)
        checked["bounce"] = _within("bounce", bounce, 0.0, 0.9)
        self._settings = checked
        self._size = _common_size(checked)
        self._motion: Motion | None = None

    def within(self, figure: Figure) -> MotionFilter:
        """This filter for a figure: its joint limits, and its joints' greatest speeds where those are lower."""
        lower, upper = figure.compiled.bounds.lower, figure.compiled.bounds.upper
        speed = np.empty(figure.nq)
        for joint in figure.joints:
            if joint.kind in ("ball", "free"):
                what = f"joint {joint.name!r} of figure {figure.name!r}"
                raise FigureError(f"a motion filter moves single numbers, and {what} is {joint.kind}.")
            speed[figure.q_slice(joint.name)] = joint.speed
        settings = self._broadcast(figure.nq, f"figure {figure.name!r}")
        settings["lower"] = np.maximum(settings["lower"], lower)
        settings["upper"] = np.minimum(settings["upper"], upper)
        for joint in figure.joints:
            for i in range(figure.nq)[figure.q_slice(joint.name)]:
                if settings["lower"][i] > settings["upper"][i]:
                    raise TaskError(
                        f"the limits of this motion filter leave joint {joint.name!r} of figure {figure.name!r} no "
                        f"place: it moves between {lower[i]:g} and {upper[i]:g}."
                    )
        settings["velocity"] = np.minimum(settings["velocity"], speed)
        return MotionFilter(**settings)

    def reset(self, position: ArrayLike) -> None:
        """Stand still at a position (n,) inside the limits."""
        start = np.atleast_1d(_numbers("position", position)).copy()
        settings = self._broadcast(start.size, "the position")
        outside = np.nonzero((start < settings["lower"]) | (start > settings["upper"]) | ~np.isfinite(start))[0]
        if outside.size:
            i = int(outside[0])
            raise TaskError(
                f"a motion filter starts inside its limits: value {i} is {start[i]:g}, "
                f"not between {settings['lower'][i]:g} and {settings['upper'][i]:g}."
            )
        self._limits = Limits(*(settings[name] for name in Limits._fields))
        self._style = Style(*(settings[name] for name in Style._fields))
        still = [np.zeros(start.size) for _ in range(3)]
        self._motion = Motion(start, still[0], still[1], start.copy(), still[2])

    def step(self, setpoint: ArrayLike, dt: float) -> FloatArray:
        """Move on by one frame and return the new position (n,).

        Args:
            setpoint: (n,) where the joints should be [rad or m]. Beyond a limit it means the limit; a value that is not
                finite leaves that joint's last set-point standing.
            dt: Length of the frame [s]; it may differ from frame to frame.
        """
        motion = self._running()
        if not 0.0 < dt <= LONGEST_FRAME:
            raise TaskError(f"a frame of a motion filter lasts from above 0 to {LONGEST_FRAME:g} s, not {dt}.")
        wanted = np.array(setpoint, dtype=np.float64)
        if wanted.shape not in ((), motion.position.shape):
            raise TaskError(f"this motion filter takes {motion.position.size} set-points, not an array {wanted.shape}.")
        if wanted.ndim == 0:
            wanted = np.full(motion.position.size, float(wanted))
        filter_step(self._limits, self._style, wanted, float(dt), motion)
        return motion.position.copy()

    def run(self, setpoints: ArrayLike, rate: float) -> FloatArray:
        """(frames, n) positions for (frames, n) set-points at `rate` frames per second, starting from here."""
        wanted = np.array(setpoints, dtype=np.float64)
        rows = wanted[:, None] if wanted.ndim == 1 else wanted
        if not (math.isfinite(rate) and rate > 0.0):
            raise TaskError(f"the rate of a motion filter must be a positive number of frames per second, not {rate}.")
        return np.array([self.step(row, 1.0 / rate) for row in rows]).reshape(-1, self.position.size)

    @property
    def position(self) -> FloatArray:
        """(n,) where the joints are [rad or m]."""
        return self._running().position.copy()

    @property
    def velocity(self) -> FloatArray:
        """(n,) how fast they move [1/s]."""
        return self._running().velocity.copy()

    @property
    def acceleration(self) -> FloatArray:
        """(n,) [1/s²]."""
        return self._running().acceleration.copy()

    @property
    def limits(self) -> Limits:
        """What the joints may do; of the shapes given before `reset`, (n,) after it."""
        if self._motion is not None:
            return Limits(*(limit.copy() for limit in self._limits))
        return Limits(*(self._settings[name].copy() for name in Limits._fields))

    def __repr__(self) -> str:
        """The limits."""
        shown = ", ".join(
            f"{name}={np.array2string(self._settings[name], precision=4, threshold=6)}"
            for name in ("velocity", "acceleration", "jerk")
        )
        return f"MotionFilter({shown})"

    def _running(self) -> Motion:
        if self._motion is None:
            raise TaskError("this motion filter has no position yet: call reset(position) first.")
        return self._motion

    def _broadcast(self, count: int, what: str) -> dict[str, FloatArray]:
        if self._size not in (1, count):
            raise TaskError(f"this motion filter has settings for {self._size} joints, and {what} has {count} values.")
        return {name: np.ascontiguousarray(np.broadcast_to(v, count)).copy() for name, v in self._settings.items()}


def _numbers(what: str, value: ArrayLike) -> FloatArray:
    """One number or a row of numbers, none of them NaN."""
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TaskError(f"the {what} of a motion filter is a number or one per joint, not {value!r}.") from None
    if numbers.ndim > 1 or numbers.size == 0 or np.isnan(numbers).any():
        raise TaskError(f"the {what} of a motion filter is a number or one per joint, not {value!r}.")
    return numbers


def _positive(what: str, value: ArrayLike) -> FloatArray:
    numbers = _numbers(what, value)
    if not ((numbers > 0.0) & (numbers <= LARGEST)).all():
        raise TaskError(f"the {what} of a motion filter must be above 0 and finite, not {_first(numbers, value)}.")
    return numbers


def _within(what: str, value: ArrayLike, low: float, high: float, *, open_end: bool = False) -> FloatArray:
    numbers = _numbers(what, value)
    inside = (numbers >= low) & ((numbers < high) if open_end else (numbers <= high))
    if not inside.all():
        end = f"below {high:g}" if open_end else f"{high:g}"
        raise TaskError(
            f"the {what} of a motion filter goes from {low:g} to {end}, and {_first(numbers, value)} does not."
        )
    return numbers


def _beta(value: ArrayLike) -> FloatArray:
    numbers = _numbers("beta", value)
    if not (numbers > 0.0).all():
        raise TaskError(f"the beta of a motion filter must be above 0, not {_first(numbers, value)}; infinite is off.")
    return numbers


def _first(numbers: FloatArray, value: ArrayLike) -> object:
    return float(numbers) if numbers.ndim == 0 else value


def _check_range(lower: FloatArray, upper: FloatArray) -> None:
    try:
        low, high = np.broadcast_arrays(lower, upper)
    except ValueError:
        raise TaskError(
            f"a motion filter has {lower.size} lower limits and {upper.size} upper ones; give one per joint of each."
        ) from None
    crossed = np.nonzero(np.atleast_1d(low > high))[0]
    if crossed.size:
        i = int(crossed[0])
        low, high = np.atleast_1d(low)[i], np.atleast_1d(high)[i]
        raise TaskError(f"a motion filter's lower limit {low:g} is above its upper limit {high:g}: exchange them.")


def _common_size(settings: dict[str, FloatArray]) -> int:
    sizes: Sequence[int] = sorted({numbers.size for numbers in settings.values() if numbers.ndim})
    if len(sizes) > 1:
        names = ", ".join(f"{name} {numbers.size}" for name, numbers in settings.items() if numbers.ndim)
        raise TaskError(f"the settings of a motion filter are for different numbers of joints: {names}.")
    return sizes[0] if sizes else 1
