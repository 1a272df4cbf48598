"""The arrays of an engine that depend on the figure alone, built once per figure."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from poise.figure.assembly.closure_arrays import compile_closures
from poise.figure.model.compiled import Compiled
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.body.step_limits import PER_BALL, StepLimits
from poise.kernels.forces.statics import Wrenches
from poise.kernels.goals.contacts import Contacts, make_contacts
from poise.kernels.goals.criteria import Criteria, make_criteria
from poise.kernels.jit.memory import type_key
from poise.kernels.loops.closure import Closures


class FigureArrays(NamedTuple):
    """What every engine of a figure shares; nothing changes these arrays."""

    limits: StepLimits
    """Limits of a step; `largest` and `clock` are empty."""
    closures: Closures
    """The loops."""
    turns: FloatArray
    """(nv,) whether each velocity turns a joint."""
    neutral: FloatArray
    """(nq,) coordinates of the neutral posture."""
    up: FloatArray
    """(3,) unit vector that points up."""
    no_criteria: Criteria
    """Criteria without any term."""
    empty_contacts: Contacts
    """Contacts of a figure that avoids nothing."""
    types: Hashable
    """Key of the types of the arrays that engines share: see `kernels.jit.type_key`."""
    general_limits: int
    """Number of limits of a step that are not on a single velocity: those of ball joints and couplings."""


BALL_PARTS = ("swing", "twist", "twist")
"""Names of the limits of a ball joint, in the order of the kernels."""
NO_LOADS = Wrenches(
    np.zeros(0, dtype=np.int64),
    np.zeros((0, 3)),
    np.zeros((0, 3)),
    np.zeros((0, 3)),
    np.zeros(0, dtype=np.int64),
    np.zeros((0, 2)),
)
"""A table of no wrenches."""
_known: WeakKeyDictionary[Compiled, FigureArrays] = WeakKeyDictionary()


def figure_arrays(figure: Figure) -> FigureArrays:
    """The arrays of a figure; they are kept as long as the figure is."""
    found = _known.get(figure.compiled)
    if found is None:
        found = _known[figure.compiled] = _build(figure)
    return found


@lru_cache(maxsize=64)
def limit_names(figure: Figure) -> tuple[str, ...]:
    """Names of the limits of a step that every engine of a figure has: velocities, ball joints, couplings."""
    limits, velocities = figure_arrays(figure).limits, [""] * figure.nv
    for joint in figure.joints:
        for i, v in enumerate(range(*figure.v_slice(joint.name).indices(figure.nv))):
            several = joint.scalars and len(joint.coordinates) > 1
            velocities[v] = f"{joint.name} ({joint.coordinates[i]})" if several else joint.name
    balls = [velocities[int(dof)] for dof in limits.ball_dof]
    couplings = [figure.couplings[int(i)].name for i in limits.soft]
    return (*velocities, *(f"{ball} ({part})" for ball in balls for part in BALL_PARTS[:PER_BALL]), *couplings)


def _build(figure: Figure) -> FigureArrays:
    limits, closures, compiled = _step_limits(figure), compile_closures(figure), figure.compiled
    return FigureArrays(
        limits=limits,
        closures=closures,
        turns=figure.compiled.tree.dof_turns == 1,
        neutral=figure.neutral()._q.copy(),
        up=figure.up_vector,
        no_criteria=_no_criteria(figure),
        empty_contacts=make_contacts(0),
        types=type_key((compiled.tree, compiled.bounds, limits, closures)),
        general_limits=PER_BALL * limits.ball_dof.shape[0] + limits.soft.shape[0],
    )


def _no_criteria(figure: Figure) -> Criteria:
    """Criteria without any term: the distance to the neutral posture with zero weights."""
    nq, nv = figure.nq, figure.nv
    return make_criteria(
        figure.compiled.tree,
        False,
        figure.neutral()._q.reshape(1, nq).copy(),
        np.zeros((1, nv)),
        origin=np.zeros(nq),
        slope=np.zeros(nv),
        slope_hessian=np.zeros((nv, nv)),
        loads=NO_LOADS,
        load_start=np.zeros(1, dtype=np.int64),
        gravity=np.zeros((0, 3)),
        weakness=np.zeros((0, nv)),
    )


def _step_limits(figure: Figure) -> StepLimits:
    """The arrays of the limits of a step: joint limits, speeds, ball joints and couplings."""
    bounds, compiled = figure.compiled.bounds, figure.compiled
    dof_q = np.full(figure.nv, -1, dtype=np.int64)
    q_dof = np.full(figure.nq, -1, dtype=np.int64)
    speed = np.full(figure.nv, math.inf)
    equality = np.array([coupling.is_equality for coupling in figure.couplings], dtype=bool)
    ball_dof = {}
    for joint in figure.joints:
        q, v = compiled.q_slices[joint.name], compiled.v_slices[joint.name]
        plain = joint.nv if joint.scalars else (3 if joint.kind == "free" else 0)
        for i in range(plain):
            dof_q[v.start + i], q_dof[q.start + i] = q.start + i, v.start + i
        ball_dof[q.start] = v.start
        if joint.speed is not None:
            speed[v] = joint.speed / (math.sqrt(3.0) if joint.kind == "ball" else 1.0)
    return StepLimits(
        dof_q=dof_q,
        q_dof=q_dof,
        speed=speed,
        largest=np.empty(0),
        ball_dof=np.array([ball_dof[int(start)] for start in bounds.ball_start], dtype=np.int64),
        hard=np.flatnonzero(equality),
        soft=np.flatnonzero(~equality),
        clock=np.empty(0),
    )
