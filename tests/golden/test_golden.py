"""Answers must not change when code is moved, renamed or reordered: all are compared with those recorded.

On the kind of machine that recorded them (same processor and features, C library and versions of the packages that
compute), answers must be the same byte for byte. A family whose method was rewritten stands in `REWRITTEN` with the
relative difference it may have; its discrete numbers (status codes, steps, iterations, counts) must still be equal.

On any other machine only steady cases are compared (see `tests.golden.record`). Their values may differ by 1e-9,
relative to values above 1; discrete numbers may differ, since the last bit can decide on one iteration more.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.golden.cases import FAMILIES, cases_of
from tests.golden.motion_cases import retargeted_recordings
from tests.golden.record import ANSWERS, Recording, difference, load, this_machine

pytestmark = pytest.mark.slow

REWRITTEN: dict[str, float] = {}
"""Largest relative difference by family, for families whose method was rewritten, such as 1e-12."""
ELSEWHERE = 1e-9
"""Largest relative difference on a machine of another kind."""
SHOWN = 5
"""How many cases a failure names."""


EVERY_FAMILY = [
    pytest.param(family, id=family.__name__, marks=pytest.mark.real_data if family is retargeted_recordings else ())
    for family in FAMILIES
]


@functools.cache
def recorded() -> Recording:
    return load(ANSWERS)


def complaint(found: np.ndarray, wanted: np.ndarray, tolerance: float, *, is_elsewhere: bool) -> str | None:
    """What is wrong with an answer, if anything is."""
    if found.tobytes() == wanted.tobytes():
        return None
    discrete, expected = found[: 1 + int(found[0])].tolist(), wanted[: 1 + int(wanted[0])].tolist()
    if found.size != wanted.size:
        return f"has {found.size} numbers instead of {wanted.size}"
    largest = difference(found, wanted)
    if not is_elsewhere and discrete != expected:
        return f"discrete numbers {discrete[1:]} instead of {expected[1:]}, largest difference {largest:.3g}"
    if largest > tolerance:
        return f"largest difference {largest:.3g}"
    return None if tolerance > 0.0 else "differs in the sign of a zero or the bits of a NaN"


@pytest.mark.parametrize("family", EVERY_FAMILY)
def test_answers_are_those_recorded(family):
    name = family.__name__
    assert name in recorded().answers, f"{name} has no answers recorded: run python -m tests.golden.record"
    cases, wanted = cases_of(family), recorded().answers[name]
    assert set(cases) == set(wanted), f"{name} has other cases than those recorded: run python -m tests.golden.record"
    is_elsewhere = this_machine() != recorded().machine
    tolerance = max(REWRITTEN.get(name, 0.0), ELSEWHERE if is_elsewhere else 0.0)
    wrong = []
    for case, compute in cases.items():
        if is_elsewhere and (name, case) not in recorded().steady:
            continue
        said = complaint(compute(), wanted[case], tolerance, is_elsewhere=is_elsewhere)
        if said is not None:
            wrong.append(f"{name} / {case}: {said}")
    more = f"\n... and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    assert not wrong, f"{len(wrong)} of {len(cases)} answers changed:\n" + "\n".join(wrong[:SHOWN]) + more
