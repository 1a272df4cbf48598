"""Inverse kinematics in maximal coordinates: bodies are free, joints hold them together, scipy does the rest.

Near a closed posture, the closed ones are charted by the null space of the joints' Jacobian: a point of the chart is
carried back to closed by chord steps. Over that chart scipy minimises what is asked, as it would any function.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import null_space, pinv
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from tests.oracle.maximal import Array, Maximal

Bodies = dict[str, tuple[Array, Array]]
CHARTS = 12


def reach(maximal: Maximal, start: Bodies, cost: Callable[[Bodies], float]) -> Bodies:
    """The closed bodies at which `cost` is least, downhill from closed ones."""
    bodies = start
    for _ in range(CHARTS):
        rows = maximal._jacobian(bodies, {})
        free, back = null_space(rows, rcond=1e-7), pinv(rows, rtol=1e-7)

        def over_chart(y: Array, at: Bodies = bodies, free: Array = free, back: Array = back) -> float:
            return cost(closed(maximal, maximal._moved(at, free @ y), back))

        found = minimize(over_chart, np.zeros(free.shape[1]), method="BFGS", options={"gtol": 1e-9, "maxiter": 12})
        bodies = closed(maximal, maximal._moved(bodies, free @ found.x), back)
        if np.abs(found.x).max() < 1e-7:
            break
    return bodies


def closed(maximal: Maximal, bodies: Bodies, back: Array) -> Bodies:
    """Bodies carried back to closed with the inverse of a nearby Jacobian."""
    for _ in range(40):
        gap = np.concatenate([maximal._rows(joint, bodies, {}) for joint in maximal.joints])
        if np.abs(gap).max() < 1e-13:
            break
        bodies = maximal._moved(bodies, -back @ gap)
    return bodies


def frame_cost(maximal: Maximal, site: str, position: Array, matrix: Array | None) -> Callable[[Bodies], float]:
    """Half the squared distance of a site, in metres and, with a matrix, in radians."""
    place = next(each for each in maximal.figure.sites if each.name == site)

    def cost(bodies: Bodies) -> float:
        at, turn = bodies[place.body]
        off = at + turn @ place.pose.position - position
        value = 0.5 * float(off @ off)
        if matrix is not None:
            left = Rotation.from_matrix(matrix @ (turn @ place.pose.matrix).T).as_rotvec()
            value += 0.5 * float(left @ left)
        return value

    return cost
