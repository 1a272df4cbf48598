"""What `poise compile` compiles: each kernel that poise calls from Python, and each for one list of argument types.

`tests/conftest.py` adds that nothing is compiled while all other tests run.
"""

import ast
import importlib
import pickle
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from poise.kernels.jit import cache
from poise.kernels.jit.code_file import unpack

pytestmark = pytest.mark.skipif(
    not cache.marked_complete(), reason="not all kernels are compiled on this machine: run `poise compile`"
)

SEVERAL = {
    "levels.equality_solve.reflect": "unsigned indices, which numba does not test for negative values, in inner loops",
    "levels.equality_solve.reflect_columns": "as `reflect`",
}
"""Kernels with a reason to be compiled for several lists of argument types."""
CALL_NOTHING = {
    "poise.expressive.launches": "compiles kernels for graphics processors",
    "poise.warmup": "compiles some kernels as if other kernels called them",
}
"""Modules that name kernels without calling them."""


def module_name(source: str) -> str:
    return f"{cache.KERNELS_PACKAGE}.{source[:-3].replace('/', '.')}"


def compiled_types() -> dict[str, set[tuple[object, ...]]]:
    """The lists of argument types for which `poise compile` has compiled each kernel."""
    found = defaultdict(set)
    end = cache._marker().stat().st_mtime
    for module in map(module_name, cache.every_source()):
        importlib.import_module(module)  # it defines the types in the files
        for file in cache.cache_folder(module).glob("*.code"):
            if file.stat().st_mtime <= end:
                signature = pickle.loads(unpack(file.read_bytes())[0])[0]
                kernel = f"{module.removeprefix(cache.KERNELS_PACKAGE)[1:]}.{file.name.split('-')[0]}"
                found[kernel].add(tuple(getattr(signature, "args", signature)))
    return found


def differences(lists: set[tuple[object, ...]]) -> str:
    """Which arguments have several types, and which types."""
    columns = [sorted(set(map(str, column))) for column in zip(*lists, strict=False)]
    return "; ".join(f"argument {i} is {' or '.join(kinds)}" for i, kinds in enumerate(columns) if len(kinds) > 1)


def test_kernels_are_compiled_for_one_list_of_argument_types():
    several = {kernel: lists for kernel, lists in compiled_types().items() if len(lists) > 1}
    unlisted = [f"{kernel}: {differences(lists)}" for kernel, lists in several.items() if kernel not in SEVERAL]
    assert not unlisted, "make the arguments alike where they are made, or give a reason in SEVERAL"
    assert set(SEVERAL) == set(several), "SEVERAL names a kernel that has one list of argument types"


def called_kernels(source: Path) -> Iterator[object]:
    """The kernels that a source file of poise imports and uses, by their own name or as attributes of a module."""
    nodes, names, modules = list(ast.walk(ast.parse(source.read_bytes()))), {}, {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(cache.KERNELS_PACKAGE):
            for alias in node.names:
                found = getattr(importlib.import_module(str(node.module)), alias.name)
                (modules if isinstance(found, ModuleType) else names)[alias.asname or alias.name] = found
    for node in nodes:
        if isinstance(node, ast.Name):
            yield names.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield getattr(modules.get(node.value.id), node.attr, None)


def test_every_kernel_that_poise_calls_from_python_has_an_entry_point():
    package, missing = cache.KERNELS_FOLDER.parent, set()
    for source in package.rglob("*.py"):
        caller = ".".join(["poise", *source.relative_to(package).with_suffix("").parts])
        if caller in CALL_NOTHING or caller.startswith(cache.KERNELS_PACKAGE):
            continue
        for kernel in called_kernels(source):
            if function := getattr(kernel, "py_func", None):
                stored = cache.cache_folder(function.__module__).glob(f"{function.__name__}-*.code")
                if all(file.name.endswith(".inner.code") for file in stored):
                    missing.add(f"{function.__module__}.{function.__name__}, called by {caller}")
    assert not missing, "let `poise.warmup` call them"
