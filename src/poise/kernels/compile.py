"""The one decorator of all compiled code.

Numba's disk cache watches only the file of the cached function: an edit to a function it *calls* in another file goes
unnoticed, and so does `NUMBA_BOUNDSCHECK`. The machine code of each module is therefore kept in a folder named after a
digest of its source, of every kernel source it imports, of where they are, and of that flag: what runs is always what
is written, and an edit compiles again only what it can change.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast, overload

import numba

KEPT_FOR = 30.0 * 24.0 * 3600.0
"""Age at which the machine code of other versions is removed [s]."""

_IMPORT = re.compile(r"^\s*from poise\.kernels\.(\w+) import", re.MULTILINE)

P = ParamSpec("P")
R = TypeVar("R")


def user_cache() -> Path:
    """The folder in which this user's programs keep what they can compute again."""
    if override := os.environ.get("POISE_CACHE_DIR"):
        return Path(override)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "poise"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "poise"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "poise"


def sources_of(module: str) -> list[Path]:
    """The source of a kernel module and of every kernel module it imports, directly or not."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        source = Path(__file__).parent / f"{name}.py"
        if name not in found and source.exists():
            found[name] = source
            waiting += _IMPORT.findall(source.read_text(encoding="utf-8"))
    return [found[name] for name in sorted(found)]


def source_digest(sources: Sequence[Path]) -> str:
    """Twelve hexadecimal digits that change with these sources, with their folder and with bounds checking."""
    digest = hashlib.sha256(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    digest.update(str(Path(__file__).parent).encode())
    for source in sources:
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


@cache
def cache_folder(module: str) -> Path:
    """Where the machine code of the kernels of a module is kept."""
    return user_cache() / f"kernels-{module}-{source_digest(sources_of(module))}"


def _every_module() -> list[str]:
    return sorted(source.stem for source in Path(__file__).parent.glob("*.py"))


def _complete() -> Path:
    every = [Path(__file__).parent / f"{module}.py" for module in _every_module()]
    return user_cache() / f"complete-{source_digest(every)}"


def is_warm() -> bool:
    """Whether every kernel has been compiled on this machine (see `mark_warm`)."""
    return bool(numba.config.DISABLE_JIT) or _complete().exists()


def mark_warm() -> None:
    """Remember that every kernel has been compiled, and forget what nothing has used for a month."""
    if not user_cache().is_dir():
        return
    _complete().touch()
    ours = {_complete(), *map(cache_folder, _every_module())}
    for other in [*user_cache().glob("kernels-*"), *user_cache().glob("complete-*")]:
        if other not in ours and time.time() - other.stat().st_mtime > KEPT_FOR:
            shutil.rmtree(other, ignore_errors=True) if other.is_dir() else other.unlink(missing_ok=True)


@overload
def kernel(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def kernel(*, borrows: bool, spread: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def kernel(function: Callable[P, R] | None = None, *, borrows: bool = False, spread: bool = False) -> Any:
    """Compile `function` on its first call and keep the machine code on disk.

    Args:
        function: What to compile.
        borrows: The function makes no arrays but views of what it is given and hands no array back to a function that
            does not borrow. Numba then counts no references in it, which otherwise costs several nanoseconds per array
            and call, those inside tuples included.
        spread: The function becomes part of every kernel that calls it. A call passes tuples of arrays number by
            number, hundreds of them, needed or not: for functions that do little, or have one caller.
    """
    return decorated(function, borrows, forceinline=spread)


@overload
def inner_kernel(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def inner_kernel(*, borrows: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def inner_kernel(function: Callable[P, R] | None = None, *, borrows: bool = False) -> Any:
    """A `kernel` for other kernels only, without a way in from Python.

    The way in takes apart its arguments, which for tuples of many arrays takes longer to compile than the function.
    """
    return decorated(function, borrows, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def decorated(function: Callable[P, R] | None, borrows: bool, **options: bool) -> Any:
    """The function compiled with options of numba's, or, without one, what compiles it."""
    # Said explicitly, since a function that leaves it open inherits it from whoever calls it first.
    options["_nrt"] = not borrows
    if function is None:
        return lambda later: _compiled(later, **options)
    return _compiled(function, **options)


def straight_to(kernel: Callable[P, R], *arguments: Any) -> Callable[P, R]:
    """The kernel for arguments of just the types of these, which nobody then looks at: half a microsecond a call."""
    if numba.config.DISABLE_JIT:
        return kernel
    return cast("Callable[P, R]", overload_for(kernel, arguments).entry_point)


def overload_for(kernel: Any, arguments: Sequence[Any]) -> Any:
    """What numba has compiled, or compiles now, for arguments of these types."""
    signature = tuple(numba.typeof(argument) for argument in arguments)
    kernel.compile(signature)
    return kernel.overloads[signature]


def far_kernel(function: Callable[P, R], signature: str) -> Callable[P, R]:
    """Compile `function` now, for kernels that are passed it and call it through a pointer.

    Numba copies the code of whatever a kernel calls into that kernel and optimises it again, and so on up to the first
    caller. A pointer ends that: the large function is compiled once, whoever calls it. Statements in a row that do the
    same to neighbouring numbers become vector operations, which numba does not try elsewhere.
    """
    if numba.config.DISABLE_JIT:
        return function
    with _setting("SLP_VECTORIZE", 1):
        return _cached(numba.cfunc(signature, cache=True, error_model="numpy", _nrt=False), function)


@contextmanager
def _setting(name: str, value: object) -> Iterator[None]:
    """Numba with another setting."""
    previous = getattr(numba.config, name)
    setattr(numba.config, name, value)
    try:
        yield
    finally:
        setattr(numba.config, name, previous)


def _compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    return _cached(numba.njit(cache=True, error_model="numpy", **options), function)


def _cached(decorate: Any, function: Callable[P, R]) -> Callable[P, R]:
    """The function compiled, its machine code kept in our folder."""
    with _setting("CACHE_DIR", str(cache_folder(function.__module__.rpartition(".")[2]))):
        return cast("Callable[P, R]", decorate(function))
