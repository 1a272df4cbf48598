"""The base class of all tasks, the goals that a task gives to the kernels, and the joints that it may move."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import number, shown, whole
from poise.errors import TaskError
from poise.figure.assembly.followers import with_followers
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.figure.model.posture import Posture
from poise.kernels.forces.statics import Wrenches
from poise.tasks.amounts import amount
from poise.tasks.kinds import Kind
from poise.tasks.target import Target, TargetLike, part_from_world

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.tasks.form import FormField, MenuEntry

Weight = float | Sequence[float]
"""One weight, or one for each row."""
Recruits = str | Iterable[str] | None
"""One name of a joint or several; None for all."""

ABOVE_ALL = 0
"""Priority above those that a task can be given: of tasks that poise adds and never changes."""
SOFT_RANK = 10**6
"""Rank of soft tasks, after all priorities."""
NEAREST_BRANCH = "nearest branch"
"""Value of `Task.joints` for the joints of the limb that the task's site is on."""


@dataclass(frozen=True)
class Seat:
    """A frame fixed to a node of the compiled tree."""

    node: int = 0
    pose: Pose = field(default_factory=Pose)
    """Pose of the frame in the node."""


WORLD_SEAT = Seat()
"""The frame of the world."""
_AXES_OF_LETTERS = {
    "".join(letters): np.eye(3)[["xyz".index(letter) for letter in letters]]
    for count in (1, 2, 3)
    for letters in permutations("xyz", count)
}
"""Unit vectors, one per line, by the letters of their axes in any order."""


@dataclass(kw_only=True)
class Goal:
    """One goal of a task; see `poise.kernels.goals.goals.Goals` for the meaning of each field for each kind."""

    kind: int
    directions: FloatArray
    """(rows, 3) one unit direction per row."""
    weights: FloatArray
    """(rows,) weight of each row."""
    seat: Seat = WORLD_SEAT
    """The controlled frame."""
    base: Seat = WORLD_SEAT
    """The frame in which the goal is measured."""
    position: FloatArray = field(default_factory=lambda: np.zeros(3))
    rotation: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    value: float = 0.0
    posture: FloatArray | None = None
    dofs: Sequence[int] = ()
    """Velocity that each row of a hold goal is about."""
    corners: Sequence[Seat] = ()
    """Corners of the support of a stand goal."""
    margin: float = 0.0
    """Distance to keep from the edges of the support polygon, inside [m]."""
    up: FloatArray | None = None
    """(3,) unit vector away from the ground; the figure's up vector if None."""
    loads: Wrenches | None = None
    """Loads on the figure; None for none."""
    gravity: FloatArray = field(default_factory=lambda: np.zeros(3))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.weights)


