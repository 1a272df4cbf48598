"""The motion filter: smooth motion from any set-points, inside limits of position, velocity, acceleration and jerk.

The filter runs between a solver and a display or robot. A solver may answer late or jump to another solution; the
filter's output stays inside the limits all the same. `poise.kernels.motion.motion_filter` describes the method and
proves that the limits hold for any input; `poise.motion.filter.nutty` has the equations as they were published.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import positive
from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import LARGEST, FloatArray
from poise.kernels.motion.motion_filter import Limits, Motion, Style, filter_step

LONGEST_FILTER_STEP = 1e3
"""Longest frame that `MotionFilter.step` accepts [s]."""


class MotionFilter:
    """Moves joints towards set-points inside limits of position, velocity, acceleration and jerk.

    Every setting is one number for all joints or one number per joint. Call `reset` with a start position before the
    first `step`. As a setting of a `Character` a filter needs no `reset`.
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
            smoothness: σ from 0 to 1. With 0 a motion stops as fast as the limits allow; with 1 it takes several
                times `slowest` to come to rest.
            responsiveness: ρ from 0 to below 1. The larger it is, the nearer to the set-point the easing starts.
            beta: β above 0. Joints slow down near their position limits; the larger β is, the nearer to the limit
                this starts. Infinite: joints do not slow down near limits.
            bounce: κ from 0 to 0.9: overshoot as a share of the distance travelled.
            slowest: Time constant of the easing for σ = 1 [s].
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
        """This filter with the tighter of its own and a figure's joint limits and speed limits."""
        lower, upper = figure.compiled.bounds.lower, figure.compiled.bounds.upper
        speed = np.empty(figure.nq)
        for joint in figure.joints:
            if joint.kind in ("ball", "free"):
                what = f"joint {joint.name!r} of figure {figure.name!r}"
                raise FigureError(
                    f"a motion filter works on joints of one number per coordinate, and {what} is {joint.kind}."
                )
            speed[figure.q_slice(joint.name)] = joint.speed
        settings = self._broadcast(figure.nq, f"figure {figure.name!r}")
        settings["lower"] = np.maximum(settings["lower"], lower)
        settings["upper"] = np.minimum(settings["upper"], upper)
        for joint in figure.joints:
            for i in range(figure.nq)[figure.q_slice(joint.name)]:
                if settings["lower"][i] > settings["upper"][i]:
                    raise TaskError(
                        f"the limits of this motion filter do not overlap those of joint {joint.name!r} of figure "
                        f"{figure.name!r}, which moves between {lower[i]:g} and {upper[i]:g}."
                    )
        settings["velocity"] = np.minimum(settings["velocity"], speed)
        return MotionFilter(**settings)

    def reset(self, position: ArrayLike) -> None:
        """Start at rest at a position (n,) inside the limits."""
        start = np.atleast_1d(_numbers("position", position)).copy()
        settings = self._broadcast(start.size, "the position")
        outside = np.nonzero((start < settings["lower"]) | (start > settings["upper"]) | ~np.isfinite(start))[0]
        if outside.size:
            i = int(outside[0])
            raise TaskError(
                f"the start position of a motion filter must be inside its limits: value {i} is {start[i]:g}, "
                f"not between {settings['lower'][i]:g} and {settings['upper'][i]:g}."
            )
        self._limits = Limits(*(settings[name] for name in Limits._fields))
        self._style = Style(*(settings[name] for name in Style._fields))
        still = [np.zeros(start.size) for _ in range(3)]
        self._motion = Motion(start, still[0], still[1], start.copy(), still[2])

    def step(self, setpoint: ArrayLike, dt: float) -> FloatArray:
        """Advance by one frame and return the new position (n,).

        Args:
            setpoint: (n,) desired joint values [rad or m]. Values beyond a position limit are clamped to it; for a
                value that is not finite the joint keeps its last set-point.
            dt: Length of the frame [s]; it may differ from frame to frame.
        """
        motion = self._state()
        dt = positive(dt, "dt of a motion filter", unit="seconds") if type(dt) is not float else dt
        if not 0.0 < dt <= LONGEST_FILTER_STEP:
            raise TaskError(f"dt of a motion filter must be above 0 and at most {LONGEST_FILTER_STEP:g} s, not {dt}.")
        wanted = np.array(setpoint, dtype=np.float64)
        if wanted.shape not in ((), motion.position.shape):
            raise TaskError(f"this motion filter takes {motion.position.size} set-points, not an array {wanted.shape}.")
        if wanted.ndim == 0:
            wanted = np.full(motion.position.size, float(wanted))
        filter_step(self._limits, self._style, wanted, float(dt), motion)
        return motion.position.copy()

    def run(self, setpoints: ArrayLike, rate: float) -> FloatArray:
        """(frames, n) positions for (frames, n) set-points at `rate` frames per second, from the current position."""
        wanted = np.array(setpoints, dtype=np.float64)
        rows = wanted[:, None] if wanted.ndim == 1 else wanted
        if not (math.isfinite(rate) and rate > 0.0):
            raise TaskError(f"the rate of a motion filter must be a positive number of frames per second, not {rate}.")
        return np.array([self.step(row, 1.0 / rate) for row in rows]).reshape(-1, self.position.size)

    @property
    def position(self) -> FloatArray:
        """(n,) current joint values [rad or m]."""
        return self._state().position.copy()

    @property
    def velocity(self) -> FloatArray:
        """(n,) current joint velocities [rad/s or m/s]."""
        return self._state().velocity.copy()

    @property
    def acceleration(self) -> FloatArray:
        """(n,) current joint accelerations [rad/s² or m/s²]."""
        return self._state().acceleration.copy()

    @property
    def limits(self) -> Limits:
        """Limits of the joints: before `reset` in the shapes that were given, after it (n,)."""
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

    def _state(self) -> Motion:
        if self._motion is None:
            raise TaskError("this motion filter has no position yet: call reset(position) first.")
        return self._motion

    def _broadcast(self, count: int, what: str) -> dict[str, FloatArray]:
        if self._size not in (1, count):
            raise TaskError(f"this motion filter has settings for {self._size} joints, and {what} has {count} values.")
        return {name: np.ascontiguousarray(np.broadcast_to(v, count)).copy() for name, v in self._settings.items()}


