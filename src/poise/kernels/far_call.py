"""Calls by address of large kernels whose arguments are tuples, so that their callers do not compile them again.

Numba copies the code of every kernel into each kernel that calls it, directly or not, and optimises it anew there. A
far call goes through the address of the compiled kernel instead: it costs a few nanoseconds and saves a minute of
compiling. `poise.kernels.compile.far_kernel` does the same for kernels that take plain arrays.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from poise.kernels.clamp import clamp
from poise.kernels.goals import take_stance

Array = np.ndarray

KERNELS: tuple[Callable[..., Any], ...] = (clamp, take_stance)
CLAMP, TAKE_STANCE = range(2)


def addresses(*arguments: tuple[Any, ...]) -> Array:
    """Addresses of `KERNELS`, compiled for these arguments, one tuple of them for each."""
    return np.array([_address(k, given) for k, given in zip(KERNELS, arguments, strict=True)], dtype=np.int64)


if numba.config.DISABLE_JIT:

    def _address(kernel: Any, arguments: tuple[Any, ...]) -> int:
        return 0

    def far_clamp(calls: Array, bounds: Any, previous: Array, q: Array) -> int:
        """`clamp`."""
        return clamp(bounds, previous, q)

    def far_stance(calls: Array, tree: Any, goals: Any, q: Array, stance: Any) -> None:
        """`take_stance`."""
        take_stance(tree, goals, q, stance)

else:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def _address(kernel: Any, arguments: tuple[Any, ...]) -> int:
        signature = tuple(numba.typeof(argument) for argument in arguments)
        kernel.compile(signature)
        compiled = kernel.overloads[signature]
        address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        return address

    def _call(result: Any, index: int) -> Callable[..., Any]:
        """Generates a call, by the address at `index` of the first argument, of a kernel that returns `result`."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            calls = context.make_array(signature.args[0])(context, builder, arguments[0])
            address = builder.load(builder.gep(calls.data, [context.get_constant(types.intp, index)]))
            kinds = signature.args[1:]
            convention = context.call_conv
            pointer = builder.inttoptr(address, convention.get_function_type(result, kinds).as_pointer())
            status, value = convention.call_function(builder, pointer, result, kinds, arguments[1:])
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value if result != types.none else context.get_dummy_value()

        return generate

    @intrinsic
    def far_clamp(typing_context, calls, bounds, previous, q):  # type: ignore[no-untyped-def]
        """`clamp`."""
        return types.int64(calls, bounds, previous, q), _call(types.int64, CLAMP)

    @intrinsic
    def far_stance(typing_context, calls, tree, goals, q, stance):  # type: ignore[no-untyped-def]
        """`take_stance`."""
        return types.none(calls, tree, goals, q, stance), _call(types.none, TAKE_STANCE)
