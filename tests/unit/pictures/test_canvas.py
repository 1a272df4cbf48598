"""Pixels are scaled, blurred and written as Pillow does it; discs and lines cover what they should."""

import io

import numpy as np
import pytest
from PIL import Image, ImageFilter

from poise.pictures.canvas import blurred, disc, line, png, reduced, resized

RNG = np.random.default_rng(1)
NOISE = RNG.integers(0, 256, (60, 80, 3)).astype(np.uint8)


def test_a_png_file_is_read_back_exactly() -> None:
    image = Image.open(io.BytesIO(png(NOISE)))
    assert image.format == "PNG"
    assert np.array_equal(np.asarray(image), NOISE)


def test_squares_of_pixels_are_averaged() -> None:
    theirs = np.asarray(Image.fromarray(NOISE).reduce(2)).astype(int)
    assert np.abs(reduced(NOISE, 2).astype(int) - theirs).max() <= 1


@pytest.mark.parametrize("size", [(40, 30), (20, 60), (80, 60), (1, 1)])
def test_pixels_are_averaged_over_the_area_that_they_cover(size: tuple[int, int]) -> None:
    theirs = np.asarray(Image.fromarray(NOISE).resize(size, Image.Resampling.BOX)).astype(int)
    assert np.abs(resized(NOISE, size).astype(int) - theirs).max() <= 1


@pytest.mark.parametrize("size", [(33, 17), (100, 75)])
def test_parts_of_pixels_count_by_their_area(size: tuple[int, int]) -> None:
    found = resized(NOISE, size)
    assert found.shape == (size[1], size[0], 3)
    assert found.mean() == pytest.approx(NOISE.mean(), abs=0.1)


def test_a_blur_is_gaussian() -> None:
    mask = np.zeros((64, 64))
    mask[20:44, 24:40] = 1.0
    theirs = Image.fromarray((255.0 * mask).astype(np.uint8)).filter(ImageFilter.GaussianBlur(4.0))
    assert np.abs(blurred(mask, 4.0) - np.asarray(theirs) / 255.0).max() < 0.02


def test_a_disc_covers_its_area() -> None:
    pixels = np.zeros((100, 100, 3), dtype=np.uint8)
    disc(pixels, (50.3, 48.7), 20.0, (1.0, 0.5, 0.0))
    assert (pixels[:, :, 0] == 255).sum() == pytest.approx(np.pi * 400.0, rel=0.01)
    assert pixels[48, 50].tolist() == [255, 128, 0]


def test_a_line_covers_its_length_and_width() -> None:
    pixels = np.zeros((100, 200, 3), dtype=np.uint8)
    line(pixels, (20.0, 20.0), (180.0, 80.0), 6.0, (1.0, 1.0, 1.0))
    length = np.hypot(160.0, 60.0)
    assert (pixels[:, :, 0] > 0).sum() == pytest.approx(6.0 * length + np.pi * 9.0, rel=0.02)


@pytest.mark.parametrize("spot", [(-50.0, 50.0), (1e9, -1e9), (99.0, 99.0)])
def test_what_is_outside_the_picture_is_left_out(spot: tuple[float, float]) -> None:
    pixels = np.zeros((100, 100, 3), dtype=np.uint8)
    disc(pixels, spot, 5.0, (1.0, 1.0, 1.0))
    line(pixels, spot, (50.0, 50.0), 2.0, (1.0, 1.0, 1.0))
    assert pixels[50, 50, 0] == 255
