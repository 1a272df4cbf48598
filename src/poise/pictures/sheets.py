"""Combines several pictures into one: a row of postures, or a sheet of pictures with titles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from poise.errors import PoiseError
from poise.figure.model.figure import Figure, PostureLike
from poise.pictures.camera import Size, checked_view, framing
from poise.pictures.canvas import color_bytes
from poise.pictures.draw import drawable_points, render_picture
from poise.pictures.parts import appearance
from poise.pictures.picture import Picture
from poise.pictures.pillow import Image, ImageDraw, ImageFont
from poise.pictures.theme import Theme, theme_named


def strip(
    figure: Figure,
    postures: Iterable[PostureLike],
    *,
    size: Size = (450, 600),
    view: str = "three-quarter",
    theme: str | Theme = "light",
    titles: Sequence[str] | None = None,
    skeleton: bool = False,
    joints: bool = True,
) -> Picture:
    """Draw a row of postures of one figure, all from the same camera.

    Args:
        figure: The figure.
        postures: Its postures, from left to right.
        size: Width and height of each picture [pixels].
        view: front, side, top or three-quarter.
        theme: light or dark.
        titles: Text under each picture; by default the names of named postures.
        skeleton: Draw bones instead of shapes.
        joints: Mark the joints.
    """
    chosen = list(postures)
    if not chosen:
        raise PoiseError("a strip needs at least one posture.")
    look = appearance(figure, skeleton=skeleton)
    frames = [figure.frames(posture) for posture in chosen]
    points = np.concatenate([drawable_points(figure, look, pose) for pose in frames])
    camera = framing(points, figure.up, checked_view(view), size)
    pictures = [render_picture(figure, look, pose, camera, theme=theme, joints=joints) for pose in frames]
    names = list(titles) if titles is not None else [posture if isinstance(posture, str) else "" for posture in chosen]
    return contact_sheet(list(zip(names, pictures, strict=True)), columns=len(pictures), theme=theme)


def contact_sheet(
    titled: Sequence[tuple[str, Picture]], *, columns: int | None = None, theme: str | Theme = "light"
) -> Picture:
    """Arrange pictures in rows, each with its title below it.

    Args:
        titled: Titles and pictures.
        columns: Pictures per row; by default about as many as rows.
        theme: light or dark.
    """
    if not titled:
        raise PoiseError("a contact sheet needs at least one picture.")
    colors = theme_named(theme)
    across = columns or math.ceil(math.sqrt(len(titled)))
    width, height = (max(picture.size[axis] for _, picture in titled) for axis in range(2))
    letters = max(13, height // 26)
    below = round(2.0 * letters) if any(title for title, _ in titled) else 0
    rows = math.ceil(len(titled) / across)
    sheet = Image.new("RGB", (across * width, rows * (height + below)), color_bytes(colors.bottom))
    pen = ImageDraw.Draw(sheet)
    for k, (title, picture) in enumerate(titled):
        left, top = k % across * width, k // across * (height + below)
        sheet.paste(picture.image(), (left + (width - picture.size[0]) // 2, top))
        spot = (left + width // 2, top + height + below // 2)
        pen.text(spot, title, font=ImageFont.load_default(letters), fill=color_bytes(colors.text), anchor="mm")
    return Picture(np.asarray(sheet), tuple(note for _, picture in titled for note in picture.notes))
