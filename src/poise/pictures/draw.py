"""Draws a figure in a posture."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from poise.arguments import shown
from poise.errors import PoiseError
from poise.figure.model.figure import Figure, PostureLike, checked_figure
from poise.figure.model.pose import FloatArray, Frames
from poise.pictures.camera import Camera, Size, checked_view, framing
from poise.pictures.canvas import reduced
from poise.pictures.marks import draw_labels, draw_marks, mark_points
from poise.pictures.parts import Appearance, appearance
from poise.pictures.picture import Picture
from poise.pictures.render import render
from poise.pictures.theme import Theme, theme_named

SUPERSAMPLING = 2
"""Rendered pixels per pixel of the picture, in each direction (antialiasing)."""
SMALLEST_PICTURE = 16
"""Least width and height of a picture [pixels]."""
LARGEST_PICTURE = 8192
"""Greatest width and height of a picture [pixels]."""


def draw(
    figure: Figure,
    posture: PostureLike | None = None,
    *,
    size: Size = (900, 900),
    view: str = "three-quarter",
    theme: str | Theme = "light",
    skeleton: bool = False,
    collision: bool = False,
    joints: bool = True,
    labels: bool = False,
    folder: str | Path | None = None,
) -> Picture:
    """Draw a figure.

    Args:
        figure: The figure.
        posture: Its posture; by default the neutral one.
        size: Width and height [pixels].
        view: front, side, top or three-quarter.
        theme: light or dark.
        skeleton: Draw bones instead of shapes.
        collision: Draw collision shapes instead of visual ones.
        joints: Mark the joints.
        labels: Write the names of joints and sites, and draw the sites' axes; this needs Pillow.
        folder: Folder of the mesh files; None for that of the figure.
    """
    check_size(size)
    checked_figure(figure, "a picture")
    frames = figure.frames(figure.neutral() if posture is None else posture)
    home = Path(folder) if folder is not None else None
    look = appearance(figure, skeleton=skeleton, collision=collision, folder=home)
    camera = framing(drawable_points(figure, look, frames), figure.up, checked_view(view), size)
    return render_picture(figure, look, frames, camera, theme=theme, joints=joints, labels=labels)


def render_picture(
    figure: Figure,
    look: Appearance,
    frames: Frames,
    camera: Camera,
    *,
    theme: str | Theme = "light",
    joints: bool = True,
    labels: bool = False,
) -> Picture:
    """Render a figure, seen from a camera, with its marks.

    Args:
        figure: The figure.
        look: Surfaces of the figure.
        frames: World poses of its bodies and sites.
        camera: The camera.
        theme: light or dark.
        joints: Mark the joints.
        labels: Write the names of joints and sites.
    """
    colors = theme_named(theme)
    fine = camera.enlarged(SUPERSAMPLING)
    pixels = render(look, frames, fine, figure.up, colors)
    if joints:
        draw_marks(pixels, figure, frames, fine, colors)
    picture = Picture(reduced(pixels, SUPERSAMPLING), look.notes)
    return draw_labels(picture, figure, frames, camera, colors) if labels else picture


def drawable_points(figure: Figure, look: Appearance, frames: Frames) -> FloatArray:
    """(k, 3) world points of a figure's surfaces and marks, all of which a picture should show."""
    return np.concatenate([look.vertices(frames), mark_points(figure, frames)])


def check_size(size: Any) -> None:
    """Refuse sizes of pictures that are too small or too large."""
    sides = size if isinstance(size, tuple | list) else ()
    if len(sides) != 2 or not all(isinstance(side, Integral) for side in sides):
        raise PoiseError(
            f"the size of a picture is its width and height in whole pixels, (900, 600), not {shown(size)}."
        )
    if not all(SMALLEST_PICTURE <= side <= LARGEST_PICTURE for side in size):
        raise PoiseError(
            f"the width and height of a picture must be {SMALLEST_PICTURE} to {LARGEST_PICTURE} pixels, "
            f"not {size[0]}x{size[1]}."
        )
