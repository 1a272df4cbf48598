"""A posture: the values of all joints of one figure. Checks of values, random values, and violated limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.joints import Joint, in_words
from poise.figure.model.limits import BallLimits
from poise.figure.model.pose import FloatArray
from poise.figure.model.viewable import View, Viewable
from poise.kernels.body.limits import (
    Bounds,
    ball_room,
    ball_split,
    coupling_value,
    swing_excess,
    term_slope,
    twist_excess,
)

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

JointValues = dict[str, tuple[float, ...]]
"""Values by joint name."""
VIOLATION_TOLERANCE = 1e-9
"""Violations up to this count as none [rad or m]."""
MAX_NEWTON_STEPS = 60
"""Largest number of Newton steps for a joint value in a coupling with a curve."""
SLIDES = ("slide", "x", "y", "z")
"""Names of the coordinates that are lengths."""
BALL_DRAWS = 1000
"""Largest number of random draws for a ball joint; if none is legal, it keeps its neutral orientation."""


class Posture(Viewable):
    """The joint values of a figure; immutable, `changed` returns another."""

    __slots__ = ("_figure", "_q", "_view")

    def __init__(self, figure: Figure, q: FloatArray) -> None:
        """Store `q` (nq,) without a copy and without checks; `figure.posture(...)` checks its input."""
        self._figure = figure
        # Kernels get the writable array, since numba compiles them again for read-only ones; users get a view.
        self._q = np.ascontiguousarray(q, dtype=np.float64)
        self._view: FloatArray | None = None

    @property
    def figure(self) -> Figure:
        """The figure that this posture belongs to."""
        return self._figure

    @property
    def q(self) -> FloatArray:
        """(nq,) all joint values, read-only."""
        if self._view is None:
            self._view = self._q.view()
            self._view.flags.writeable = False
        return self._view

    def __getitem__(self, joint: str) -> float | FloatArray:
        """Value of a joint: a number, or an array for a joint with several."""
        part = self.q[self.figure.q_slice(joint)]
        return float(part[0]) if part.size == 1 else part

    def __setitem__(self, joint: str, value: ArrayLike) -> NoReturn:
        """Refuse changes."""
        raise FigureError(f"a posture cannot be changed: posture.changed({{{joint!r}: …}}) returns another one.")

    def changed(self, values: Mapping[str, ArrayLike]) -> Posture:
        """A copy with some joints at new values; a joint that an equality coupling ties to them is computed from it."""
        return self.figure.posture_from(self, values)

    def as_dict(self) -> dict[str, float | FloatArray]:
        """All joint values by name."""
        return {name: self[name] for name in self}

    def __iter__(self) -> Iterator[str]:
        """Names of the joints that have values."""
        return iter(self.figure.moving_joints)

    def __eq__(self, other: object) -> bool:
        """Whether both have equal values and equal figures."""
        if not isinstance(other, Posture):
            return NotImplemented
        return np.array_equal(self.q, other.q) and (self.figure is other.figure or self.figure == other.figure)

    def __hash__(self) -> int:
        """Hash of the values."""
        return hash(self._q.tobytes())

    def __reduce__(self) -> tuple[type[Posture], tuple[Figure, FloatArray]]:
        """Copy and pickle through the constructor, so that the read-only view is created again."""
        return Posture, (self.figure, self._q.copy())

    def __repr__(self) -> str:
        """Joint values in order."""
        values = ", ".join(f"{name}={np.array2string(np.asarray(self[name]), precision=4)}" for name in self)
        return f"Posture({self.figure.name}: {values})"

    def view(self) -> View:
        """The figure in this posture."""
        return View(self.figure, [self])


def checked_values(figure: Figure, posture: str, values: Mapping[str, ArrayLike]) -> JointValues:
    """The values of a named posture; refuses unknown joints, wrong counts and numbers that are not finite."""
    checked: JointValues = {}
    for name, value in values.items():
        joint = figure.joints[name]
        numbers = np.atleast_1d(np.array(value, dtype=np.float64))
        if numbers.shape != (joint.nq,) or not np.isfinite(numbers).all():
            raise FigureError(
                f"posture {posture!r}: joint {name!r} takes {joint.nq} finite numbers, not {numbers.tolist()}."
            )
        checked[name] = tuple(float(number) for number in numbers)
    return checked


def follow_couplings(figure: Figure, q: FloatArray, given: set[str]) -> None:
    """Compute the value of a joint that was not given from an equality coupling whose other joints were all given."""
    bounds = figure.compiled.bounds
    for k, coupling in enumerate(figure.couplings):
        open_terms = [
            t for t in range(bounds.term_start[k], bounds.term_start[k + 1]) if _is_open(figure, bounds, t, given)
        ]
        if not coupling.is_equality or len(open_terms) != 1 or len(coupling.terms) == 1:
            continue
        term = open_terms[0]
        coordinate = int(bounds.term_coordinate[term])
        if bounds.coordinate_ball[coordinate] >= 0:
            continue
        at = bounds.coordinate_q[coordinate]
        for _ in range(MAX_NEWTON_STEPS if bounds.term_curve[term] >= 0 else 1):
            missing, slope = coupling.lower - coupling_value(bounds, k, q), term_slope(bounds, term, q)
            if missing == 0.0 or slope == 0.0:
                break
            q[at] += missing / slope
        given.add(_joint_of(figure, int(bounds.coordinate_q[coordinate])))


def _is_open(figure: Figure, bounds: Bounds, term: int, given: set[str]) -> bool:
    """Whether the joint of a term was not given."""
    return _joint_of(figure, int(bounds.coordinate_q[bounds.term_coordinate[term]])) not in given


def _joint_of(figure: Figure, q_index: int) -> str:
    """Name of the joint with this coordinate."""
    return next(name for name, place in figure.compiled.q_slices.items() if place.start <= q_index < place.stop)


@dataclass(frozen=True)
class Violation:
    """A limit of a joint or coupling that a posture exceeds, and by how much."""

    part: str
    """Name of the joint or coupling."""
    limit: str
    """The limit: a coordinate's name, 'swing', 'twist' or 'coupling'."""
    excess: float
    """Amount of the violation [rad or m]."""

    def __str__(self) -> str:
        """The violation in one sentence."""
        if self.limit == "coupling":
            return f"{self.part} exceeds its coupling limit by {self.excess:.3g}"
        words = in_words(self.excess, "slide" if self.limit in SLIDES else "turn")
        return f"{self.part} exceeds its {self.limit} limit by {words}"


