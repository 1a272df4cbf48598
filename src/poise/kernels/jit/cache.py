"""The disk cache of compiled kernels: its folders, and when a kernel is compiled again.

Numba's own disk cache checks only the file of the cached function. It misses an edit to a function that this one calls
in another file, it ignores `NUMBA_BOUNDSCHECK`, and it compiles everything again after an edit to a comment.

Here, each kernel module has a cache folder named after a digest. The digest covers the syntax trees, without docstrings
and comments, of the module and of every kernel module that it imports, directly or not, and the value of
`NUMBA_BOUNDSCHECK`. So the machine code always matches the source, an edit recompiles only the modules that import the
edited one, and another checkout of the same source uses the same machine code.
"""

from __future__ import annotations

import ast
import atexit
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from poise.kernels.jit.code_file import write_file
from poise.kernels.jit.notice import say

KERNELS_FOLDER = Path(__file__).parents[1]
"""The folder of all kernel sources."""
KERNELS_PACKAGE = "poise.kernels"
"""The import path of that folder."""
WARM_UP = KERNELS_FOLDER.parent / "warmup.py"
"""The calls that compile every kernel; after an edit to it there may be more to compile."""
MAX_CACHE_AGE = 30.0 * 24.0 * 3600.0
"""Machine code of other versions is deleted once it is older than this [s]."""
SHIPPED_FOLDER = KERNELS_FOLDER.parent / "machine_code"
"""The machine code that came with the package: see `shipped`."""
NOT_COMPILED = tuple(
    f"jit/{name}.py"
    for name in ("cache", "code_file", "inner_code", "interrupt", "lock", "machine_code", "notice", "shipped")
)
"""Sources left out of every digest, since they decide where machine code is stored but not what it does."""


class Source(NamedTuple):
    """The digest and the imports of one parsed source file."""

    digest: str
    """SHA-256 of the syntax tree without docstrings, in hexadecimal."""
    imports: tuple[str, ...]
    """Kernel sources that the file imports, relative to `KERNELS_FOLDER`."""


def user_cache() -> Path:
    """The cache folder of poise for this user: `POISE_CACHE_DIR`, or the operating system's usual place."""
    if override := os.environ.get("POISE_CACHE_DIR"):
        return Path(override)
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home, as in some containers
        return _temporary_cache()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "poise"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "poise"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else home / ".cache") / "poise"  # a relative one is to be ignored


@cache
def writable_cache() -> Path:
    """`user_cache()`, or a folder for temporary files, which a sentence on stderr names, if that cannot be written."""
    try:
        user_cache().mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=user_cache()).close()
    except OSError as problem:
        instead = _temporary_cache()
        say(
            f"{user_cache()} cannot be written ({(problem.strerror or str(problem)).lower()}), so compiled kernels are"
            f" stored in {instead}; POISE_CACHE_DIR chooses another folder."
        )
        return instead
    return user_cache()


@cache
def _temporary_cache() -> Path:
    """A folder among the temporary files that belongs to this user alone, since loading machine code runs it."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"poise-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
        if stat.S_ISDIR(about.st_mode) and (os.name == "nt" or (about.st_uid == user and not about.st_mode & 0o077)):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="poise-"))


def source_name(module: str) -> str:
    """The path of a kernel module in `KERNELS_FOLDER`: 'body/tree.py' for 'poise.kernels.body.tree'."""
    return module.removeprefix(f"{KERNELS_PACKAGE}.").replace(".", "/") + ".py"


def parse_source(text: bytes) -> Source:
    """Parse the text of one source file and digest its syntax tree without docstrings."""
    tree = ast.parse(text)
    imports: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(KERNELS_PACKAGE):
            imports.update(_imported(str(node.module), [alias.name for alias in node.names]))
        elif isinstance(node, ast.Import):
            imports.update(
                source_name(alias.name) for alias in node.names if alias.name.startswith(f"{KERNELS_PACKAGE}.")
            )
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_docstring(line)]  # type: ignore[attr-defined]
    return Source(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(sorted(imports)))


def _imported(module: str, names: Iterable[str]) -> list[str]:
    """The source files that `from module import names` reads: the module itself, or modules of a package."""
    if (KERNELS_FOLDER / source_name(module)).exists():
        return [source_name(module)]
    return [found for name in names if (KERNELS_FOLDER / (found := source_name(f"{module}.{name}"))).exists()]


def _is_docstring(line: ast.stmt) -> bool:
    """Whether a statement is a string alone, such as a docstring."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)


@cache
def _saved_sources() -> dict[str, Any]:
    """The parsed sources that came with the package or that earlier processes saved: [digest, imports] by SHA-256."""
    found: dict[str, Any] = {}
    for file in (SHIPPED_FOLDER / "sources.json", user_cache() / "sources.json"):
        with suppress(OSError, ValueError):
            found |= json.loads(file.read_text(encoding="utf-8"))
    return found


