"""Every kernel is compiled for one list of argument types, so that nothing is compiled and loaded twice."""

import importlib
import pickle
from collections import defaultdict

import pytest

from poise.kernels.jit import cache
from poise.kernels.jit.code_file import unpack

SEVERAL = {
    "levels.equality_solve.reflect": "loops over blocks count in uint64, which saves a check for negative indices",
    "levels.equality_solve.reflect_columns": "as `reflect`",
}
"""Kernels that have a reason to be compiled for several lists of argument types."""


def compiled_types() -> dict[str, set[tuple[object, ...]]]:
    """The lists of argument types of each kernel that `poise compile` has compiled."""
    found = defaultdict(set)
    end = cache._marker().stat().st_mtime
    for name in cache.every_source():
        module = f"{cache.KERNELS_PACKAGE}.{name[:-3].replace('/', '.')}"
        importlib.import_module(module)  # it defines the types in the files
        for file in cache.cache_folder(module).glob("*.code"):
            if file.stat().st_mtime <= end:
                signature = pickle.loads(unpack(file.read_bytes())[0])[0]
                kernel = f"{module.removeprefix(cache.KERNELS_PACKAGE)[1:]}.{file.name.split('-')[0]}"
                found[kernel].add(tuple(getattr(signature, "args", signature)))
    return found


@pytest.mark.skipif(not cache.marked_complete(), reason="not all kernels are compiled on this machine: `poise compile`")
def test_kernels_are_compiled_for_one_list_of_argument_types():
    several = {kernel: lists for kernel, lists in compiled_types().items() if len(lists) > 1}
    unlisted = {kernel: differences(lists) for kernel, lists in several.items() if kernel not in SEVERAL}
    assert not unlisted, "make the arguments alike where they are made, or add a reason to SEVERAL:\n" + "\n".join(
        f"{kernel}: {'; '.join(found)}" for kernel, found in unlisted.items()
    )
    assert set(SEVERAL) == set(several), "SEVERAL lists kernels that have one list of argument types"


def differences(lists: set[tuple[object, ...]]) -> list[str]:
    """The types of each argument that has several, as sentences."""
    columns = zip(*lists, strict=False)
    return [
        f"argument {i} is {' or '.join(sorted(set(map(str, column))))}"
        for i, column in enumerate(columns)
        if len(set(column)) > 1
    ]
