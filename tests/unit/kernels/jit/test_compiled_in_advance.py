"""What `poise compile` compiles: each kernel that poise calls from Python, and each for one list of argument types.

`tests/conftest.py` adds that nothing is compiled while all other tests run.
"""

import ast
import importlib
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import poise
from poise import chains
from poise.kernels.jit import cache
from poise.kernels.jit.code_file import unpack
from poise.motion.retarget.smoothing import Style

pytestmark = pytest.mark.skipif(
    not cache.marked_complete(), reason="not all kernels are compiled on this machine: run `poise compile`"
)

SEVERAL = {
    "levels.equality_solve.reflect": "unsigned indices, which numba does not test for negative values, in inner loops",
    "levels.equality_solve.reflect_columns": "as `reflect`",
}
"""Kernels with a reason to be compiled for several lists of argument types."""
CALL_NOTHING = {
    "poise.evaluation.erik.cuda_tally": "compiles kernels for graphics processors",
    "poise.expressive.launches": "compiles kernels for graphics processors",
    "poise.warmup": "compiles some kernels as if other kernels called them",
}
"""Modules that name kernels without calling them."""


def module_name(source: str) -> str:
    return f"{cache.KERNELS_PACKAGE}.{source[:-3].replace('/', '.')}"


def compiled_types() -> dict[str, set[tuple[object, ...]]]:
    """The lists of argument types for which `poise compile` has compiled each kernel, or loaded it."""
    found = defaultdict(set)
    for module in map(module_name, cache.every_source()):
        importlib.import_module(module)  # it defines the types in the files
        inside = cache.cache_folder(module)
        for file in (file for file in cache.compiled_in_advance() if file.parent == inside):
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
    for kernel in SEVERAL:
        module, _, name = kernel.rpartition(".")
        assert hasattr(importlib.import_module(f"{cache.KERNELS_PACKAGE}.{module}"), name), f"no kernel {kernel}"


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


def numbers_of_other_types(one: type[np.number], whole: type[np.integer]) -> Iterator[Callable[[], object]]:
    """Calls whose arguments are numbers of other types than the kernels take."""
    human, lamp, hand = poise.load("human"), poise.load("adelino"), poise.Position("right_hand", (-0.3, 1.2, 0.4))
    chain = poise.chain("YXX", lengths=[0.1, 0.1, 0.1])
    clip = poise.Clip(lamp, np.zeros((6, lamp.nq), dtype=whole), whole(30))
    style = Style(acceleration=whole(5), smooth=one(0))
    tip = {lamp.bodies[-1].name: lamp.bodies[-1].name}
    yield lambda: poise.Solver(human, [hand], dt=one(1)).step("standing")
    yield lambda: poise.solve(human, [hand], tolerance=one(0), max_steps=one(50))
    yield lambda: poise.solve(human, [hand], max_steps=whole(50), restarts=whole(1), seed=whole(3))
    yield lambda: poise.solve(human, [poise.Position("right_hand", one([0, 1, 0]), weight=one(2), priority=whole(1))])
    yield lambda: poise.solve(human, [hand], start=np.float32(human.posture("standing").q))
    yield lambda: poise.reach(chain, "tip", one([0, 1, 0]), tolerance=one(0), restarts=one(3), seed=one(1))
    for solver in (poise.Expressive(lamp), poise.Erik(lamp), poise.Erik(lamp, variant="2017")):
        for target in (poise.facing(one([1, 0, 0]), roll=None), poise.facing("x", roll=one(1)), poise.at([1, 0, 0])):
            yield lambda solver=solver, target=target: solver.solve(lamp.neutral(), target)
        yield lambda solver=solver: solver.solve(lamp.neutral(), [1, 0, 0])
        yield lambda solver=solver: solver.solve_batch(np.zeros((2, lamp.nq), dtype=one), one([[1, 0, 0, 0]] * 2))
    for target in ((1, 0, 0), poise.at([1, 0, 0]), poise.facing([1, 0, 0], roll=None)):
        yield lambda target=target: frames_while_facing(lamp, target, whole(50))
    yield lambda: clip.resampled(whole(60))
    yield lambda: poise.retarget(clip, lamp, tip, rate=one(60), tempo=one(1), style=style)
    yield lambda: chains.circle_zones(chain)
    for method in (chains.ccd, chains.dls, chains.fabrik, chains.circles):
        yield lambda method=method: method(chain, one([0, 1, 0]), max_iterations=one(3), tolerance=one(1))


def frames_while_facing(lamp: poise.Figure, target: object, rate: float) -> list[poise.Posture]:
    limits = poise.MotionFilter(velocity=np.float32(6), acceleration=40, jerk=np.int32(800))
    with poise.Character(lamp, filter=limits) as live:
        live.face(target)
        return list(islice(live.frames(rate=rate, realtime=False), 3))


@pytest.mark.parametrize("one", [np.float32, np.int32, np.float64])
def test_numbers_of_other_types_compile_nothing_again(one):
    """`tests/conftest.py` fails this test if a call compiles."""
    for call in numbers_of_other_types(one, np.int32):
        call()
