"""A posture: the values of all joints of one figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.pose import FloatArray

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


class Posture:
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

    def changed(self, values: Mapping[str, ArrayLike]) -> Posture:
        """This posture with some joints at other values; joints that an equality couples to them follow."""
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
