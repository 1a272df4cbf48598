"""Loads the machine code of a kernel from the cache or from the package, and stores what had to be compiled.

Numba's own cache keeps an index file per function. Two processes that store code for different types at one moment lose
one of them, a truncated file raises `UnpicklingError` at every start, and nothing stops two processes from compiling
the same kernel. Here each kernel and list of argument types has one file with a checksum, written in one piece under a
lock, and a file that cannot be read is compiled again.

Numba keeps all that it made on the way until the process ends. What nothing needs once a kernel is stored is released
here, a third of the memory: the annotated source, and a module of LLVM for each kernel.

Touches these internals of numba 0.68: the interface `numba.core.caching._Cache`, the attributes `_cache`, `_compiler`
and `compile` of dispatchers and `CFunc`, `CompileResult._reduce` and `_rebuild`, `CodeLibrary._final_module`,
`_shared_module` and `_get_module_for_linking`, `JitEngine._defined_symbols` (see `_rebuilt`), and
`codegen().magic_tuple()`, which names the processor.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_assembly, parse_bitcode  # type: ignore[import-untyped]
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from poise.kernels.jit import inner_code, shipped
from poise.kernels.jit.cache import folder_name, marked_complete, user_cache, writable_cache
from poise.kernels.jit.code_file import pack, unpack, write_file
from poise.kernels.jit.interrupt import interrupt, stopped
from poise.kernels.jit.lock import FileLock
from poise.kernels.jit.notice import progress, say

when_missing: list[Callable[[str], object]] = []
"""Called before this process compiles a kernel that Python calls, with its name and the types of its arguments; may
raise an error to prevent it."""
used_files: list[Path] = []
"""The files in the user's cache that this process has loaded or written."""


def is_complete() -> bool:
    """Whether no kernel is left to compile: all are stored or came with the package, or compilation is switched off."""
    off = os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}
    return off or shipped.is_usable() or marked_complete()


def use_cache(compiled: Any, function: Callable[..., Any]) -> Any:
    """Make a dispatcher or C function of numba load and store its machine code with a `KernelCache`."""
    compiled._cache = store = KernelCache(function)
    compile_now, annotated = compiled.compile, compiled._compiler.compile
    # The annotated source is an eighth of the stored code, and read by `inspect_types` alone.
    compiled._compiler.compile = lambda *types: annotated(*types)._replace(type_annotation="")
    if is_dispatcher := hasattr(compiled, "overloads"):
        inner_code.allow_inner(compiled)

    def compile_or_load(*signature: Any) -> Any:
        outer_locks = len(store.locks)
        try:
            with inner_code.compiling():
                if is_dispatcher and not inner_code.is_inner():
                    inner_code.forget_inner(compiled, *signature)
                result = compile_now(*signature)
        except KeyboardInterrupt:
            if len(store.locks) > outer_locks and not progress.is_nested:
                raise stopped() from None  # without the frames of the compiler
            raise
        finally:
            was_compiled = len(store.locks) > outer_locks
            store.release(outer_locks)
        if was_compiled and interrupt.happened:
            raise stopped()
        return result

    compiled.compile = compile_or_load
    return compiled


