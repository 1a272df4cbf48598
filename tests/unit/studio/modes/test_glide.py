"""A target glides between rare events, and follows frequent ones at once."""

import numpy as np

from poise.studio.modes.expressive.glide import LONGEST_GLIDE, Glide


def led(places: list[float]) -> np.ndarray:
    glide = Glide()
    return np.array([glide.on_the_way_to(np.array([place, 0.0, 0.0]))[0] for place in places])


def test_places_seen_in_every_tenth_frame_make_an_even_way() -> None:
    found = led([float(frame // 10) for frame in range(80)])
    assert np.diff(found)[15:].max() < 0.11
    assert np.diff(found)[15:-10].min() > 0.09


def test_a_place_seen_in_every_frame_is_followed_without_delay() -> None:
    found = led([0.0] * 30 + [0.1 * frame for frame in range(1, 30)])
    assert abs(found[-1] - 2.9) < 1e-9


def test_a_single_jump_arrives_after_a_bounded_time() -> None:
    found = led([0.0] * 60 + [1.0] * (LONGEST_GLIDE + 1))
    assert abs(found[-1] - 1.0) < 1e-9
    assert np.diff(found).max() < 1.1 / LONGEST_GLIDE
