"""Checks of joint values from users, and values that follow from equality couplings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.pose import FloatArray
from poise.kernels.body.couplings import coupling_value
from poise.kernels.body.limits import Bounds

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

JointValues = dict[str, tuple[float, ...]]
"""Values by joint name."""


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
    """Set the last joint of each equality coupling whose other joints were all given."""
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
        missing = coupling.lower - coupling_value(bounds, k, q)
        q[bounds.coordinate_q[coordinate]] += missing / bounds.term_factor[term]
        given.add(_joint_of(figure, int(bounds.coordinate_q[coordinate])))


def _is_open(figure: Figure, bounds: Bounds, term: int, given: set[str]) -> bool:
    """Whether the joint of a term was not given."""
    return _joint_of(figure, int(bounds.coordinate_q[bounds.term_coordinate[term]])) not in given


def _joint_of(figure: Figure, q_index: int) -> str:
    """Name of the joint with this coordinate."""
    return next(name for name, place in figure.compiled.q_slices.items() if place.start <= q_index < place.stop)
