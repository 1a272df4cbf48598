"""Couplings and ball joint limits as inequalities for the assembly (see `kernels.loops.assemble_inequalities`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.kernels.body.limits import ANYWHERE
from poise.kernels.body.step_limits import StepLimits
from poise.kernels.loops.assemble_inequalities import (
    GREATEST_TWIST,
    LEAST_TWIST,
    SWING,
    Inequalities,
    activate_equalities,
)

if TYPE_CHECKING:
    from poise.figure.model.compiled import IntArray
    from poise.figure.model.figure import Figure


class Inequality(NamedTuple):
    """One coupling, or one limit of a ball joint."""

    name: str
    """Name of the coupling or ball joint."""
    span: tuple[int, ...]
    """Velocities that it depends on."""
    coupling: int = -1
    """Index of the coupling, or -1."""
    ball: int = -1
    """Index of the ball joint, or -1."""
    part: int = -1
    """SWING, LEAST_TWIST or GREATEST_TWIST, for a ball joint."""
    lower: float = -math.inf
    """Least value."""
    upper: float = math.inf
    """Greatest value."""


def find_inequalities(figure: Figure) -> list[Inequality]:
    """All couplings, and all swing and twist limits of ball joints."""
    found = []
    for i, coupling in enumerate(figure.couplings):
        dofs = {dof for term in coupling.terms for dof in _dofs(figure, term.joint)}
        found.append(Inequality(coupling.name, tuple(sorted(dofs)), i, lower=coupling.lower, upper=coupling.upper))
    bounds = figure.compiled.bounds
    joints = {figure.q_slice(joint.name).start: joint.name for joint in figure.joints if joint.kind == "ball"}
    for b, start in enumerate(bounds.ball_start):
        name = joints[int(start)]
        span = tuple(_dofs(figure, name))
        if bounds.swing_kind[b] != ANYWHERE:
            found.append(Inequality(name, span, ball=b, part=SWING, upper=0.0))
        if bounds.twist_limited[b]:
            found.append(Inequality(name, span, ball=b, part=LEAST_TWIST, lower=0.0))
            found.append(Inequality(name, span, ball=b, part=GREATEST_TWIST, upper=0.0))
    return found


def make_inequalities(figure: Figure, found: list[Inequality], rows: IntArray) -> Inequalities:
    """The kernel's arrays for these inequalities and their row indices `rows`; only equalities are active."""
    q_dof = np.full(figure.nq, -1, dtype=np.int64)
    first = {}
    for joint in figure.joints:
        q, v = figure.q_slice(joint.name), figure.v_slice(joint.name)
        first[q.start] = v.start
        if joint.scalars:
            q_dof[q] = range(v.start, v.stop)
    nothing = np.empty(0)
    limits = StepLimits(
        dof_q=np.empty(0, dtype=np.int64),
        q_dof=q_dof,
        speed=nothing,
        largest=nothing,
        ball_dof=np.array([first[int(start)] for start in figure.compiled.bounds.ball_start], dtype=np.int64),
        hard=np.empty(0, dtype=np.int64),
        soft=np.empty(0, dtype=np.int64),
        clock=nothing,
    )
    coupling, ball, part = (
        np.array([getattr(inequality, what) for inequality in found], dtype=np.int64)
        for what in ("coupling", "ball", "part")
    )
    lower, upper = (np.array([getattr(inequality, what) for inequality in found]) for what in ("lower", "upper"))
    side, new = np.zeros((2, len(found)), dtype=np.int64)
    inequalities = Inequalities(
        limits, figure.compiled.bounds, coupling, ball, part, rows, lower, upper, side.copy(), new.copy()
    )
    activate_equalities(inequalities)
    return inequalities


def _dofs(figure: Figure, joint: str) -> range:
    """Indices of a joint's velocities."""
    place = figure.v_slice(joint)
    return range(place.start, place.stop)