def _numbers(what: str, value: ArrayLike) -> FloatArray:
    """Check that a value is one number or a row of numbers, none of them NaN."""
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
        raise TaskError(f"the {what} of a motion filter must be above 0 and finite, not {_shown(numbers, value)}.")
    return numbers


def _within(what: str, value: ArrayLike, low: float, high: float, *, open_end: bool = False) -> FloatArray:
    numbers = _numbers(what, value)
    inside = (numbers >= low) & ((numbers < high) if open_end else (numbers <= high))
    if not inside.all():
        end = f"below {high:g}" if open_end else f"{high:g}"
        raise TaskError(f"the {what} of a motion filter must be from {low:g} to {end}, not {_shown(numbers, value)}.")
    return numbers


def _beta(value: ArrayLike) -> FloatArray:
    numbers = _numbers("beta", value)
    if not (numbers > 0.0).all():
        raise TaskError(
            f"the beta of a motion filter must be above 0, not {_shown(numbers, value)}; infinite turns it off."
        )
    return numbers


def _shown(numbers: FloatArray, value: ArrayLike) -> object:
    """The value as an error message shows it."""
    return float(numbers) if numbers.ndim == 0 else value


def _check_range(lower: FloatArray, upper: FloatArray) -> None:
    try:
        low, high = np.broadcast_arrays(lower, upper)
    except ValueError:
        raise TaskError(
            f"a motion filter needs as many lower as upper limits, one per joint, not {lower.size} and {upper.size}."
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
