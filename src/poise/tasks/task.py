"""What every task has, and how it becomes goals for the kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.kernels.forces.statics import Wrenches

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

Weight = float | Sequence[float]
Recruits = str | Iterable[str] | None

NEAREST_BRANCH = "nearest branch"


@dataclass(frozen=True)
class Seat:
    """A frame fixed to a node of the compiled tree."""

    node: int = 0
    pose: Pose = field(default_factory=Pose)


WORLD_SEAT = Seat()


@dataclass(kw_only=True)
class Goal:
    """Rows for the kernels; see `poise.kernels.goals.goals` for what each field means to which kind."""

    kind: int
    directions: FloatArray
    """(rows, 3) one unit direction per row."""
    weights: FloatArray
    """(rows,)"""
    seat: Seat = WORLD_SEAT
    base: Seat = WORLD_SEAT
    position: FloatArray = field(default_factory=lambda: np.zeros(3))
    rotation: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    value: float = 0.0
    posture: FloatArray | None = None
    dofs: Sequence[int] = ()
    corners: Sequence[Seat] = ()
    margin: float = 0.0
    up: FloatArray | None = None
    """(3,) away from the ground; the figure's own unless given."""
    loads: Wrenches | None = None
    gravity: FloatArray = field(default_factory=lambda: np.zeros(3))

    @property
    def rows(self) -> int:
        """How many numbers it asks for."""
        return len(self.weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """Something asked of a figure."""

    priority: int = 1
    """Level; 1 is served first, and what a lower one wants costs it nothing."""
    weight: Weight = 1.0
    """How much it counts against others of its level; one number, or one per axis."""
    joints: Recruits = None
    """Names of the joints it may move, "nearest branch" for those of the limb it is on, None for all."""
    active: bool = True
    gain: float = 1.0
    """Share of its error that one step removes, in (0, 1]."""
    name: str | None = None

    def __post_init__(self) -> None:
        """Check what all tasks have."""
        if type(self.priority) is not int or self.priority < 1:
            raise TaskError(f"{self.label}: priority must be a whole number from 1 on, not {self.priority!r}.")
        weights = np.atleast_1d(np.asarray(self.weight, dtype=np.float64))
        if weights.ndim != 1 or not np.all(np.isfinite(weights)) or np.any(weights < 0.0):
            raise TaskError(f"{self.label}: weight must be one number or one per axis, none negative.")
        if not (math.isfinite(self.gain) and 0.0 < self.gain <= 1.0):
            raise TaskError(f"{self.label}: gain must be in (0, 1], not {self.gain}.")

    @property
    def label(self) -> str:
        """Its name, or what it is."""
        return self.name or self.describe()

    def describe(self) -> str:
        """A few words for reports."""
        return type(self).__name__

    def goals(self, figure: Figure) -> list[Goal]:
        """The rows it asks for; raises `TaskError` or `FigureError` when the figure cannot be asked that."""
        raise NotImplementedError

    def unit(self) -> str:
        """Unit of its error."""
        return "m"

    def weights_of(self, count: int) -> FloatArray:
        """One weight for each of `count` rows."""
        weights = np.atleast_1d(np.asarray(self.weight, dtype=np.float64))
        if weights.size == 1:
            return np.full(count, weights[0])
        if weights.size != count:
            raise TaskError(f"{self.label}: {weights.size} weights for {count} axes.")
        return weights.copy()


def finite_vector(value: ArrayLike, what: str) -> FloatArray:
    """Three finite numbers, or a `TaskError`."""
    try:
        return vector(value, what)
    except ValueError as error:
        raise TaskError(str(error)) from error


def seat_of(figure: Figure, name: str, offset: ArrayLike | None = None) -> Seat:
    """Where a site or body sits on the compiled tree, moved by `offset` in its own axes."""
    row = figure.frame_row(name)
    attached = figure.compiled.attached
    pose = Pose(attached.position[row], attached.rotation[row])
    if offset is not None:
        pose = pose @ Pose(finite_vector(offset, "an offset"))
    return Seat(int(attached.node[row]), pose)


def axes_of(axes: str | ArrayLike, label: str) -> FloatArray:
    """(rows, 3) unit directions from letters ("xz") or from vectors."""
    if isinstance(axes, str):
        if not axes or set(axes) - set("xyz") or len(set(axes)) != len(axes):
            raise TaskError(f"{label}: axes must be some of x, y and z, not {axes!r}.")
        return np.eye(3)[["xyz".index(axis) for axis in axes]]
    rows = np.atleast_2d(np.asarray(axes, dtype=np.float64))
    lengths = np.linalg.norm(rows, axis=1) if rows.ndim == 2 and rows.shape[1] == 3 else np.zeros(1)
    if rows.shape[0] > 3 or not np.all(np.isfinite(rows)) or np.any(lengths < 1e-9):
        raise TaskError(f"{label}: axes must be up to three directions of three numbers each.")
    directions: FloatArray = rows / lengths[:, None]
    return directions