class Comparison(NamedTuple):
    """The wanted and the actual value of a task, in words."""

    wanted: str = ""
    got: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(Kind):
    """A quantity of the figure that should have a wanted value, with a priority and a weight.

    A subclass says everything about its kind of task: only `goals` is needed to solve with it, its fields are its form
    in scene files, and all else has a default. docs/contributing.md shows how to add one.
    """

    menu: ClassVar[tuple[MenuEntry, ...]] = ()
    """Its entries in the studio's menu of new tasks."""
    form: ClassVar[tuple[FormField, ...]] = ()
    """Its own fields on the studio's page."""
    chooses_joints: ClassVar[bool] = True
    """Whether the studio's page lets one choose its joints."""
    precision: ClassVar[float] = 0.0
    """Error up to which it is met for any tolerance, because its error cannot be made smaller [m or rad]."""
    masks_joints: ClassVar[bool] = True
    """Whether `joints` are those it may move; False if they mean something else."""
    wants_start: ClassVar[bool] = False
    """Whether its target is the posture from which a solve starts."""
    target_fields: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that can be its target; the one that is not None is."""
    without_target: ClassVar[str] = "has no target"
    """Why a task has no target that could be changed, for an error."""
    takes_arrays: ClassVar[bool] = False
    """Whether a target given as an array (3,) or (4,) or as a `Pose` is what its goals want, unchanged: a solver then
    writes it to them without asking the task, which is faster."""

    priority: int = 1
    """Level; 1 is the first, and tasks of later levels cannot worsen those of earlier ones."""
    weight: Weight = 1.0
    """Weight relative to other tasks of the same level; one number, or one per axis."""
    joints: Recruits = None
    """Names of the joints it may move, "nearest branch" for those of the limb it is on, None for all."""
    active: bool = True
    """Whether solvers use the task."""
    gain: float = 1.0
    """Share of its error that one step removes, in (0, 1]."""
    soft: bool = False
    """Whether it only draws the figure, like a spring: below all levels, and weighed against the criteria. A soft task
    out of reach does not contort the figure for the last millimetre."""
    name: str | None = None
    """Name for reports; made from the task's fields if None."""

    def __post_init__(self) -> None:
        """Check priority, weight and gain."""
        if type(self.priority) is not int or self.priority < 1:
            object.__setattr__(self, "priority", whole(self.priority, f"{self.label}: priority", least=1))
        try:
            weights = np.atleast_1d(np.asarray(self.weight, dtype=np.float64))
        except (TypeError, ValueError):
            weights = np.array([math.nan])
        if weights.ndim != 1 or not np.all(np.isfinite(weights)) or np.any(weights < 0.0):
            raise TaskError(
                f"{self.label}: weight must be one number or one per axis, none negative, not {shown(self.weight)}."
            )
        if not 0.0 < number(self.gain, f"{self.label}: gain") <= 1.0:
            raise TaskError(f"{self.label}: gain must be above 0 and at most 1, not {self.gain}.")

    @property
    def label(self) -> str:
        """The name of the task, or a description of it if it has none."""
        return self.name or self.describe()

    def describe(self) -> str:
        """A description in a few words, the default name for reports."""
        return type(self).__name__

    def goals(self, figure: Figure) -> list[Goal]:
        """The goals of the task; raises `TaskError` or `FigureError` if the figure cannot have this task."""
        raise NotImplementedError

    def unit(self) -> str:
        """Unit of its error."""
        return "m"

    def compare(self, posture: Posture) -> Comparison:
        """The wanted value and the actual one in a posture, in words; empty where the error says everything."""
        return Comparison()

    @property
    def rank(self) -> int:
        """Its priority; 0 for a task that is above every priority, and a number after all priorities for a soft one."""
        return SOFT_RANK if self.soft else self.priority

    @property
    def supports(self) -> tuple[str, ...]:
        """Names of the sites or bodies on which the figure should stand, if the task is about that."""
        return ()

    def with_target(self, value: TargetLike) -> Task:
        """The task with another target, as given to `Solver.target`; raises `TaskError` if it cannot have it."""
        name = next((name for name in self.target_fields if getattr(self, name) is not None), None)
        if name is None:
            raise TaskError(f"{self.label} {self.without_target}.")
        if isinstance(value, Pose):
            raise TaskError(f"{self.label} takes only the position or the rotation of a pose, not {shown(value)}.")
        if isinstance(value, Posture | Mapping):
            raise TaskError(f"{self.label} takes numbers, not {shown(value)}; a posture is for Hold.")
        changed: dict[str, Any] = {name: value}
        return replace(self, **changed)

    def error_words(self, posture: Posture, error: float) -> str:
        """An error of this size, in a posture, for people."""
        return amount(error, self.unit())

    def target_in(self, posture: Posture) -> Target | None:
        """Its target in the world while the figure has a posture; None if it has none that can be shown as a point."""
        return None

    def dragged(self, posture: Posture, pose: Pose) -> Task:
        """The task with its target, which `target_in` shows, at another pose in the world."""
        return self.with_target((part_from_world(posture, getattr(self, "relative_to", None)) @ pose).position)

    def weights_of(self, count: int) -> FloatArray:
        """One weight for each of `count` rows."""
        if type(self.weight) in (float, int):
            return np.array([float(self.weight)] * count)  # type: ignore[arg-type]
        weights = np.atleast_1d(np.asarray(self.weight, dtype=np.float64))
        if weights.size == 1:
            return np.full(count, weights[0])
        if weights.size != count:
            raise TaskError(f"{self.label}: weight must be one number or {count} numbers, not {weights.size}.")
        return weights.copy()


