"""The expressive solver against ERIK on the papers' skeletons: lower error *and* better shape, orientation exact."""

from __future__ import annotations

import pytest

import poise
from poise.evaluation.erik.sampling import samples
from poise.expressive.erik import Erik
from poise.expressive.expressive import Expressive

COUNT = 20_000
ERROR = {"b": 0.0445, "c": 0.0285, "d": 0.0180, "e": 0.0175, "f": 0.0140, "g": 0.0085}
"""Most mean combined error on the grid."""
SHAPE = {"b": 0.150, "c": 0.110, "d": 0.0715, "e": 0.079, "f": 0.048, "g": 0.027}
"""Most mean sign-aware shape error on the same samples."""
EXACT = 1e-8


@pytest.mark.parametrize("letter", "bcdefg")
def test_error_and_shape_are_both_low_and_every_orientation_is_met(letter: str) -> None:
    solver = Expressive(poise.load(f"erik_{letter}"))
    asked = samples(solver.limb, COUNT, 11)
    batch = solver.solve_batch(asked.postures, asked.orientations)
    assert batch.error.mean() <= ERROR[letter]
    assert batch.shape_error.mean() <= SHAPE[letter]
    assert batch.orientation_error.max() <= EXACT


@pytest.mark.parametrize("letter", "abcdefg")
def test_no_worse_than_erik_in_either_measure(letter: str) -> None:
    figure = poise.load(f"erik_{letter}")
    ours, erik = Expressive(figure), Erik(figure)
    asked = samples(ours.limb, 4000, 12)
    mine, theirs = (solver.solve_batch(asked.postures, asked.orientations) for solver in (ours, erik))
    assert mine.error.mean() < theirs.error.mean()
    assert mine.shape_error.mean() < theirs.shape_error.mean() + (0.002 if letter == "a" else 0.0)
    assert mine.orientation_error.mean() < theirs.orientation_error.mean()


@pytest.mark.parametrize("letter", "bcdefg")
def test_uniform_samples_too(letter: str) -> None:
    solver = Expressive(poise.load(f"erik_{letter}"))
    asked = samples(solver.limb, 4000, 13, "uniform")
    batch = solver.solve_batch(asked.postures, asked.orientations)
    assert batch.orientation_error.max() <= EXACT
    assert batch.error.mean() <= ERROR[letter]
