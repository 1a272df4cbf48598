"""Where a solve rests, a general optimiser finds nothing better nearby for the last level."""

from __future__ import annotations

import pytest

import poise
from tests.local_optima import chain_question, possible_gain


@pytest.mark.parametrize("seed", [*range(30), 93, 333, 458])
def test_slsqp_does_not_improve_the_last_level(seed: int) -> None:
    figure, tasks, start = chain_question(seed)
    answer = poise.solve(figure, tasks, start=start, max_steps=500)
    assert possible_gain(figure, tasks, answer.posture) < 1e-4


def test_slsqp_would_find_an_improvement() -> None:
    """Elsewhere, where the first two levels are at rest and the third is left to chance, it improves the third."""
    gains = []
    for seed in range(10):
        figure, tasks, start = chain_question(seed)
        answer = poise.solve(figure, tasks[:2], start=start, max_steps=500)
        gains.append(possible_gain(figure, tasks, answer.posture))
    assert sum(gain > 1e-3 for gain in gains) >= 3
