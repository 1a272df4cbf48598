"""Kernels that are compiled because another kernel calls them get no entry point from Python and no machine code.

Numba compiles each kernel for itself, with an entry point from Python, and then copies its LLVM code into every kernel
that calls it; of a thousand kernels, Python calls a hundred. For the others the LLVM code is enough. Leaving out the
rest takes a quarter off the time that all kernels take to compile (from 620 s to 455 s of one core). If Python calls
such a kernel later, it is compiled again, with all that belongs to it.

Touches these internals of numba 0.68: the flags `no_compile`, `no_cpython_wrapper` and `no_cfunc_wrapper`, set in
`_FunctionCompiler._customize_flags`; `Dispatcher.add_overload` and `overloads`; `BaseContext.insert_user_function`,
which identifies a function by its entry point; `CPUCodeLibrary._finalize_final_module`, which makes machine code; and
`CompileResult._find_referenced_environments` with `set_env`, which stores what a function knows of Python.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite.binding import parse_bitcode  # type: ignore[import-untyped]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.sigutils import normalize_signature


class _Depth(threading.local):
    """How many kernels this thread is compiling, each because the one before calls it."""

    kernels = 0


_depth = _Depth()


class NoEntryPoint:
    """Stands for the entry point of a kernel that has none; numba identifies kernels by it."""


class InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel to copy into its callers, for which LLVM generates no machine code."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def is_inner() -> bool:
    """Whether the kernel that is being compiled or loaded is called by a kernel that is being compiled."""
    return _depth.kernels > 1


@contextmanager
def compiling() -> Iterator[None]:
    """A context in which a kernel is compiled or loaded: the outermost for Python, those inside for their callers."""
    _depth.kernels += 1
    try:
        yield
    finally:
        _depth.kernels -= 1


def allow_inner(dispatcher: Any) -> None:
    """Make a dispatcher of numba compile a kernel without entry point where that is enough."""
    compiler, add_overload = dispatcher._compiler, dispatcher.add_overload
    customize = compiler._customize_flags

    def customize_flags(flags: Any) -> Any:
        flags = customize(flags)
        if is_inner():
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return flags

    def add(result: CompileResult) -> None:
        if result.entry_point is None:
            result.library.__class__ = InnerLibrary
            result = result._replace(entry_point=NoEntryPoint())
            dispatcher.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
        if isinstance(result.entry_point, NoEntryPoint):
            dispatcher.overloads[tuple(result.signature.args)] = result
        else:
            add_overload(result)

    compiler._customize_flags, dispatcher.add_overload = customize_flags, add


def forget_inner(dispatcher: Any, signature: Any) -> None:
    """Before a call from Python: discard a kernel for these types that has no entry point."""
    types = tuple(normalize_signature(signature)[0])
    known = dispatcher.overloads.get(types)
    if known is not None and isinstance(known.entry_point, NoEntryPoint):
        del dispatcher.overloads[types]


def reduced(result: CompileResult) -> tuple[str, list[Any], bytes]:
    """The name of a kernel without entry point, what numba knows of it, and its bitcode."""
    bitcode = result.library._get_module_for_linking().as_bitcode()
    result.fndesc.typemap = result.fndesc.calltypes = None
    known = [result.fndesc, result.environment, result.signature, result.objectmode, result.lifted, result.reload_init]
    return result.library.name, [*known, tuple(result._find_referenced_environments())], bitcode


def rebuilt(name: str, known: list[Any], bitcode: Callable[[], bytes], context: Any) -> CompileResult:
    """The kernel from `reduced`; its bitcode is parsed when a caller is compiled."""
    descriptor, environment, signature, objectmode, lifted, reload_init, environments = known
    for call in reload_init:
        call()
    library = context.codegen().create_library(name)
    library.__class__, library._finalized = InnerLibrary, True
    library._get_module_for_linking = cache(lambda: parse_bitcode(bitcode()))
    return CompileResult(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=NoEntryPoint(),
        typing_error=None,
        type_annotation="",
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        fndesc=descriptor,
        library=library,
        call_helper=None,
        environment=environment,
        metadata=None,
        reload_init=reload_init,
        referenced_envs=environments,
    )


def set_environments(result: CompileResult) -> None:
    """Do for the kernels that are copied into `result` what numba does for those with an entry point."""
    for environment in result._find_referenced_environments():
        result.library.codegen.set_env(environment.env_name, environment)
