"""Animated GIFs contain every frame; wrong arguments are refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from poise.errors import PoiseError
from poise.pictures import Picture, save_gif


def frames(count):
    return [Picture(np.full((12, 16, 3), 20 * k, dtype=np.uint8)) for k in range(count)]


def test_a_gif_has_all_frames_at_their_rate_and_starts_again(tmp_path):
    file = save_gif(frames(5), tmp_path / "five", rate=20.0)
    assert file == tmp_path / "five.gif"
    with Image.open(file) as image:
        assert image.n_frames == 5
        assert image.size == (16, 12)
        assert image.info["duration"] == 50
        assert image.info["loop"] == 0
        image.seek(3)
        assert image.convert("RGB").getpixel((4, 4)) == pytest.approx((60, 60, 60), abs=2)


def test_no_frames_and_no_rate_are_refused(tmp_path):
    with pytest.raises(PoiseError, match=r"an animation needs at least one picture"):
        save_gif([], tmp_path / "none.gif")
    with pytest.raises(PoiseError, match=r"at most 50 pictures per second, not 100"):
        save_gif(frames(2), tmp_path / "fast.gif", rate=100)
