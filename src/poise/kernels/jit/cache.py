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
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

KERNELS_FOLDER = Path(__file__).parents[1]
"""The folder of all kernel sources."""
KERNELS_PACKAGE = "poise.kernels"
"""The import path of that folder."""
MAX_CACHE_AGE = 30.0 * 24.0 * 3600.0
"""Machine code of other versions is deleted once it is older than this [s]."""
NOT_COMPILED = ("jit/cache.py",)
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
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "poise"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "poise"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "poise"


def source_name(module: str) -> str:
    """The path of a kernel module in `KERNELS_FOLDER`: 'body/tree.py' for 'poise.kernels.body.tree'."""
    return module.removeprefix(f"{KERNELS_PACKAGE}.").replace(".", "/") + ".py"


def read_source(name: str) -> Source:
    """Parse one source file, given relative to `KERNELS_FOLDER`, and digest its syntax tree without docstrings."""
    tree = ast.parse((KERNELS_FOLDER / name).read_text(encoding="utf-8"))
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
    """The parsed sources that the last process saved, by name: [folder, time of change, size, digest, imports]."""
    try:
        found: dict[str, Any] = json.loads((user_cache() / "sources.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


@cache
def source(name: str) -> Source:
    """The digest and imports of a source; the file is parsed only if its time or size has changed since last time."""
    state = (KERNELS_FOLDER / name).stat()
    stamp = [str(KERNELS_FOLDER), state.st_mtime_ns, state.st_size]
    entry = _saved_sources().get(name)
    if entry is not None and entry[:3] == stamp:
        return Source(entry[3], tuple(entry[4]))
    found = read_source(name)
    _saved_sources()[name] = [*stamp, found.digest, list(found.imports)]
    return found


def save_sources() -> None:
    """Save the parsed sources for the next process; does nothing if the cache folder cannot be written."""
    try:
        user_cache().mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=user_cache(), suffix=".json", delete=False) as file:
            json.dump(_saved_sources(), file)
        Path(file.name).replace(user_cache() / "sources.json")
    except OSError:
        return


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
def cache_folder(module: str) -> Path:
    """The folder that holds the machine code of one kernel module."""
    name = source_name(module)
    return user_cache() / f"kernels-{name[:-3].replace('/', '.')}-{source_digest(dependencies(name))}"


def every_source() -> list[str]:
    """All kernel sources, relative to `KERNELS_FOLDER`, sorted."""
    return sorted(path.relative_to(KERNELS_FOLDER).as_posix() for path in KERNELS_FOLDER.rglob("*.py"))


def _complete_marker() -> Path:
    """The marker file that exists once all kernels of this version are compiled."""
    return user_cache() / f"complete-{source_digest(name for name in every_source() if name not in NOT_COMPILED)}"


def is_complete() -> bool:
    """Whether all kernels of this version are compiled (see `mark_complete`), or compilation is switched off."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"} or _complete_marker().exists()


def mark_complete() -> None:
    """Record that all kernels are compiled, and delete machine code of other versions older than `MAX_CACHE_AGE`."""
    if not user_cache().is_dir():
        return
    _complete_marker().touch()
    save_sources()
    modules = (f"{KERNELS_PACKAGE}.{name[:-3].replace('/', '.')}" for name in every_source())
    ours = {_complete_marker(), *map(cache_folder, modules)}
    for other in [*user_cache().glob("kernels-*"), *user_cache().glob("complete-*")]:
        if other not in ours and time.time() - other.stat().st_mtime > MAX_CACHE_AGE:
            shutil.rmtree(other, ignore_errors=True) if other.is_dir() else other.unlink(missing_ok=True)
