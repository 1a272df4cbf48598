"""The engine's largest kernels, called by address: see `jit.compile`.

All of them take the engine as a handle, which is a single pointer, instead of its thousands of parts.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from poise.kernels.body.clamp import clamp
from poise.kernels.body.tree import center_of_mass, motion_axes
from poise.kernels.engine.engine import Engine
from poise.kernels.goals.goals import BALANCE_GOAL, CENTER_GOAL, INERTIA_GOAL, STAND_GOAL, find_errors, place_nodes
from poise.kernels.jit.compile import address_of, call_by_address, kernel

Array = np.ndarray


@kernel
def _clamp(engine: Engine, previous: Array, q: Array) -> int:
    return clamp(engine.bounds, previous, q)


@kernel
def evaluate_current(engine: Engine, q: Array) -> None:
    """Evaluate `engine.current` at `q`, where a step starts: node frames, errors, and all that Jacobians need."""
    tree, current, trial = engine.tree, engine.current, engine.trial
    if _is_same_posture(trial.at, q):
        for i in range(q.shape[0]):
            current.at[i] = q[i]
        for i in range(current.position.shape[0]):
            for c in range(3):
                current.position[i, c] = trial.position[i, c]
            for c in range(4):
                current.rotation[i, c] = trial.rotation[i, c]
    else:
        place_nodes(tree, q, current)
    motion_axes(tree, current.rotation, current.axes)
    if _needs_center_of_mass(engine):
        center_of_mass(tree, current.position, current.rotation, current.centers)
    find_errors(tree, engine.goals, q, current)


@kernel
def _evaluate_trial(engine: Engine, q: Array) -> None:
    tree, trial = engine.tree, engine.trial
    place_nodes(tree, q, trial)
    if _needs_center_of_mass(engine):
        center_of_mass(tree, trial.position, trial.rotation, trial.centers)
    find_errors(tree, engine.goals, q, trial)


@kernel(inline=True)
def _is_same_posture(at: Array, q: Array) -> bool:
    """Whether two postures are equal to the last bit."""
    for i in range(q.shape[0]):
        if at[i] != q[i]:
            return False
    return True


@kernel(inline=True)
def _needs_center_of_mass(engine: Engine) -> bool:
    """Whether the error of some goal depends on the centre of mass."""
    kinds = engine.goals.kind
    for g in range(kinds.shape[0]):
        if kinds[g] == CENTER_GOAL or kinds[g] == STAND_GOAL or kinds[g] == INERTIA_GOAL or kinds[g] == BALANCE_GOAL:
            return True
    return False


KERNELS: tuple[Callable[..., Any], ...] = (_clamp, evaluate_current, _evaluate_trial)
"""The kernels that are called by address; their order is that of `Engine.calls`."""
CLAMP, EVALUATE_CURRENT, EVALUATE_TRIAL = range(3)
"""Indices into KERNELS and `Engine.calls`."""


def connect(engine: Engine, calls: Array, q: Array) -> None:
    """Write the addresses of `KERNELS`, compiled for an engine given by its handle and a posture, to `calls`."""
    for i, arguments in enumerate(((engine, q, q), (engine, q), (engine, q))):
        calls[i] = address_of(KERNELS[i], arguments)


if numba.config.DISABLE_JIT:

    def call_clamp(calls: Array, engine: Any, previous: Array, q: Array) -> int:
        """Move `q` to the nearest posture inside the limits: see `clamp`."""
        return _clamp(engine, previous, q)

    def call_evaluate_current(calls: Array, engine: Any, q: Array) -> None:
        """Evaluate `engine.current` at `q`, where a step starts: node frames, errors, and all that Jacobians need."""
        evaluate_current(engine, q)

    def call_evaluate_trial(calls: Array, engine: Any, q: Array) -> None:
        """Evaluate `engine.trial` at `q`, where a trial step ends: node frames and errors only."""
        _evaluate_trial(engine, q)

else:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def call_clamp(typing_context, calls, engine, previous, q):  # type: ignore[no-untyped-def]
        """Move `q` to the nearest posture inside the limits: see `clamp`."""
        return types.int64(calls, engine, previous, q), call_by_address(types.int64, CLAMP)

    @intrinsic
    def call_evaluate_current(typing_context, calls, engine, q):  # type: ignore[no-untyped-def]
        """Evaluate `engine.current` at `q`, where a step starts: node frames, errors, and all that Jacobians need."""
        return types.none(calls, engine, q), call_by_address(types.none, EVALUATE_CURRENT)

    @intrinsic
    def call_evaluate_trial(typing_context, calls, engine, q):  # type: ignore[no-untyped-def]
        """Evaluate `engine.trial` at `q`, where a trial step ends: node frames and errors only."""
        return types.none(calls, engine, q), call_by_address(types.none, EVALUATE_TRIAL)