def find_violations(figure: Figure, posture: Posture) -> list[Violation]:
    """All limits violated by more than `VIOLATION_TOLERANCE`, joints first, then couplings."""
    found = (*_joint_excesses(figure, posture), *_ball_excesses(figure, posture), *_coupling_excesses(figure, posture))
    return [Violation(*row) for row in found if row[2] > VIOLATION_TOLERANCE]


def reached_limits(figure: Figure, posture: Posture, within: float = 1e-6) -> list[str]:
    """Names of the joints and couplings at a limit; of a joint with several coordinates, also the name of the limit.

    Joints with equal limits and equality couplings are left out, since they are always at their limits.
    """
    stuck = {joint.name for joint in figure.joints if joint.lower and joint.lower == joint.upper}
    stuck |= {coupling.name for coupling in figure.couplings if coupling.is_equality}
    single = {joint.name for joint in figure.joints if len(joint.coordinates) == 1} | set(figure.couplings.names)
    rows = (*_joint_excesses(figure, posture), *_ball_rooms(figure, posture), *_coupling_excesses(figure, posture))
    near = [(part, limit) for part, limit, excess in rows if excess >= -within and part not in stuck]
    return [part if part in single else f"{part} ({limit})" for part, limit in near]


def _joint_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Joint, coordinate and violation of every turn and slide; negative inside the limits."""
    for joint in figure.joints:
        if not joint.scalars:
            continue
        values = posture.q[figure.q_slice(joint.name)]
        for name, value, low, high in zip(joint.coordinates, values, joint.lower, joint.upper, strict=True):
            yield joint.name, name, float(max(low - value, value - high))


def _limited_balls(figure: Figure) -> Iterator[tuple[int, str]]:
    """Index in the limits, and name, of every limited ball joint."""
    starts = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    for ball, start in enumerate(figure.compiled.bounds.ball_start):
        yield ball, starts[int(start)]


def _ball_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Joint, 'swing' or 'twist', and violation of every limited ball joint; 0 inside the limits."""
    bounds = figure.compiled.bounds
    for ball, name in _limited_balls(figure):
        split = ball_split(bounds, ball, posture._q)
        yield name, "swing", swing_excess(bounds, ball, split.x, split.y)
        yield name, "twist", twist_excess(bounds, ball, split)


