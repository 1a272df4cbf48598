"""Calls of kernels by address.

Numba copies the code of every kernel into each kernel that calls it, directly or not, and optimises it anew there. A
call through the address of a compiled kernel ends that: it costs a few nanoseconds and saves minutes of compiling.
"""

from collections.abc import Callable
from typing import Any

import numba

from poise.kernels.jit.compile import overload_for

if numba.config.DISABLE_JIT:

    def address_of(kernel: Any, arguments: tuple[Any, ...]) -> int:
        """Nothing has an address that is not compiled."""
        return 0

else:
    from numba import types
    from numba.core import cgutils

    def address_of(kernel: Any, arguments: tuple[Any, ...]) -> int:
        """The address of a kernel compiled for arguments of these types."""
        compiled = overload_for(kernel, arguments)
        address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        return address

    def call_by_address(result: Any, index: int) -> Callable[..., Any]:
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
