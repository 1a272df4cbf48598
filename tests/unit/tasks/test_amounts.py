"""Amounts in words."""

import pytest

from poise.tasks.amounts import inside_words


@pytest.mark.parametrize(
    ("inside", "words"),
    [(0.035, "3.5 cm inside"), (-0.0012, "1.2 mm outside"), (1e-9, "on the edge"), (-1e-9, "on the edge")],
)
def test_a_point_at_an_edge_is_neither_inside_nor_outside(inside, words):
    assert inside_words(inside) == words
