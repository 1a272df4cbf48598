"""Answers must not change when code is moved, renamed or reordered: all are compared with those recorded.

On the kind of machine that recorded them (same processor and features, C library and versions of the packages that
compute), answers must be the same byte for byte. A family whose method was rewritten stands in `REWRITTEN` with the
relative difference it may have; its discrete numbers (status codes, steps, iterations, counts) must still be equal. On
any other machine values may differ by 1e-9 of their size, at least of 1, and discrete numbers are not compared, since
an iteration more or less hangs on the last bit.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.golden.cases import FAMILIES, cases_of
from tests.golden.motion_cases import are_recordings_here, retargeted_recordings
from tests.golden.record import ANSWERS, Recording, load, this_machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ANSWERS.is_file(), reason="no answers recorded: run python -m tests.golden.record"),
]

REWRITTEN: dict[str, float] = {}
"""Largest relative difference by family, for families whose method was rewritten, such as 1e-12."""
ELSEWHERE = 1e-9
"""Largest relative difference on a machine of another kind."""
SHOWN = 5
"""How many cases a failure names."""


@functools.cache
def recorded() -> Recording:
    return load(ANSWERS)


def difference(found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest difference, relative to values above 1; infinite where one of the two is no finite number."""
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(invalid="ignore"):
        apart = np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))
    return float(np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart)).max(initial=0.0))


def complaint(found: np.ndarray, wanted: np.ndarray, tolerance: float, *, is_elsewhere: bool) -> str | None:
    """What is wrong with an answer, if anything is."""
    if found.tobytes() == wanted.tobytes():
        return None
    counts = slice(1, 1 + int(wanted[0]))
    values = slice(counts.stop, None)
    if not is_elsewhere and not np.array_equal(found[:1], wanted[:1]):
        return f"has {found[0]:g} discrete numbers instead of {wanted[0]:g}"
    if not is_elsewhere and not np.array_equal(found[counts], wanted[counts]):
        return f"discrete numbers {found[counts].tolist()} instead of {wanted[counts].tolist()}" + (
            f", values differ by {difference(found[values], wanted[values]):.3g}" if found.size == wanted.size else ""
        )
    if found.size != wanted.size:
        return f"has {found.size} numbers instead of {wanted.size}"
    largest = difference(found[values], wanted[values])
    if largest > tolerance:
        return f"largest difference {largest:.3g}"
    return None if tolerance > 0.0 else "differs in the sign of a zero or the bits of a NaN"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_answers_are_those_recorded(family):
    name = family.__name__
    if family is retargeted_recordings and not are_recordings_here():
        pytest.skip("the recorded clips are not beside the repository")
    if family is retargeted_recordings and name not in recorded().answers:
        pytest.skip("the answers were recorded without the recorded clips")
    cases, wanted = cases_of(family), recorded().answers[name]
    assert set(cases) == set(wanted), f"{name} has other cases than those recorded: run python -m tests.golden.record"
    is_elsewhere = this_machine() != recorded().machine
    tolerance = max(REWRITTEN.get(name, 0.0), ELSEWHERE if is_elsewhere else 0.0)
    wrong = []
    for case, compute in cases.items():
        said = complaint(compute(), wanted[case], tolerance, is_elsewhere=is_elsewhere)
        if said is not None:
            wrong.append(f"{name} / {case}: {said}")
    more = f"\n... and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    assert not wrong, f"{len(wrong)} of {len(cases)} answers changed:\n" + "\n".join(wrong[:SHOWN]) + more
