"""A struct that holds all arguments of a solve, so that Python passes a kernel one pointer instead of forty arrays.

Numba unboxes every array of a tuple at every call, which takes longer than some solves. The struct is unboxed once.
"""

from typing import Any

import numba

FIELDS = ("chain", "scoring", "method", "problems", "workspace", "solutions")
"""The chain, the weights of the errors, the solver's options, the problem, the workspace arrays, and the solution."""

if numba.config.DISABLE_JIT:

    class CallArguments:
        """The arguments of a solve, for Python without compilation."""

        def __init__(self, *parts: Any) -> None:
            """Store the arguments in the order of FIELDS."""
            self.chain, self.scoring, self.method, self.problems, self.workspace, self.solutions = parts

else:
    from numba import types
    from numba.experimental import structref

    @structref.register
    class _CallArgumentsType(types.StructRef):  # type: ignore[misc]
        def preprocess_fields(self, fields: Any) -> Any:
            """Store literal arguments as plain values, so that their type does not depend on the value."""
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class CallArguments(structref.StructRefProxy):  # type: ignore[misc,no-redef]
        """The arguments of a solve, for compiled code; a kernel constructs it, so that its constructor is cached."""

    structref.define_proxy(CallArguments, _CallArgumentsType, list(FIELDS))
