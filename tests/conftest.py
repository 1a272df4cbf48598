"""Settings shared by all tests, and the rule that poise compiles nothing once `poise compile` has run.

Tests call kernels that poise itself calls from other kernels only. They may compile those, and what they compile is
stored apart, so that it is not there when poise lacks it.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest
from hypothesis import settings

from poise.kernels.jit import cache, machine_code

# The first call of a kernel compiles it, so a deadline would only measure the compiler.
settings.register_profile("poise", deadline=None, derandomize=True, print_blob=True)
# HYPOTHESIS_PROFILE=explore looks in new places on every run, and for longer.
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "poise"))

TESTS = str(Path(__file__).parent)
COMPILER = (str(Path(numba.__file__).parent), str(Path(machine_code.__file__).parent))
"""Folders of the code between the call of a kernel and its compilation."""
USUAL_CACHE = cache.user_cache()
refused: list[str] = []
"""The kernels that poise wanted to compile, with the types of their arguments."""


def refuse(kernel: str) -> None:
    """Prevent a compilation unless a test calls the kernel itself; record it in case the error is caught on its way."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(COMPILER):
        frame = frame.f_back
    if not frame.f_code.co_filename.startswith(TESTS):
        refused.append(kernel)
        raise AssertionError(f"`poise compile` has left this to compile: {kernel}")


def tests_cache() -> Path:
    """Where to store what is compiled: apart from what `poise compile` has stored."""
    return USUAL_CACHE / "kernels-of-tests" if cache.user_cache() == USUAL_CACHE else cache.writable_cache()


def pytest_report_header() -> str:
    """Say whether the rule holds."""
    if machine_code.is_complete():
        return "kernels: all are compiled, so a test fails if poise compiles one"
    return "kernels: not all are compiled, so poise may compile some in tests; `poise compile` does so in advance"


def pytest_configure() -> None:
    """Apply the rule from here on, also while test modules are imported."""
    if machine_code.is_complete():
        machine_code.when_missing.append(refuse)
        machine_code.writable_cache = tests_cache


@pytest.fixture(autouse=True)
def nothing_is_compiled() -> Iterator[None]:
    """A test fails if poise wanted to compile a kernel, even if something caught the error."""
    refused.clear()
    yield
    assert not refused, f"`poise compile` has left these to compile: {refused}"
