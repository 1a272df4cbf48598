"""The decorator of all compiled code; `poise.kernels.jit.machine_code` decides where its machine code is stored.

Each option below avoids a measured overhead of numba, and some use undocumented parts of numba. A new version
of numba must be checked against this list (the figures were measured with numba 0.68).

* `_nrt=False` (a private compiler flag): no reference counting. Counting costs several nanoseconds per array and call,
  arrays inside tuples included; without it a step of the engine takes half the time.
* `forceinline` (undocumented): the callee becomes part of its caller. A call passes a tuple of arrays number by number,
  0.3 µs for the goals of one task; inlining small kernels takes 40 % off a step of a small mechanism.
* `no_cpython_wrapper`, `no_cfunc_wrapper` (compiler flags without documentation): no entry point from Python. The entry
  point unpacks the arguments, and for tuples of many arrays it takes longer to compile than the function itself.
* `Dispatcher.compile`, `Dispatcher.overloads` and `CompileResult.entry_point` (internal attributes): a call from Python
  without numba's check of the argument types, 0.5 µs less per call.
* `Dispatcher.get_call_template` (internal), which resolves a call of a kernel by another: a constant argument counts as
  any number of its type. Numba compiles the callee again for every constant that a caller writes, and all that the
  callee passes it to: 176 of 1002 compiled functions.
* `numba.config.SLP_VECTORIZE` (the documented setting `NUMBA_SLP_VECTORIZE`, changed while one function compiles).
* `numba.core.ccallback.CFunc` and `normalize_signature`: what `numba.cfunc` does, with our cache (see `machine_code`).
* `CompileResult.library` and `fndesc` (the address of a kernel), `context.make_array`, `context.call_conv` and
  `cgutils` (the generated call, in the calling convention of numba's own kernels): calls by address. Numba copies the
  code of every kernel into each kernel that calls it, directly or not, and optimises each copy again. A call through
  the address of a compiled kernel avoids the copy. It costs a few nanoseconds and saves minutes of compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, cast, overload

import numba
from numba import types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

from poise.kernels.jit.machine_code import use_cache

P = ParamSpec("P")
R = TypeVar("R")


@overload
def kernel(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def kernel(*, counts_references: bool = False, inline: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def kernel(function: Callable[P, R] | None = None, *, counts_references: bool = False, inline: bool = False) -> Any:
    """Compile `function` on its first call and store the machine code on disk.

    Args:
        function: The function to compile.
        counts_references: Count references to arrays, as numba does by default. A function needs this if it creates
            arrays other than views of its arguments, or if it passes an array to a function that counts references.
            Counting costs several nanoseconds per array and call, arrays inside tuples included.
        inline: Make the function part of every kernel that calls it. A call passes a tuple of arrays as hundreds of
            separate numbers, whether the callee reads them or not, so this pays for functions that do little or that
            have one caller.
    """
    return decorated(function, counts_references, forceinline=inline)


@overload
def inner_kernel(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def inner_kernel(*, counts_references: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def inner_kernel(function: Callable[P, R] | None = None, *, counts_references: bool = False) -> Any:
    """Compile `function` as `kernel` does, to be called by other kernels only: Python cannot call it.

    The entry point from Python unpacks the arguments, which for tuples of many arrays takes longer to compile than the
    function itself.
    """
    return decorated(function, counts_references, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def threaded_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` as `kernel` does, and release Python's global interpreter lock while it runs.

    Several threads can then run it in parallel.
    """
    return cast("Callable[P, R]", decorated(function, counts_references=False, nogil=True))


def decorated(function: Callable[P, R] | None, counts_references: bool, **options: bool) -> Any:
    """Compile `function` with these options of `numba.njit`; without a function, return the decorator that does."""
    # Set in both cases, since numba otherwise takes the flag of the first caller.
    options["_nrt"] = counts_references
    if function is None:
        return lambda function: _compiled(function, **options)
    return _compiled(function, **options)


def entry_point_for(kernel: Callable[P, R], *arguments: Any) -> Callable[P, R]:
    """The entry point of `kernel` for the types of these arguments; it skips numba's type check, 0.5 µs per call.

    The caller must pass arguments of exactly these types: other types crash the process.
    """
    if numba.config.DISABLE_JIT:
        return kernel
    return cast("Callable[P, R]", compiled_for(kernel, arguments).entry_point)


def compiled_for(kernel: Any, arguments: Sequence[Any]) -> Any:
    """Numba's `CompileResult` of `kernel` for the types of these arguments; compiled now if it is not yet."""
    signature = tuple(numba.typeof(argument) for argument in arguments)
    kernel.compile(signature)
    return kernel.overloads[signature]


def address_of(kernel: Any, arguments: Sequence[Any]) -> int:
    """The address of `kernel`, compiled for the types of these arguments; 0 for a function that is not compiled."""
    if numba.config.DISABLE_JIT:
        return 0
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


def indirect_kernel(function: Callable[P, R], signature: Any) -> Callable[P, R]:
    """Compile `function` now, as a C function that kernels receive as an argument and call through a pointer.

    Numba copies the code of every callee into its caller and optimises the copy again, up to the outermost caller. A
    call through a pointer avoids the copies: it halved the compile time of the level solver and its callers, from 106 s
    to 53 s. `SLP_VECTORIZE`, which numba leaves off by default, lets LLVM turn equal statements on neighbouring numbers
    into vector operations.

    Args:
        function: The function to compile.
        signature: Its types, as numba writes them.
    """
    if numba.config.DISABLE_JIT:
        return function
    with _setting("SLP_VECTORIZE", 1):
        options = {"error_model": "numpy", "_nrt": False}
        compiled = use_cache(CFunc(function, normalize_signature(signature), {}, options), function)
        compiled.compile()
        return cast("Callable[P, R]", compiled)


@contextmanager
def _setting(name: str, value: object) -> Iterator[None]:
    """Set `numba.config.<name>` to `value` inside a `with` block."""
    previous = getattr(numba.config, name)
    setattr(numba.config, name, value)
    try:
        yield
    finally:
        setattr(numba.config, name, previous)


def _compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    """Apply `numba.njit` with our cache and with IEEE division by zero."""
    compiled = numba.njit(error_model="numpy", **options)(function)
    if numba.config.DISABLE_JIT:
        return function
    _ignore_constants(compiled)
    return cast("Callable[P, R]", use_cache(compiled, function))


def _ignore_constants(dispatcher: Any) -> None:
    """Make a call from another kernel use the same code for a constant argument as for any number of its type."""
    resolve = dispatcher.get_call_template

    def resolve_any(arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in keywords.items()}
        return resolve(tuple(types.unliteral(kind) for kind in arguments), plain)

    dispatcher.get_call_template = resolve_any