@cache
def source(name: str) -> Source:
    """The digest and imports of a source, given relative to `KERNELS_FOLDER`; parsed only if no process has before."""
    text = (KERNELS_FOLDER / name).read_bytes()
    key = hashlib.sha256(text + bytes(sys.version_info[:2])).hexdigest()  # syntax trees differ between Pythons
    if key not in _saved_sources():
        atexit.register(save_sources)
        _saved_sources()[key] = parse_source(text)
    digest, imports = _saved_sources()[key]
    return Source(digest, tuple(imports))


def save_sources() -> None:
    """Save the parsed sources for the next process; does nothing if the cache folder cannot be written."""
    atexit.unregister(save_sources)
    with suppress(OSError):
        user_cache().mkdir(parents=True, exist_ok=True)
        write_file(user_cache() / "sources.json", json.dumps(_saved_sources()).encode())


@cache
def dependencies(name: str) -> frozenset[str]:
    """A source and every kernel source that it imports, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in NOT_COMPILED and (KERNELS_FOLDER / name).exists():
            found.add(name)
            waiting += source(name).imports
    return frozenset(found)


def source_digest(names: Iterable[str]) -> str:
    """Twelve hexadecimal digits that depend on the code of these sources and on `NUMBA_BOUNDSCHECK`."""
    digest = hashlib.sha256(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    for name in sorted(names):
        digest.update(f"{name}:{source(name).digest}\n".encode())
    return digest.hexdigest()[:12]


@cache
def folder_name(module: str) -> str:
    """The name of the folder that holds the machine code of one kernel module, in every cache."""
    name = source_name(module)
    return f"kernels-{name[:-3].replace('/', '.')}-{source_digest(dependencies(name))}"


def cache_folder(module: str) -> Path:
    """The folder in the user's cache that holds the machine code of one kernel module."""
    return user_cache() / folder_name(module)


def every_source() -> list[str]:
    """All kernel sources, relative to `KERNELS_FOLDER`, sorted."""
    return sorted(path.relative_to(KERNELS_FOLDER).as_posix() for path in KERNELS_FOLDER.rglob("*.py"))


def every_folder() -> set[str]:
    """The names of the folders of all kernel modules of this version."""
    return {folder_name(f"{KERNELS_PACKAGE}.{name[:-3].replace('/', '.')}") for name in every_source()}


def whole_digest() -> str:
    """A digest of the code of all kernels."""
    return source_digest(name for name in every_source() if name not in NOT_COMPILED)


@cache
def built_for() -> str:
    """What machine code depends on besides its source: the versions of Python and of the compiler, and the processor.

    Environments with different versions, and computers with different processors, may share a cache.
    """
    import llvmlite  # type: ignore[import-untyped]
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    features = llvm.get_host_cpu_features().flatten()
    versions = sys.implementation.cache_tag, getattr(sys, "abiflags", ""), version("numba"), llvmlite.__version__
    return " ".join([*map(str, versions), llvm.get_host_cpu_name(), features])


def _marker() -> Path:
    """The file whose existence says that all kernels that the warm-up calls are compiled, for the code of both."""
    digest = hashlib.sha256(whole_digest().encode() + WARM_UP.read_bytes() + built_for().encode()).hexdigest()[:12]
    return user_cache() / f"complete-{digest}"


def marked_complete() -> bool:
    """Whether all kernels of this version are compiled for this Python and processor: see `mark_complete`."""
    return _marker().exists()


def mark_complete(files: Iterable[str] = ()) -> None:
    """Record that all kernels are compiled, and delete machine code of other versions older than `MAX_CACHE_AGE`.

    Args:
        files: The files of machine code that compiling has loaded or written, relative to the user's cache.
    """
    if not user_cache().is_dir():
        return
    marker = _marker()
    write_file(marker, "\n".join(sorted(set(files))).encode())
    save_sources()
    ours = {marker.name, *every_folder()}
    for other in stored():
        if other.name not in ours and time.time() - other.stat().st_mtime > MAX_CACHE_AGE:
            _delete(other)


def compiled_in_advance() -> list[Path]:
    """The files of machine code that `mark_complete` was told; other calls may have stored more since."""
    return [user_cache() / name for name in _marker().read_text(encoding="utf-8").splitlines()]


def stored() -> list[Path]:
    """The folders of machine code and the markers in the user's cache, of this version and of others."""
    return [*user_cache().glob("kernels-*"), *user_cache().glob("complete-*")]


def clear() -> None:
    """Delete all machine code in the user's cache."""
    for path in [*stored(), *user_cache().glob("sources.json")]:
        _delete(path)


def _delete(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
