"""Draw a figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from poise.errors import PoiseError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray
from poise.pictures.camera import Camera, Size, checked_view, framing
from poise.pictures.marks import draw_labels, draw_marks, mark_points
from poise.pictures.parts import Appearance, appearance
from poise.pictures.picture import Picture
from poise.pictures.render import render
from poise.pictures.theme import Theme, theme_named

FINENESS = 2
"""Pixels drawn per pixel shown, each way."""
SMALLEST, LARGEST = 16, 8192


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
    """A picture of a figure, without a window or a browser.

    Args:
        figure: What to draw.
        posture: How it is posed; its neutral posture by default.
        size: Width and height [pixels].
        view: front, side, top or three-quarter.
        theme: light or dark.
        skeleton: Draw bones instead of shapes.
        collision: Draw the shapes that collide instead of those meant to be seen.
        joints: Mark the joints.
        labels: Name the joints and show the sites.
        folder: Where mesh files are looked for; usually the folder of the file the figure came from.
    """
    check_size(size)
    frames = figure.frames(figure.neutral() if posture is None else posture)
    home = Path(folder) if folder is not None else None
    look = appearance(figure, skeleton=skeleton, collision=collision, folder=home)
    camera = framing(drawable_points(figure, look, frames), figure.up, checked_view(view), size)
    return photograph(figure, look, frames, camera, theme=theme, joints=joints, labels=labels)


def photograph(
    figure: Figure,
    look: Appearance,
    frames: Frames,
    camera: Camera,
    *,
    theme: str | Theme = "light",
    joints: bool = True,
    labels: bool = False,
) -> Picture:
    """The picture that a camera takes."""
    colors = theme_named(theme)
    fine = camera.enlarged(FINENESS)
    image = Image.fromarray(render(look, frames, fine, figure.up, colors))
    if joints:
        draw_marks(image, figure, frames, fine, colors)
    image = image.reduce(FINENESS)
    if labels:
        draw_labels(image, figure, frames, camera, colors)
    return Picture(np.asarray(image), look.notes)


def drawable_points(figure: Figure, look: Appearance, frames: Frames) -> FloatArray:
    """(k, 3) world points that a picture of the figure should show."""
    return np.concatenate([look.vertices(frames), mark_points(figure, frames)])


def check_size(size: Size) -> None:
    """Refuse pictures that nobody could see, or that no memory could hold."""
    if not all(SMALLEST <= side <= LARGEST for side in size):
        raise PoiseError(f"a picture has {SMALLEST} to {LARGEST} pixels each way, not {size[0]}x{size[1]}.")
