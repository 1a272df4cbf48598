import io

import numpy as np
from rich.console import Console

from poise.pictures import Picture
from poise.pictures.terminal import half_blocks


def test_two_pixels_share_a_character() -> None:
    pixels = np.zeros((4, 2, 3), dtype=np.uint8)
    pixels[0] = (255, 0, 0)
    pixels[1] = (0, 0, 255)
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="truecolor", width=20).print(half_blocks(Picture(pixels), 2, 2))
    lines = out.getvalue().splitlines()
    assert lines[0].count("▀") == 2
    assert "38;2;255;0;0" in lines[0]
    assert "48;2;0;0;255" in lines[0]
    assert len([line for line in lines if "▀" in line]) == 2
