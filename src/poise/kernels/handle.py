"""A handle on many arrays: what Python passes to a kernel instead of a tuple of a hundred of them.

Numba looks at every array of a tuple at every call, 0.3 µs each, and copies the whole tuple into every function it is
passed to. A handle is one pointer: it carries its parts in memory that compiled code owns, and a kernel reads
`handle.tree` as it would read the field of a tuple.
"""

from typing import Any

import numba

FIELDS = (
    "tree",
    "bounds",
    "limits",
    "goals",
    "contacts",
    "closures",
    "criteria",
    "levels",
    "solver",
    "pulls",
    "here",
    "there",
    "state",
    "skip",
    "farthest",
    "choosy",
    "calls",
    "worth",
)
"""The parts of the engine, in order."""

if numba.config.DISABLE_JIT:

    class Handle:
        """Holds the parts of the engine, uncompiled."""

        def __init__(self, *parts: Any) -> None:
            """Keep the parts under their names."""
            for name, part in zip(FIELDS, parts, strict=True):
                setattr(self, name, part)

else:
    from numba import types
    from numba.experimental import structref

    @structref.register
    class _HandleType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            """Constants are values like any other."""
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class Handle(structref.StructRefProxy):  # type: ignore[misc,no-redef]
        """Holds the parts of the engine for compiled code; made by a kernel, so that making one is compiled once."""

    structref.define_proxy(Handle, _HandleType, list(FIELDS))
