"""Compiles criteria to arrays for the kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.engine.goal_arrays import stacked_loads, table
from poise.figure.model.figure import Figure
from poise.kernels.goals.criteria import Criteria, make_criteria
from poise.tasks.criteria import Effort, Near, Slope, Term
from poise.tasks.posture import Hold


def hold_criterion(figure: Figure, held: Hold) -> Near:
    """The criterion equivalent to a `Hold` task below all other tasks."""
    weight = np.zeros(figure.nv)
    for name in held.held(figure):
        weight[figure.v_slice(name)] = held.gain
    return Near(np.array(figure.posture(held.posture)._q), weight)


def criteria_arrays(figure: Figure, held: Hold | None, terms: Sequence[Term]) -> Criteria:
    """The arrays of all criteria; that of the `Hold` task below all other tasks, if any, comes first."""
    near = [hold_criterion(figure, held)] if held is not None else []
    near += [term for term in terms if isinstance(term, Near)]
    if not terms and not near:
        near = [Near(np.array(figure.neutral().q), np.zeros(figure.nv))]
    slope = np.zeros(figure.nv)
    for term in terms:
        if isinstance(term, Slope):
            slope += term.gradient
    efforts = [term for term in terms if isinstance(term, Effort)]
    tables = [effort.acting.wrenches for effort in efforts]
    return make_criteria(
        figure.compiled.tree,
        bool(terms),
        table([term.posture for term in near], figure.nq),
        table([term.weight for term in near], figure.nv),
        origin=np.array(figure.neutral().q),
        slope=slope,
        slope_hessian=np.zeros((figure.nv, figure.nv)),
        loads=stacked_loads(tables),
        load_start=np.cumsum([0, *(len(loads.node) for loads in tables)], dtype=np.int64),
        gravity=table([np.array(effort.acting.gravity) for effort in efforts], 3),
        weakness=table([effort.weakness for effort in efforts], figure.nv),
    )
