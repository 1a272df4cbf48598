"""The engine's largest kernels, called by address, so that each is compiled once: see `jit.compile`.

All of them take the engine as a handle, which is a single pointer, instead of its thousands of parts. A kernel that is
called by address is decorated with its index into `Engine.calls`; the functions `call_…` call it from other kernels.
Compiled code of the whole engine took 130 s of one core when each caller had its own copy of these kernels.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np

from poise.kernels.body.clamp import clamp
from poise.kernels.body.tree import center_of_mass, motion_axes
from poise.kernels.engine.engine import Engine
from poise.kernels.goals.goals import BALANCE_GOAL, CENTER_GOAL, INERTIA_GOAL, STAND_GOAL, find_errors, place_nodes
from poise.kernels.jit.compile import address_of, call_by_address, kernel

Array = np.ndarray
P = ParamSpec("P")
R = TypeVar("R")

CLAMP, EVALUATE_CURRENT, EVALUATE_TRIAL, BUILD_MODEL, SOLVE_MODEL, TRY_STEP, TAKE_STEP = INDICES = range(7)
"""Indices into `Engine.calls`."""
_kernels: dict[int, Callable[..., Any]] = {}
"""The kernel of each index."""


def called_by_address(index: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a kernel that has this index into `Engine.calls`."""

    def register(kernel: Callable[P, R]) -> Callable[P, R]:
        _kernels[index] = kernel
        return kernel

    return register


def address(index: int, engine: Engine, q: Array) -> int:
    """The address of a kernel, compiled for an engine given by its handle and a posture."""
    more: dict[int, tuple[Any, ...]] = {CLAMP: (q,), TRY_STEP: (1.0,)}
    return address_of(_kernels[index], (engine, q, *more.get(index, ())))


@called_by_address(CLAMP)
@kernel
def _clamp(engine: Engine, previous: Array, q: Array) -> int:
    return clamp(engine.bounds, previous, q)


@called_by_address(EVALUATE_CURRENT)
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


@called_by_address(EVALUATE_TRIAL)
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


if numba.config.DISABLE_JIT:

    def call_clamp(calls: Array, engine: Any, previous: Array, q: Array) -> int:
        """Move `q` to the nearest posture inside the limits: see `clamp`."""
        number: int = _kernels[CLAMP](engine, previous, q)
        return number

    def call_evaluate_current(calls: Array, engine: Any, q: Array) -> None:
        """Evaluate `engine.current` at `q`, where a step starts: node frames, errors, and all that Jacobians need."""
        _kernels[EVALUATE_CURRENT](engine, q)

    def call_evaluate_trial(calls: Array, engine: Any, q: Array) -> None:
        """Evaluate `engine.trial` at `q`, where a trial step ends: node frames and errors only."""
        _kernels[EVALUATE_TRIAL](engine, q)

    def call_build_model(calls: Array, engine: Any, q: Array) -> None:
        """Fill in the model of a step: see `step_model.build_model`."""
        _kernels[BUILD_MODEL](engine, q)

    def call_solve_model(calls: Array, engine: Any, q: Array) -> None:
        """Solve the model of a step: see `step_model.solve_model`."""
        _kernels[SOLVE_MODEL](engine, q)

    def call_try_step(calls: Array, engine: Any, q: Array, share: float) -> float:
        """Apply a share of the step to `q` as a trial: see `step_trial.try_step`."""
        number: float = _kernels[TRY_STEP](engine, q, share)
        return number

    def call_take_step(calls: Array, engine: Any, q: Array) -> float:
        """Move `q` by one step: see `step.take_step`."""
        number: float = _kernels[TAKE_STEP](engine, q)
        return number

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

    @intrinsic
    def call_build_model(typing_context, calls, engine, q):  # type: ignore[no-untyped-def]
        """Fill in the model of a step: see `step_model.build_model`."""
        return types.none(calls, engine, q), call_by_address(types.none, BUILD_MODEL)

    @intrinsic
    def call_solve_model(typing_context, calls, engine, q):  # type: ignore[no-untyped-def]
        """Solve the model of a step: see `step_model.solve_model`."""
        return types.none(calls, engine, q), call_by_address(types.none, SOLVE_MODEL)

    @intrinsic
    def call_try_step(typing_context, calls, engine, q, share):  # type: ignore[no-untyped-def]
        """Apply a share of the step to `q` as a trial: see `step_trial.try_step`."""
        return types.float64(calls, engine, q, share), call_by_address(types.float64, TRY_STEP)

    @intrinsic
    def call_take_step(typing_context, calls, engine, q):  # type: ignore[no-untyped-def]
        """Move `q` by one step: see `step.take_step`."""
        return types.float64(calls, engine, q), call_by_address(types.float64, TAKE_STEP)