def _ball_rooms(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Joint, 'swing' or 'twist', and the negative distance to the limit of every limited ball joint."""
    for ball, name in _limited_balls(figure):
        swing, twist = ball_room(figure.compiled.bounds, ball, posture._q)
        yield name, "swing", -swing
        yield name, "twist", -twist


def _coupling_excesses(figure: Figure, posture: Posture) -> Iterator[tuple[str, str, float]]:
    """Coupling, 'coupling' and violation of every coupling; negative inside its bounds."""
    for k, coupling in enumerate(figure.couplings):
        value = coupling_value(figure.compiled.bounds, k, posture._q)
        yield coupling.name, "coupling", max(coupling.lower - value, value - coupling.upper)


def random_values(figure: Figure, rng: np.random.Generator) -> FloatArray:
    """(nq,) random values inside every joint's own limits, regardless of couplings."""
    q = figure.neutral().q.copy()
    for joint in figure.joints:
        place = figure.q_slice(joint.name)
        if joint.kind == "ball":
            q[place] = _random_ball(figure, joint, rng, q)
        elif joint.kind == "free":
            q[place] = (*rng.uniform(-1.0, 1.0, 3), *_random_rotation(rng))
        elif joint.nq:
            q[place] = [_random_scalar(joint, i, rng) for i in range(joint.nq)]
    return q


def _random_scalar(joint: Joint, i: int, rng: np.random.Generator) -> float:
    """A uniform value of turn or slide `i`."""
    return float(rng.uniform(*finite_range(joint, i)))


def finite_range(joint: Joint, i: int) -> tuple[float, float]:
    """Limits of turn or slide `i`; a missing one is replaced so that the range is one turn or one metre."""
    reach = math.pi if joint.scalars[i] == "turn" else 0.5
    low, high = joint.lower[i], joint.upper[i]
    if math.isinf(low) and math.isinf(high):
        return -reach, reach
    low = high - 2.0 * reach if math.isinf(low) else low
    return low, low + 2.0 * reach if math.isinf(high) else high


def _random_rotation(rng: np.random.Generator) -> FloatArray:
    """A uniformly distributed unit quaternion (4,)."""
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def _random_ball(figure: Figure, joint: Joint, rng: np.random.Generator, q: FloatArray) -> FloatArray:
    """A rotation drawn uniformly from those with an allowed swing, by rejection; the twist is not limited here."""
    place = figure.q_slice(joint.name)
    limits = joint.ball_limits or BallLimits()
    bounds = figure.compiled.bounds
    balls = [int(start) for start in bounds.ball_start]
    if limits.swing is None or place.start not in balls:
        return _random_rotation(rng)
    ball = balls.index(place.start)
    trial = q.copy()
    for _ in range(BALL_DRAWS):
        trial[place] = _random_rotation(rng)
        split = ball_split(bounds, ball, trial)
        if swing_excess(bounds, ball, split.x, split.y) == 0.0:
            return trial[place]
    return q[place].copy()
