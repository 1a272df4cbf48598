"""Settings shared by all tests, and the rule that tests compile nothing once `poise compile` has run."""

import os
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from poise.kernels.jit import machine_code

# The first call of a kernel compiles it, so a deadline would only measure the compiler.
settings.register_profile("poise", deadline=None, derandomize=True, print_blob=True)
# HYPOTHESIS_PROFILE=explore looks in new places on every run, and for longer.
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "poise"))

compiled: list[str] = []
"""The kernels that tests wanted to compile, with the types of their arguments."""


def refuse(kernel: str) -> None:
    """Prevent a compilation, and record it in case the error is caught on its way."""
    compiled.append(kernel)
    raise AssertionError(f"`poise compile` has left this to compile: {kernel}")


def pytest_report_header() -> str:
    """Say whether the rule holds."""
    if machine_code.is_complete():
        return "kernels: all are compiled, so a test that compiles one fails unless it is marked `compiles`"
    return "kernels: not all are compiled, so tests may compile them; `poise compile` does so in advance"


def pytest_configure() -> None:
    """Apply the rule from here on, also while test modules are imported."""
    if machine_code.is_complete():
        machine_code.when_missing.append(refuse)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Suspend the rule for tests that compile on purpose."""
    suspended = item.get_closest_marker("compiles") and refuse in machine_code.when_missing
    if suspended:
        machine_code.when_missing.remove(refuse)
    try:
        return (yield)
    finally:
        if suspended:
            machine_code.when_missing.append(refuse)


@pytest.fixture(autouse=True)
def nothing_is_compiled() -> Iterator[None]:
    """A test fails if it wanted to compile a kernel, even if something caught the error."""
    compiled.clear()
    yield
    assert not compiled, f"`poise compile` has left these to compile: {compiled}"
