"""The plane chains on which the thesis minimises joint torques [Baerlocher 2001, fig. 6.8 and 6.9].

Ten equal links, hinged about z, on a base that bears on the ground. The thesis does not print its postures and forces;
these are of the same kind: a tip held in place in balance, once free and loaded, once on the ground as a support too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.forces import Force, Load, Support, TorqueCriterion, equilibrium_error, joint_torques

LINKS = 10
LONG = 0.1
REACH = 1.0
"""Limit of each hinge on both sides [rad]."""


@dataclass(frozen=True)
class Scene:
    """A chain, its loads, the target of its tip, and a start posture that meets the constraints."""

    figure: Figure
    loads: tuple[Load, ...]
    tip: tuple[float, float]
    start: Posture

    @property
    def criterion(self) -> TorqueCriterion:
        """The torques to be kept low."""
        return TorqueCriterion(self.loads)

    def constraints(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Error (3,) and Jacobian (3, nv): place of the tip, and balance about z."""
        moment = equilibrium_error(self.figure, q, self.loads)
        place = self.figure.pose_of("tip", q).position[:2] - self.tip
        rows = self.figure.jacobian("tip", q)[:2]
        return np.append(place, moment.error[2]), np.vstack([rows, moment.jacobian[2]])

    def corrected(self, q: np.ndarray) -> Posture:
        """The posture near `q` that meets the constraints, by Gauss–Newton steps of least norm."""
        q = np.array(q, dtype=np.float64)
        for _ in range(100):
            error, rows = self.constraints(q)
            step = np.linalg.lstsq(rows, -error, rcond=1e-10)[0]
            q = q + step * min(1.0, 0.3 / max(np.abs(step).max(), 1e-300))
        return self.figure.posture(q)

    def torque_norm(self, posture: Posture) -> float:
        """‖τ‖ [N m]."""
        return float(np.linalg.norm(joint_torques(self.figure, posture, self.loads)))


def chain() -> Figure:
    """Ten links of 0.1 m and 0.5 kg that rise along +Y from the ground."""
    b = Builder("thesis_chain")
    below, at = b.body("base"), 0.0
    for k in range(1, LINKS + 1):
        b.body(
            f"link_{k}",
            parent=below,
            joint=revolute(f"hinge_{k}", "z", limits=(-REACH, REACH)),
            at=(0.0, at, 0.0),
            mass=0.0,
        )
        b.body(f"bob_{k}", parent=f"link_{k}", at=(0.0, LONG / 2, 0.0), mass=0.5)
        below, at = f"link_{k}", LONG
    b.site("tip", below, at=(0.0, LONG, 0.0))
    return b.build()


def single_support() -> Scene:
    """Fig. 6.8: on its base alone, a load on the tip, the tip held in place."""
    return _scene(
        (Force("tip", (0.0, -6.0, 0.0)),), (-0.1, 0.6), [0.9, -0.5, -0.6, -0.6, -0.2, 0.5, 0.8, 0.7, 0.5, 0.1]
    )


def double_support() -> Scene:
    """Fig. 6.9: base and tip on the ground, half a metre apart, each half of the weight, pushed towards each other."""
    loads = (Force("tip", (-8.0, 0.0, 0.0)), Support("base", 0.5, brace=1.0), Support("tip", 0.5))
    bend = [0.6, -0.8, 0.1, -0.8, -0.4, -0.2, -0.7, 0.1, -0.8, -0.4]
    return _scene(loads, (0.5, 0.0), bend)


def _scene(loads: tuple[Load, ...], tip: tuple[float, float], bend: list[float]) -> Scene:
    figure = chain()
    rough = Scene(figure, loads, tip, figure.neutral())
    start = rough.corrected(np.array(bend))
    error, _ = rough.constraints(start.q)
    assert math.isclose(float(np.abs(error).max()), 0.0, abs_tol=1e-9)
    return Scene(figure, loads, tip, start)
