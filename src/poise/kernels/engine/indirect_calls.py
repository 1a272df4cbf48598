"""The engine's largest kernels, called by address: see `jit.indirect_calls`.

All of them are given the engine by its handle, which is one number where its parts are thousands.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from poise.kernels.body.clamp import clamp
from poise.kernels.body.tree import center_of_mass, motion_axes
from poise.kernels.engine.engine import Engine
from poise.kernels.goals.goals import BALANCE, CENTER, INERTIA, STAND, find_errors, place_nodes
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.indirect_calls import address_of

Array = np.ndarray


@kernel
def _clamp(engine: Engine, previous: Array, q: Array) -> int:
    return clamp(engine.bounds, previous, q)


@kernel
def _evaluate_current(engine: Engine, q: Array) -> None:
    tree, here, there = engine.tree, engine.current, engine.trial
    if _is_at(there.at, q):
        for i in range(q.shape[0]):
            here.at[i] = q[i]
        for i in range(here.position.shape[0]):
            for c in range(3):
                here.position[i, c] = there.position[i, c]
            for c in range(4):
                here.rotation[i, c] = there.rotation[i, c]
    else:
        place_nodes(tree, q, here)
    motion_axes(tree, here.rotation, here.axes)
    if _weighs(engine):
        center_of_mass(tree, here.position, here.rotation, here.centers)
    find_errors(tree, engine.goals, q, here)


@kernel
def _evaluate_trial(engine: Engine, q: Array) -> None:
    tree, there = engine.tree, engine.trial
    place_nodes(tree, q, there)
    if _weighs(engine):
        center_of_mass(tree, there.position, there.rotation, there.centers)
    find_errors(tree, engine.goals, q, there)


@kernel(inline=True)
def _is_at(at: Array, q: Array) -> bool:
    """Whether a posture is this one, to the last bit."""
    for i in range(q.shape[0]):
        if at[i] != q[i]:
            return False
    return True


@kernel(inline=True)
def _weighs(engine: Engine) -> bool:
    """Whether some goal asks where the mass is."""
    kinds = engine.goals.kind
    for g in range(kinds.shape[0]):
        if kinds[g] == CENTER or kinds[g] == STAND or kinds[g] == INERTIA or kinds[g] == BALANCE:
            return True
    return False


KERNELS: tuple[Callable[..., Any], ...] = (_clamp, _evaluate_current, _evaluate_trial)
CLAMP, EVALUATE_CURRENT, EVALUATE_TRIAL = range(3)


def connect(engine: Engine, calls: Array, q: Array) -> None:
    """Write the addresses of `KERNELS`, compiled for an engine given by its handle and a posture, to `calls`."""
    for i, arguments in enumerate(((engine, q, q), (engine, q), (engine, q))):
        calls[i] = address_of(KERNELS[i], arguments)


if numba.config.DISABLE_JIT:

    def call_clamp(calls: Array, engine: Any, previous: Array, q: Array) -> int:
        """Move `q` to the nearest posture inside the limits: see `clamp`."""
        return _clamp(engine, previous, q)

    def call_evaluate_current(calls: Array, engine: Any, q: Array) -> None:
        """Take the stance of the posture that a step starts from, with all that rows are made of."""
        _evaluate_current(engine, q)

    def call_evaluate_trial(calls: Array, engine: Any, q: Array) -> None:
        """Take the stance of the posture that a step may end in, as far as errors need it."""
        _evaluate_trial(engine, q)

else:
    from numba import types
    from numba.extending import intrinsic

    from poise.kernels.jit.indirect_calls import call_by_address

    @intrinsic
    def call_clamp(typing_context, calls, engine, previous, q):  # type: ignore[no-untyped-def]
        """Move `q` to the nearest posture inside the limits: see `clamp`."""
        return types.int64(calls, engine, previous, q), call_by_address(types.int64, CLAMP)

    @intrinsic
    def call_evaluate_current(typing_context, calls, engine, q):  # type: ignore[no-untyped-def]
        """Take the stance of the posture that a step starts from, with all that rows are made of."""
        return types.none(calls, engine, q), call_by_address(types.none, EVALUATE_CURRENT)

    @intrinsic
    def call_evaluate_trial(typing_context, calls, engine, q):  # type: ignore[no-untyped-def]
        """Take the stance of the posture that a step may end in, as far as errors need it."""
        return types.none(calls, engine, q), call_by_address(types.none, EVALUATE_TRIAL)
