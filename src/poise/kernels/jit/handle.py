"""A handle on many arrays: what Python passes to a kernel instead of a tuple of a hundred of them.

Numba looks at every array of a tuple at every call, 0.3 µs each, and copies the whole tuple into every function it is
passed to. A handle is one pointer: it carries its parts in memory that compiled code owns, and a kernel reads
`handle.tree` as it would read the field of a tuple. Whoever makes one keeps what it holds: kernels that count no
references read it too.
"""

from collections.abc import Sequence
from typing import Any

import numba

if numba.config.DISABLE_JIT:

    class Handle:
        """Holds the parts of an engine, uncompiled."""

        fields: tuple[str, ...] = ()

        def __init__(self, *parts: Any) -> None:
            """Keep the parts under their names."""
            for name, part in zip(self.fields, parts, strict=True):
                setattr(self, name, part)

    def define_handle(fields: Sequence[str]) -> None:
        """Say what the parts of a handle are called; its parts are given in that order."""
        Handle.fields = tuple(fields)

else:
    from llvmlite.ir import Constant, IntType, PointerType  # type: ignore[import-untyped]
    from numba import types
    from numba.core.imputils import impl_ret_borrowed, lower_getattr
    from numba.experimental import structref

    DATA = 3
    """Which word of numba's record of a piece of memory says where it is."""

    @structref.register
    class _HandleType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            """Constants are values like any other."""
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class Handle(structref.StructRefProxy):  # type: ignore[misc,no-redef]
        """Holds the parts of an engine for compiled code; made by a kernel, so that making one is compiled once."""

    def _read(name: str) -> None:
        """Let kernels read a part whether they count references or not: numba's own way wants those that do."""

        @lower_getattr(_HandleType, name)  # type: ignore[untyped-decorator]
        def read(context: Any, builder: Any, kind: Any, handle: Any) -> Any:
            fields = context.data_model_manager[kind.get_data_type()]
            record = builder.bitcast(builder.extract_value(handle, 0), PointerType(PointerType(IntType(8))))
            memory = builder.load(builder.gep(record, [Constant(IntType(32), DATA)]))
            parts = builder.bitcast(memory, fields.get_value_type().as_pointer())
            at = [Constant(IntType(32), 0), Constant(IntType(32), fields.get_field_position(name))]
            return impl_ret_borrowed(context, builder, kind.field_dict[name], builder.load(builder.gep(parts, at)))

    def define_handle(fields: Sequence[str]) -> None:
        """Say what the parts of a handle are called; its parts are given in that order."""
        structref.define_proxy(Handle, _HandleType, list(fields))
        for name in fields:
            _read(name)