class KernelCache(_Cache):  # type: ignore[misc]
    """The machine code of one kernel: numba calls `load_overload`, compiles if it is None, and saves the result."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """The cache of `function`, which has not been compiled for any types yet."""
        self._function = function
        self.locks: list[FileLock] = []
        """One for each list of types that is being compiled; more than one if the kernel calls itself."""

    @property
    def cache_path(self) -> str:
        """The folder of the machine code."""
        return str(user_cache() / self._folder)

    @property
    def _folder(self) -> str:
        return folder_name(self._function.__module__)

    def load_overload(self, signature: Any, context: Any) -> CompileResult | None:
        """The machine code for these types; None, and a lock until `release`, if it has to be compiled."""
        context.refresh()
        entry = name = self._file_name(signature, context.codegen().magic_tuple())
        found = self._load(user_cache(), entry, signature, context) or self._load_shipped(signature, context)
        if found is None and inner_code.is_inner():
            name = _inner_name(entry)
            found = self._load(user_cache(), name, signature, context)
        if found is not None:
            return found
        if not inner_code.is_inner():
            for call in when_missing:
                call(f"{self._function.__module__}.{self._function.__qualname__} for {_listed(signature)}")
        _explain()
        folder = writable_cache() / self._folder
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        self.locks.append(FileLock(folder / f"{name}.lock"))
        progress.start()
        self.locks[-1].acquire()
        return self._load(writable_cache(), name, signature, context)

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        """Store machine code."""
        is_inner = isinstance(result.library, inner_code.InnerLibrary)
        result.library._ensure_finalized()
        if not is_inner:
            inner_code.set_environments(result)
        if not result.library.has_dynamic_globals:
            code, bitcode = (_reduced_inner if is_inner else _reduced)(signature, result)
            folder = writable_cache() / self._folder
            with suppress(OSError):  # a full disk: the kernel works, and is compiled again next time
                name = self._file_name(signature, result.codegen.magic_tuple())
                file = folder / (_inner_name(name) if is_inner else name)
                write_file(file, pack(code, bitcode))
                used_files.append(file)
            _release_module(result.library, bitcode, is_inner=is_inner)

    def release(self, kept: int) -> None:
        """Release the locks that were taken after the first `kept`, whether compiling succeeded or not."""
        while len(self.locks) > kept:
            self.locks.pop().release()
            progress.stop()

    def _file_name(self, signature: Any, target: tuple[str, str, str]) -> str:
        """The kernel's name and a digest of its argument types, its code, the processor and the libraries' versions."""
        cells = [repr(cell.cell_contents) for cell in self._function.__closure__ or ()]
        code = self._function.__code__.co_code.hex()
        key = "\n".join([str(signature), *target, code, *cells, *shipped.versions().values()])
        return f"{self._function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"

    def _load(self, where: Path, name: str, signature: Any, context: Any) -> CompileResult | None:
        file = where / self._folder / name
        try:
            code, bitcode = unpack(file.read_bytes())
        except OSError:
            return None
        found = _rebuilt(code, lambda: bitcode, signature, context)
        if found is not None:
            used_files.append(file)
        return found

    def _load_shipped(self, signature: Any, context: Any) -> CompileResult | None:
        if not shipped.is_usable():
            return None
        name, folder = self._file_name(signature, tuple(shipped.manifest()["target"])), self._folder
        code = shipped.read(folder, f"{name}.xz")
        return _rebuilt(code, lambda: shipped.read(folder, f"{name}.bitcode.xz"), signature, context)

    def enable(self) -> None:
        """Do nothing: a kernel is always stored."""

    def disable(self) -> None:
        """Do nothing: a kernel is always stored."""

    def flush(self) -> None:
        """Do nothing: an edited kernel gets another folder."""


def _listed(signature: Any) -> str:
    """The types of a signature, or of a tuple of arguments, as numba prints them."""
    return ", ".join(map(str, getattr(signature, "args", signature)))


def _inner_name(name: str) -> str:
    """The name of the file of a kernel without entry point, by that of the kernel with one."""
    return f"{name.removesuffix('.code')}.inner.code"


def _reduced_inner(signature: Any, result: CompileResult) -> tuple[bytes, bytes]:
    """A kernel without entry point as bytes, and its bitcode."""
    name, known, bitcode = inner_code.reduced(result)
    return dumps((signature, name, None, (), known)), bitcode


def _reduced(signature: Any, result: CompileResult) -> tuple[bytes, bytes]:
    """A compiled kernel as bytes, and its bitcode."""
    module = result.library._get_module_for_linking()
    symbols = [x.name for names in (module.functions, module.global_variables) for x in names if not x.is_declaration]
    (name, _, (code, bitcode)), *parts = result._reduce()
    return dumps((signature, name, code, symbols, parts)), bitcode


def _release_module(library: Any, bitcode: bytes, *, is_inner: bool) -> None:
    """Release a module of LLVM that is not needed once a kernel is stored.

    A kernel without entry point is copied into its callers from `_shared_module`, so that `_final_module` is of no use.
    The machine code of one with an entry point belongs to `_final_module`; hardly any other kernel calls it.
    """
    if is_inner:
        library._final_module = None
    else:
        library._shared_module = None
        library._get_module_for_linking = cache(lambda: parse_bitcode(bitcode))


def _rebuilt(content: bytes, bitcode: Callable[[], bytes], signature: Any, context: Any) -> CompileResult | None:
    """The compiled kernel from `_reduced`; None if there is none, or if it is for other types of the same names.

    Numba parses the bitcode of every kernel that it loads, in case another kernel is compiled that calls it; it takes
    four fifths of the time. Here `_get_module_for_linking` parses it when that happens.
    """
    if not content:
        return None
    stored, name, code, symbols, parts = pickle.loads(content)
    if stored != signature:
        return None
    if code is None:
        return inner_code.rebuilt(name, parts, bitcode, context)
    context.codegen()._engine._defined_symbols.update(symbols)
    result = CompileResult._rebuild(context, (name, "object", (code, _empty_bitcode())), *parts)
    result.library._get_module_for_linking = cache(lambda: parse_bitcode(bitcode()))
    return result


@cache
def _empty_bitcode() -> bytes:
    """The bitcode of a module without functions."""
    found: bytes = parse_assembly("").as_bitcode()
    return found


@cache
def _explain() -> None:
    """Say why the machine code that came with the package is not used."""
    if reason := shipped.why_unusable():
        say(f"the machine code that came with poise cannot be used: {reason}. Compiling instead.")
