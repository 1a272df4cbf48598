"""Pointers instead of copies: one pointer to many arrays, and calls of kernels by address.

Numba unpacks every array of a tuple at every call from Python, 0.3 µs each, and copies the whole tuple into every
function that receives it. A handle is one pointer to a record in memory that numba allocates; a kernel reads
`handle.tree` as it would read the field of a tuple. Kernels that count no references read it too, so the creator of a
handle must keep its arrays alive.

Numba also copies the code of every kernel into each kernel that calls it, directly or not, and optimises each copy
again. A call through the address of a compiled kernel avoids the copy. It costs a few nanoseconds and saves minutes of
compilation.

Touches these internals of numba: `numba.experimental.structref`, `lower_getattr` and `impl_ret_borrowed` (our own code
for reading a field, because structref's own code needs reference counting), the memory layout of the `MemInfo` record
of the numba runtime (`DATA_WORD`), `CompileResult.library` and `fndesc` (the address), and `context.make_array`,
`context.call_conv` and `cgutils` (the generated call, in the calling convention of numba's own kernels).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numba

from poise.kernels.jit.compile import compiled_for

if numba.config.DISABLE_JIT:

    class Handle:
        """The uncompiled stand-in: an object with one attribute per part of an engine."""

        fields: tuple[str, ...] = ()

        def __init__(self, *parts: Any) -> None:
            """Store the parts under the names of `fields`."""
            for name, part in zip(self.fields, parts, strict=True):
                setattr(self, name, part)

    def define_handle(fields: Sequence[str]) -> None:
        """Set the names of the parts of `Handle`, in the order of its constructor."""
        Handle.fields = tuple(fields)

    def address_of(kernel: Any, arguments: tuple[Any, ...]) -> int:
        """0, since an uncompiled function has no address."""
        return 0

else:
    from llvmlite.ir import Constant, IntType, PointerType  # type: ignore[import-untyped]
    from numba import types
    from numba.core import cgutils
    from numba.core.imputils import impl_ret_borrowed, lower_getattr
    from numba.experimental import structref

    DATA_WORD = 3
    """Index of the word of numba's `MemInfo` record that points to the data."""

    @structref.register
    class _HandleType(types.StructRef):  # type: ignore[misc]
        """Numba's type of a handle."""

        def preprocess_fields(self, fields: Any) -> Any:
            """The field types, with literal types replaced by plain ones, so that equal layouts share one type."""
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class Handle(structref.StructRefProxy):  # type: ignore[misc,no-redef]
        """A pointer to the parts of an engine; a kernel creates it, so that its constructor is compiled only once."""

    def _register_getter(name: str) -> None:
        """Register code that reads the part `name` without reference counting, which structref's own code needs."""

        @lower_getattr(_HandleType, name)  # type: ignore[untyped-decorator]
        def read(context: Any, builder: Any, kind: Any, handle: Any) -> Any:
            fields = context.data_model_manager[kind.get_data_type()]
            record = builder.bitcast(builder.extract_value(handle, 0), PointerType(PointerType(IntType(8))))
            memory = builder.load(builder.gep(record, [Constant(IntType(32), DATA_WORD)]))
            parts = builder.bitcast(memory, fields.get_value_type().as_pointer())
            at = [Constant(IntType(32), 0), Constant(IntType(32), fields.get_field_position(name))]
            return impl_ret_borrowed(context, builder, kind.field_dict[name], builder.load(builder.gep(parts, at)))

    def define_handle(fields: Sequence[str]) -> None:
        """Set the names of the parts of `Handle`, in the order of its constructor."""
        structref.define_proxy(Handle, _HandleType, list(fields))
        for name in fields:
            _register_getter(name)

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
