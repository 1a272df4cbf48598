"""Whatever a figure holds, its file holds too."""

import dataclasses
from typing import Any

import numpy as np
from hypothesis import given

from poise.figure.model.figure import Figure
from poise.formats.figure_toml import figure_text, parse_figure
from tests.strategies import Recipe, figures


def bits(value: Any) -> Any:
    """A value as nested tuples in which floats differ when one bit does."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return float(value).hex()
    if isinstance(value, np.ndarray):
        return bits(value.tolist())
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return type(value).__name__, tuple((field.name, bits(getattr(value, field.name))) for field in fields)
    if isinstance(value, dict):
        return tuple((key, bits(item)) for key, item in value.items())
    if isinstance(value, tuple | list):
        return tuple(bits(item) for item in value)
    return value


def figure_bits(figure: Figure) -> Any:
    """Everything a figure was made from."""
    parts = (figure.bodies, figure.joints, figure.sites, figure.loops, figure.couplings)
    postures = {name: figure.named_values(name) for name in figure.posture_names}
    return bits((figure.name, figure.up, figure.placement, figure.description, postures, *map(tuple, parts)))


@given(figures(Recipe(ball_couplings=True)))
def test_reading_what_was_written_gives_the_same_figure_bit_for_bit(figure: Figure) -> None:
    again = parse_figure(figure_text(figure))
    assert again == figure
    assert figure_bits(again) == figure_bits(figure)


@given(figures())
def test_writing_is_a_function_of_the_figure(figure: Figure) -> None:
    text = figure_text(figure)
    assert figure_text(parse_figure(text)) == text
