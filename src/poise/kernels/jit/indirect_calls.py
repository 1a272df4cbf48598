"""Calls of kernels by address.

Numba copies the code of every kernel into each kernel that calls it, directly or not, and optimises each copy again. A
call through the address of a compiled kernel avoids the copy. It costs a few nanoseconds and saves
minutes of compilation.

Touches these internals of numba: `CompileResult.library` and `fndesc` (the address), and `context.make_array`,
`context.call_conv` and `cgutils` (the generated call, in the calling convention of numba's own kernels).
"""

from collections.abc import Callable
from typing import Any

import numba

from poise.kernels.jit.compile import compiled_for

if numba.config.DISABLE_JIT:

    def address_of(kernel: Any, arguments: tuple[Any, ...]) -> int:
        """0, since an uncompiled function has no address."""
        return 0

else:
    from numba import types
    from numba.core import cgutils

    def address_of(kernel: Any, arguments: tuple[Any, ...]) -> int:
        """The address of `kernel`, compiled for the types of these arguments."""
        compiled = compiled_for(kernel, arguments)
        address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        return address

    def call_by_address(result: Any, index: int) -> Callable[..., Any]:
        """The code generator of a call by address, for `numba.extending.intrinsic`.

        Args:
            result: Numba type that the called kernel returns.
            index: Entry of the first argument, an array of addresses, that holds the kernel's address. The kernel
                receives the remaining arguments.
        """

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
