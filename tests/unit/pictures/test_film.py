"""Films: one camera for all pictures, a ball that moves, lines of sight and captions."""

import numpy as np
import pytest

import poise
from poise.errors import PoiseError
from poise.pictures.film import film

LAMP = poise.load("adelino")
SMALL = {"size": (64, 48)}


def test_a_film_has_one_picture_for_each_posture_from_one_place():
    pictures = film(LAMP, ["sad", "happy", "sad"], **SMALL)
    assert [picture.size for picture in pictures] == [(64, 48)] * 3
    assert np.array_equal(pictures[0].pixels, pictures[2].pixels)
    assert not np.array_equal(pictures[0].pixels, pictures[1].pixels)


@pytest.mark.parametrize(
    "extra",
    [{"ball": [[0.4, 0.4, 0.4], [0.4, 0.5, 0.4]]}, {"eyes": "tip"}, {"captions": ["hot", "cold"]}],
    ids=["ball", "eyes", "captions"],
)
def test_the_ball_and_the_line_of_sight_are_drawn(extra):
    plain = film(LAMP, ["sad", "sad"], **SMALL)
    shown = film(LAMP, ["sad", "sad"], **SMALL, **extra)
    assert not np.array_equal(plain[0].pixels, shown[0].pixels)
    moves = "eyes" not in extra
    assert np.array_equal(shown[0].pixels, shown[1].pixels) != moves


def test_wrong_arguments_of_a_film_are_refused():
    with pytest.raises(PoiseError, match="at least one posture"):
        film(LAMP, [])
    with pytest.raises(PoiseError, match="ball must be 2 points"):
        film(LAMP, ["sad", "happy"], ball=[[0.0, 0.0, 0.0]])
    with pytest.raises(PoiseError, match="no site or body 'nose'"):
        film(LAMP, ["sad"], eyes="nose")
