"""Where machine code is kept, and when it is compiled anew.

Numba's disk cache watches only the file of the cached function: an edit to a function it *calls* in another file goes
unnoticed, and so does `NUMBA_BOUNDSCHECK`; an edit to a comment, on the other hand, compiles everything again. The
machine code of each module is therefore kept in a folder named after a digest of what its source and every kernel
source that it imports *say* (their syntax trees, without docstrings and comments) and of that flag. What runs is always
what is written, an edit compiles again only what it can change, and a checkout elsewhere finds the same machine code.
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

KERNELS = Path(__file__).parents[1]
"""The folder of all kernels."""
PACKAGE = "poise.kernels"
KEPT_FOR = 30.0 * 24.0 * 3600.0
"""Age at which the machine code of other versions is removed [s]."""
NOT_COMPILED = ("jit/cache.py",)
"""Sources that change where machine code is kept but not the code."""


class Source(NamedTuple):
    """What one source file says."""

    digest: str
    """Of its syntax tree without docstrings."""
    imports: tuple[str, ...]
    """Kernel sources that it imports, relative to `KERNELS`."""


def user_cache() -> Path:
    """The folder in which this user's programs keep what they can compute again."""
    if override := os.environ.get("POISE_CACHE_DIR"):
        return Path(override)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "poise"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "poise"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "poise"


def source_name(module: str) -> str:
    """The source of a kernel module, relative to `KERNELS`: 'body/tree.py' for 'poise.kernels.body.tree'."""
    return module.removeprefix(f"{PACKAGE}.").replace(".", "/") + ".py"


def read_source(name: str) -> Source:
    """Parse one source."""
    tree = ast.parse((KERNELS / name).read_text(encoding="utf-8"))
    imports: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            imports.update(_imported(str(node.module), [alias.name for alias in node.names]))
        elif isinstance(node, ast.Import):
            imports.update(source_name(alias.name) for alias in node.names if alias.name.startswith(f"{PACKAGE}."))
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return Source(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(sorted(imports)))


def _imported(module: str, names: Iterable[str]) -> list[str]:
    """The sources of `from module import names`: the module itself, or modules of a package."""
    if (KERNELS / source_name(module)).exists():
        return [source_name(module)]
    return [found for name in names if (KERNELS / (found := source_name(f"{module}.{name}"))).exists()]


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)


@cache
def _known() -> dict[str, Any]:
    """What sources said when they were parsed last, by name: when they were changed, their size, digest and imports."""
    try:
        found: dict[str, Any] = json.loads((user_cache() / "sources.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


@cache
def source(name: str) -> Source:
    """What a source says, parsed only if it has changed since it was parsed last."""
    state = (KERNELS / name).stat()
    stamp = [str(KERNELS), state.st_mtime_ns, state.st_size]
    entry = _known().get(name)
    if entry is not None and entry[:3] == stamp:
        return Source(entry[3], tuple(entry[4]))
    found = read_source(name)
    _known()[name] = [*stamp, found.digest, list(found.imports)]
    return found


def remember_sources() -> None:
    """Keep what was parsed for the next process; a folder that cannot be written is no matter."""
    try:
        user_cache().mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=user_cache(), suffix=".json", delete=False) as file:
            json.dump(_known(), file)
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
        if name not in found and name not in NOT_COMPILED and (KERNELS / name).exists():
            found.add(name)
            waiting += source(name).imports
    return frozenset(found)


def source_digest(names: Iterable[str]) -> str:
    """Twelve hexadecimal digits that change with what these sources say and with bounds checking."""
    digest = hashlib.sha256(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    for name in sorted(names):
        digest.update(f"{name}:{source(name).digest}\n".encode())
    return digest.hexdigest()[:12]


@cache
def cache_folder(module: str) -> Path:
    """Where the machine code of the kernels of a module is kept."""
    name = source_name(module)
    return user_cache() / f"kernels-{name[:-3].replace('/', '.')}-{source_digest(dependencies(name))}"


def every_source() -> list[str]:
    """All kernel sources."""
    return sorted(path.relative_to(KERNELS).as_posix() for path in KERNELS.rglob("*.py"))


def _complete() -> Path:
    return user_cache() / f"complete-{source_digest(name for name in every_source() if name not in NOT_COMPILED)}"


def is_complete() -> bool:
    """Whether every kernel has been compiled on this machine (see `mark_complete`), or none is to be."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"} or _complete().exists()


def mark_complete() -> None:
    """Remember that every kernel has been compiled, and forget what nothing has used for a month."""
    if not user_cache().is_dir():
        return
    _complete().touch()
    remember_sources()
    modules = (f"{PACKAGE}.{name[:-3].replace('/', '.')}" for name in every_source())
    ours = {_complete(), *map(cache_folder, modules)}
    for other in [*user_cache().glob("kernels-*"), *user_cache().glob("complete-*")]:
        if other not in ours and time.time() - other.stat().st_mtime > KEPT_FOR:
            shutil.rmtree(other, ignore_errors=True) if other.is_dir() else other.unlink(missing_ok=True)