def finite_vector(value: ArrayLike, what: str) -> FloatArray:
    """(3,) a vector of finite numbers; raises `TaskError` for anything else."""
    try:
        return vector(value, what)
    except ValueError as error:
        raise TaskError(str(error)) from error


def seat_of(figure: Figure, name: str, offset: ArrayLike | None = None) -> Seat:
    """The frame of a site or body on the compiled tree, moved by `offset` (3,) in its own axes."""
    row = figure.frame_row(name)
    attached = figure.compiled.attached
    pose = attached.poses[row]
    if offset is not None:
        pose = pose @ Pose(finite_vector(offset, "an offset"))
    return Seat(int(attached.node[row]), pose)


def base_seat(figure: Figure, part: str | None) -> Seat:
    """The frame of a site or body in which a goal is measured; that of the world for None."""
    return WORLD_SEAT if part is None else seat_of(figure, part)


def name_list(names: str | Iterable[str]) -> list[str]:
    """One name or several, as a list."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise TaskError(f"{shown(names)} is neither a name nor a list of names.")
    return list(names)


def axes_of(axes: str | ArrayLike, label: str) -> FloatArray:
    """(rows, 3) unit directions from letters ("xz") or from vectors."""
    if isinstance(axes, str):
        if (found := _AXES_OF_LETTERS.get(axes)) is None:
            raise TaskError(f"{label}: axes must be some of x, y and z, not {axes!r}.")
        return found.copy()
    try:
        rows = np.atleast_2d(np.asarray(axes, dtype=np.float64))
    except (TypeError, ValueError):
        raise TaskError(f'{label}: axes must be letters such as "xz", or directions, not {shown(axes)}.') from None
    lengths = np.linalg.norm(rows, axis=1) if rows.ndim == 2 and rows.shape[1] == 3 else np.zeros(1)
    if rows.shape[0] > 3 or not np.all(np.isfinite(rows)) or np.any(lengths < 1e-9):
        raise TaskError(f"{label}: axes must be up to three directions of three numbers each.")
    directions: FloatArray = rows / lengths[:, None]
    return directions


def recruited(figure: Figure, task: Task) -> FloatArray | None:
    """(nv,) recruitment mask: 1 for the velocities that a task may use, else 0; None for all.

    Joints that must follow those of the task belong to it: passive joints of a loop, and those of an equality coupling.
    """
    if task.joints is None or not task.masks_joints:
        return None
    if task.joints == NEAREST_BRANCH:
        site = getattr(task, "site", None)
        if site is None:
            raise TaskError(
                f"{task.label}: joints={NEAREST_BRANCH!r} is only for tasks with a site; name joints instead."
            )
        names = nearest_branch(figure, site)
    else:
        names = name_list(task.joints)
    mask = np.zeros(figure.nv)
    for name in with_followers(figure, names):
        mask[figure.v_slice(name)] = 1.0
    return None if mask.all() else mask


def nearest_branch(figure: Figure, site: str) -> list[str]:
    """Names of the joints from a site or body towards the root, up to the first body with several limbs."""
    joint_above = dict(figure.tree_order)
    limbs: dict[str, int] = {}
    for _, joint in figure.tree_order:
        if joint is not None and joint.parent is not None:
            limbs[joint.parent] = limbs.get(joint.parent, 0) + 1
    body = figure.sites[site].body if site in figure.sites.names else figure.bodies[site].name
    names: list[str] = []
    while (joint := joint_above[body]) is not None:
        if joint.nv and joint.kind != "free":
            names.append(joint.name)
        if joint.parent is None or limbs[joint.parent] > 1:
            break
        body = joint.parent
    return names
