"""Settings shared by all tests, and the rule that poise compiles nothing once `poise compile` has run.

Tests call kernels that poise itself calls from other kernels only. They may compile those, and what they compile is
stored apart, so that it is not there when poise lacks it.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
from hypothesis import settings

from poise.kernels.jit import cache, machine_code
from tests.optional import OPTIONAL

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


left_out = dict.fromkeys(OPTIONAL, 0)
"""How many tests are left out of the collection, by marker."""


@pytest.hookimpl(trylast=True)  # After folders have marked their tests.
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out optional tests that cannot run here."""
    for marker in (marker for marker, (can_run, _) in OPTIONAL.items() if not can_run):
        optional = [item for item in items if item.get_closest_marker(marker)]
        config.hook.pytest_deselected(items=optional)
        items[:] = [item for item in items if item not in set(optional)]
        left_out[marker] = len(optional)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the counts to the main process, if this is one of several that test."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of another process; all of them collect the same tests."""
    left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many optional tests were left out, and why."""
    for marker, count in left_out.items():
        if count:
            terminalreporter.write_line(f"tests marked {marker} left out: {count}, since {OPTIONAL[marker][1]}")


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
