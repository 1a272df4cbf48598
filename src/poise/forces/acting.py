"""All that acts on a figure, laid out for the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.figure.figure import STANDARD_GRAVITY, Figure
from poise.figure.pose import FloatArray
from poise.forces.contacts import contact_points, ground_normal
from poise.forces.loads import Force, Gravity, Load, Support, shares_of
from poise.kernels.quaternion import Quaternion, rotate
from poise.kernels.reactions import Contacts
from poise.kernels.statics import Wrenches
from poise.kernels.vector import Vector


@dataclass(frozen=True)
class Acting:
    """Forces, supports and gravity of one figure."""

    figure: Figure
    forces: tuple[Force, ...]
    supports: tuple[Support, ...]
    gravity: Vector
    """In world axes [m/s²]."""
    wrenches: Wrenches
    """The forces, then the supports with their shares; the root where there is no support and it does not float."""

    @property
    def weight(self) -> FloatArray:
        """(3,) [N]."""
        return self.figure.mass * np.array(self.gravity)

    def applied(self) -> Wrenches:
        """The given forces alone, carried by nothing."""
        return wrench_table(self.figure, self.forces)


def acting_on(figure: Figure, forces: Iterable[Load] = (), supports: Iterable[Support] = ()) -> Acting:
    """Sort out what acts on a figure; supports and gravity may stand among the forces."""
    loads: list[Load] = [*forces, *supports]
    for load in loads:
        if not isinstance(load, Force | Support | Gravity):
            raise TaskError(f"forces are made of Force, Support and Gravity, not of {load!r}.")
    given = [load for load in loads if isinstance(load, Gravity)]
    if len(given) > 1:
        raise TaskError(f"there is one gravity, but {len(given)} were given.")
    pushes = tuple(load for load in loads if isinstance(load, Force))
    carriers = tuple(load for load in loads if isinstance(load, Support))
    pull = given[0].acceleration if given else tuple((-STANDARD_GRAVITY * figure.up_vector).tolist())
    return Acting(figure, pushes, carriers, Vector(*pull), wrench_table(figure, pushes, carriers, root=True))


def wrench_table(
    figure: Figure, forces: Sequence[Force], supports: Sequence[Support] = (), *, root: bool = False
) -> Wrenches:
    """Rows for forces, then for supports; with `root`, a figure that neither floats nor has supports has its root."""
    rows = [_force_row(figure, force) for force in forces]
    for support, share in zip(supports, shares_of(supports), strict=True):
        rows.append((*_place(figure, support.site), (0.0,) * 3, (0.0,) * 3, 0, share))
    if root and not supports and not floats(figure):
        rows.append((0, figure.placement.position.tolist(), (0.0,) * 3, (0.0,) * 3, 0, (1.0, 1.0)))
    node, point, force, torque, local, share = zip(*rows, strict=True) if rows else ((),) * 6
    numbers = [np.array(column, dtype=np.float64).reshape(-1, 3) for column in (point, force, torque)]
    integers = [np.array(column, dtype=np.int64) for column in (node, local)]
    return Wrenches(integers[0], *numbers, integers[1], np.array(share, dtype=np.float64).reshape(-1, 2))


def floats(figure: Figure) -> bool:
    """Whether nothing ties the figure to the world."""
    roots = [joint for body, joint in figure.tree_order if joint is None or joint.parent is None]
    return all(joint is not None and joint.kind == "free" for joint in roots)


def _place(figure: Figure, site: str) -> tuple[int, list[float]]:
    """Node that carries a site, and its origin there."""
    row = figure.frame_row(site)
    return int(figure.compiled.attached.node[row]), figure.compiled.attached.position[row].tolist()


_Row = tuple[int, Sequence[float], Sequence[float], Sequence[float], int, tuple[float, float]]


def _force_row(figure: Figure, force: Force) -> _Row:
    node, point = _place(figure, force.site)
    if force.axes == "world":
        return node, point, force.force, force.torque, 0, (0.0, 0.0)
    node_from_site = Quaternion(*figure.compiled.attached.rotation[figure.frame_row(force.site)].tolist())
    turned = [rotate(node_from_site, Vector(*v)) for v in (force.force, force.torque)]
    return node, point, turned[0], turned[1], 1, (0.0, 0.0)


def contacts_of(acting: Acting, posture: object = None) -> Contacts:
    """The points by which the supports touch in a posture (default: neutral)."""
    figure = acting.figure
    frames = figure.frames(figure.neutral() if posture is None else figure.posture(posture))  # type: ignore[arg-type]
    ride = figure.compiled.attached
    columns: list[list[object]] = [[], [], [], [], []]
    for index, support in enumerate(acting.supports):
        row = figure.frame_row(support.site)
        turn = Quaternion(*ride.rotation[row].tolist())
        for point in contact_points(figure, support, frames):
            arm = np.array(rotate(turn, Vector(*point.tolist())))
            found = (int(ride.node[row]), ride.position[row] + arm, ground_normal(figure, support))
            for column, value in zip(columns, (*found, support.friction, index), strict=True):
                column.append(value)
    node, point, normal, friction, support_row = columns
    return Contacts(
        np.array(node, dtype=np.int64),
        np.array(point, dtype=np.float64).reshape(-1, 3),
        np.array(normal, dtype=np.float64).reshape(-1, 3),
        np.array(friction, dtype=np.float64),
        np.array(support_row, dtype=np.int64),
    )
