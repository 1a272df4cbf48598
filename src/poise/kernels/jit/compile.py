"""The one decorator of all compiled code; `cache` says where its machine code is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast, overload

import numba

from poise.kernels.jit.cache import cache_folder

P = ParamSpec("P")
R = TypeVar("R")


@overload
def kernel(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def kernel(*, counts_references: bool = False, inline: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def kernel(function: Callable[P, R] | None = None, *, counts_references: bool = False, inline: bool = False) -> Any:
    """Compile `function` on its first call and keep the machine code on disk.

    Args:
        function: What to compile.
        counts_references: Needed by a function that makes arrays other than views of its arguments, or that hands an
            array to a function which counts references. Without it numba counts none, which otherwise costs several
            nanoseconds per array and call, arrays inside tuples included.
        inline: The function becomes part of every kernel that calls it. A call passes tuples of arrays number by
            number, hundreds of them, needed or not: for functions that do little, or have one caller.
    """
    return decorated(function, counts_references, forceinline=inline)


@overload
def inner_kernel(function: Callable[P, R]) -> Callable[P, R]: ...


@overload
def inner_kernel(*, counts_references: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def inner_kernel(function: Callable[P, R] | None = None, *, counts_references: bool = False) -> Any:
    """A `kernel` for other kernels only, without a way in from Python.

    The way in takes apart its arguments, which for tuples of many arrays takes longer to compile than the function.
    """
    return decorated(function, counts_references, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def decorated(function: Callable[P, R] | None, counts_references: bool, **options: bool) -> Any:
    """The function compiled with options of numba's, or, without one, what compiles it."""
    # Said explicitly, since a function that leaves it open inherits it from whoever calls it first.
    options["_nrt"] = counts_references
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


def indirect_kernel(function: Callable[P, R], signature: str) -> Callable[P, R]:
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
    with _setting("CACHE_LOCATOR_CLASSES", f"{__name__}.Locator"):
        return cast("Callable[P, R]", decorate(function))


class Locator:
    """Tells numba where the machine code of a function is kept; `cache_folder` alone decides whether it is fresh.

    Numba's own locators name the index of a function after its line, and stamp it with its file.
    """

    def __init__(self, folder: str) -> None:
        """Keep machine code in a folder."""
        self._folder = folder

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Locator:
        """The locator of a function; its folder is made."""
        folder = cache_folder(function.__module__)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(str(folder))

    def ensure_cache_path(self) -> None:
        """Make the folder, should it have gone."""
        Path(self._folder).mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        """The folder."""
        return self._folder

    def get_source_stamp(self) -> str:
        """The same always: another source has another folder."""
        return ""

    def get_disambiguator(self) -> str:
        """None is needed: a module's functions have different names."""
        return ""
