"""Checks arguments where they come in: each becomes the type that the kernels take, or an error of one sentence.

A number of another type, such as `np.float32` or `50.0` for a whole number, would compile a kernel a second time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from poise.errors import PoiseError, TaskError

T = TypeVar("T")
SMALLEST_POSITIVE = math.nextafter(0.0, 1.0)
_SHOWN = 60
"""Largest number of characters of a wrong value in an error message."""


def shown(value: object) -> str:
    """A wrong value for an error message, in one line and cut to a readable length."""
    try:
        words = " ".join(repr(value).split())
    except ValueError:  # a whole number with thousands of digits
        words = "a very large number"
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"


def whole(value: Any, what: str, *, least: int = 0, error: type[PoiseError] = TaskError) -> int:
    """A whole number of `least` or more, also from a float such as 50.0 or from a number of numpy."""
    number = value.item() if isinstance(value, np.generic) else value
    is_whole = isinstance(number, int) or (isinstance(number, float) and number.is_integer())
    if isinstance(number, bool) or not is_whole or number < least:
        raise error(f"{what} must be a whole number of {least} or more, not {shown(value)}.")
    return int(number)


def number(
    value: Any, what: str, *, least: float = -math.inf, unit: str = "", error: type[PoiseError] = TaskError
) -> float:
    """A number of `least` or more that is neither NaN nor infinite; `unit` is its plural, for error messages."""
    given = value.item() if isinstance(value, np.generic | np.ndarray) and np.size(value) == 1 else value
    if isinstance(given, int | float) and not isinstance(given, bool):
        try:
            found = float(given)
        except OverflowError:
            found = math.inf
        if math.isfinite(found) and found >= least:
            return found
    kind = (
        "a finite number" if least == -math.inf else "a positive number" if least > 0.0 else "zero or a positive number"
    )
    raise error(f"{what} must be {kind}{f' of {unit}' if unit else ''}, not {shown(value)}.")


def positive(value: Any, what: str, *, unit: str = "", error: type[PoiseError] = TaskError) -> float:
    """A number above 0 that is neither NaN nor infinite."""
    return number(value, what, least=SMALLEST_POSITIVE, unit=unit, error=error)


def seed(value: Any, what: str = "the seed", *, error: type[PoiseError] = TaskError) -> int | None:
    """A seed of random numbers: a whole number of 0 or more, or None for one that differs from call to call."""
    return None if value is None else whole(value, what, error=error)


def kind_of(value: T | None, kind: type[T], what: str) -> T | None:
    """`value`, if it is of this kind or None; `what` names the argument."""
    if value is None or isinstance(value, kind):
        return value
    raise TaskError(f"{what} must be {kind.__name__}(…), not {shown(value)}.")


def all_of(
    values: Iterable[T] | None,
    kinds: type | tuple[type, ...],
    what: str,
    *,
    hints: Iterable[tuple[type, str]] = (),
    error: type[PoiseError] = TaskError,
) -> tuple[T, ...]:
    """`values` as a tuple, if each is of one of `kinds`; otherwise an error that says what to give.

    Args:
        values: The list; None counts as a mistake.
        kinds: What each must be.
        what: Their name in the singular, such as "task".
        hints: For things of another type that people confuse them with: the type, and a sentence that says what to do.
        error: What to raise if it is no list, or something else is among them.
    """
    many = f"{what.removesuffix('on')}a" if what.endswith("rion") else f"{what}s"
    if isinstance(values, kinds):
        raise error(f"give a list of {many}, also for a single one: [{type(values).__name__}(…)].")
    if values is None or isinstance(values, str) or not isinstance(values, Iterable):
        raise error(f"the {many} must be a list, not {shown(values)}.")
    found = tuple(values)
    for value in found:
        if not isinstance(value, kinds):
            hint = next((f" {sentence}" for kind, sentence in hints if isinstance(value, kind)), "")
            if isinstance(value, type):
                hint = f" Give its arguments: {value.__name__}(…)."
            elif isinstance(value, list | tuple) and all(isinstance(item, kinds) for item in value):
                hint = f" Give one flat list of {many}."
            article = "an" if what[0] in "aeiou" else "a"
            raise error(f"{shown(value)} is not {article} {what}.{hint}")
    return found
