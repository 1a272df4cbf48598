"""A desk for one question at a time: what Python passes to a kernel instead of tuples of forty arrays.

Numba looks at every array of a tuple at every call, which takes longer than some solvers do. A desk is one pointer to
all of them.
"""

from typing import Any

import numba

FIELDS = ("chain", "scoring", "method", "asked", "room", "given")
"""The chain, what errors weigh, what the solver's method needs, the question, room to work in, and the answer."""

if numba.config.DISABLE_JIT:

    class Desk:
        """Holds the parts of a question, uncompiled."""

        def __init__(self, *parts: Any) -> None:
            """Keep the parts under their names."""
            self.chain, self.scoring, self.method, self.asked, self.room, self.given = parts

else:
    from numba import types
    from numba.experimental import structref

    @structref.register
    class _DeskType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            """Constants are values like any other."""
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class Desk(structref.StructRefProxy):  # type: ignore[misc,no-redef]
        """Holds the parts of a question for compiled code; made by a kernel, so that making one is compiled once."""

    structref.define_proxy(Desk, _DeskType, list(FIELDS))
