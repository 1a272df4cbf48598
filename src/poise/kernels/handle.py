"""A handle on many arrays: what Python passes to a kernel instead of a tuple of a hundred of them.

Numba looks at every array of a tuple at every call, 0.3 µs each. A handle is looked at once: it carries the tuple in
memory that compiled code owns, and a kernel takes it out with `handle.parts`.
"""

from typing import Any

import numba

if numba.config.DISABLE_JIT:

    class Handle:
        """Holds a tuple of arrays, uncompiled."""

        def __init__(self, parts: Any) -> None:
            self.parts = parts

else:
    from numba import types
    from numba.experimental import structref

    @structref.register
    class _HandleType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class Handle(structref.StructRefProxy):  # type: ignore[misc,no-redef]
        """Holds a tuple of arrays for compiled code."""

        def __new__(cls, parts: Any) -> "Handle":
            """Move the tuple into memory that kernels own; its arrays stay shared with Python."""
            handle: Handle = structref.StructRefProxy.__new__(cls, parts)
            return handle

    structref.define_proxy(Handle, _HandleType, ["parts"])
