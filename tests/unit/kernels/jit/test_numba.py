"""What poise uses of numba's private interfaces: each test fails clearly when a new release changes one of them."""

import inspect
import os
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache, _Cache

import poise
from poise.engine.problem import Problem
from poise.kernels.body.clamp import clamp
from poise.kernels.engine.engine import Engine
from poise.kernels.engine.step import LEGAL, bind, make_legal
from poise.kernels.engine.step_trial import measure_merits
from poise.kernels.jit.cache import KERNELS_FOLDER, cache_folder
from poise.kernels.jit.compile import compiled_for, entry_point_for, kernel

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
PRIVATE = ("numba.core", "numba.experimental", "numba.cuda.cudadrv", "llvmlite", "_nrt", "forceinline")


@pytest.fixture(scope="module")
def problem():
    return Problem(poise.load("arm"), [poise.Position("tip", at=(0.3, 0.3, 0.3))])


@compiled_only
def test_machine_code_is_kept_where_the_cache_says():
    """Dispatchers and C functions ask their attribute `_cache`, which is one of `numba.core.caching._Cache`."""
    assert Path(clamp.stats.cache_path) == cache_folder("poise.kernels.body.clamp")
    assert _Cache.__abstractmethods__ == {"cache_path", "load_overload", "save_overload", "enable", "disable", "flush"}


@compiled_only
def test_a_compiled_kernel_is_reduced_to_the_parts_that_the_cache_stores(problem):
    """`CompileResult._reduce`: the library with its object code and bitcode first, the text of the types seventh."""
    q = np.array(problem.figure.neutral().q)
    compiled = kernel(clamp.py_func)
    compiled._cache = NullCache()
    result = compiled_for(compiled, (problem.engine.bounds, q, q))
    (_, kind, (code, bitcode)), *parts = result._reduce()
    assert kind == "object"
    assert code.startswith(b"\x7fELF") or os.name == "nt" or sys.platform == "darwin"
    assert bitcode.startswith(b"BC")
    assert len(parts) == 8
    assert result.type_annotation == ""


@compiled_only
def test_kernels_count_no_references_unless_they_say_so():
    """The option `_nrt` of numba's dispatcher; `bind` makes a handle, which needs the count."""
    assert clamp.targetoptions["_nrt"] is False
    assert bind.targetoptions["_nrt"] is True


@compiled_only
def test_kernels_can_be_inlined():
    """The option `forceinline` of numba's dispatcher."""
    assert measure_merits.targetoptions["forceinline"] is True


@compiled_only
def test_a_compiled_kernel_can_be_called_without_looking_at_its_arguments(problem):
    """`overloads[signature].entry_point` skips numba's dispatch."""
    q = np.array(problem.figure.neutral().q)
    assert entry_point_for(make_legal, problem.handle, q)(problem.handle, q) == LEGAL
    assert compiled_for(make_legal, (problem.handle, q)).entry_point is not None


def test_kernels_read_every_field_of_the_engine_through_its_handle(problem):
    """`structref` and `lower_getattr`; the fields are those of `Engine`, declared once."""
    q = np.array(problem.figure.neutral().q)
    assert make_legal(problem.handle, q) == LEGAL
    if not numba.config.DISABLE_JIT:
        assert tuple(name for name, _ in numba.typeof(problem.handle)._fields) == Engine._fields


def test_large_kernels_have_addresses(problem):
    """`library.get_pointer_to_function` and numba's calling convention."""
    assert bool(numba.config.DISABLE_JIT) or (problem.engine.calls != 0).all()


def test_nothing_outside_this_room_touches_private_interfaces():
    for source in KERNELS_FOLDER.parent.rglob("*.py"):
        if source.parent.name != "jit":
            found = [name for name in PRIVATE if name in source.read_text()]
            assert not found, f"{source.name} uses {found}"


def test_the_compiler_for_gpus_takes_the_option_that_fuses_nothing():
    """`numba.cuda.cudadrv.nvvm.compile_ir`, which `poise.kernels.jit.unfused` calls with `fma=False`."""
    nvvm = pytest.importorskip("numba.cuda.cudadrv.nvvm", reason="numba has no CUDA here", exc_type=ImportError)
    parameters = inspect.signature(nvvm.compile_ir).parameters.values()
    assert any(p.name == "fma" or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
