"""A motion as pictures, all seen from one place: a figure, the balls it watches, and its line of sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw, ImageFont

from poise.errors import PoiseError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.frames import Frames
from poise.figure.model.pose import FloatArray, to_matrix
from poise.figure.model.shapes import Sphere
from poise.pictures.camera import Camera, Size, checked_view, framing
from poise.pictures.draw import FINENESS, check_size, drawable_points
from poise.pictures.marks import color_bytes, spot_of
from poise.pictures.parts import Appearance, Color, Part, appearance, surface_of
from poise.pictures.picture import Picture
from poise.pictures.render import render
from poise.pictures.theme import Theme, theme_named

BALL: Color = (0.86, 0.22, 0.16)
_NO_TURN = (1.0, 0.0, 0.0, 0.0)
SIGHT = 0.3
"""Length of a line of sight, in sizes of the figure."""
_FRAMED = 24
"""Frames that decide where the camera stands."""


def film(
    figure: Figure,
    postures: Sequence[PostureLike],
    *,
    ball: ArrayLike | None = None,
    radius: float = 0.03,
    eyes: str | None = None,
    captions: Sequence[str] = (),
    size: Size = (360, 360),
    view: str = "three-quarter",
    theme: str | Theme = "light",
) -> list[Picture]:
    """One picture for every posture.

    Args:
        figure: Who moves.
        postures: Its postures in order.
        ball: (frames, 3) where a ball is [m].
        radius: Of the ball [m].
        eyes: The site whose line of sight is drawn, along its own +Y.
        captions: What to write above each picture.
        size: Width and height [pixels].
        view: front, side, top or three-quarter.
        theme: light or dark.
    """
    check_size(size)
    poses = [figure.frames(posture) for posture in postures]
    if not poses:
        raise PoiseError("a film needs at least one posture.")
    places = np.empty((len(poses), 0, 3)) if ball is None else np.asarray(ball, dtype=np.float64)[:, None, :]
    if len(places) != len(poses) or places.shape[2] != 3:
        raise PoiseError(f"a film of {len(poses)} postures needs the ball at {len(poses)} points (x, y, z).")
    look = _with_ball(appearance(figure), len(poses[0].position), radius, ball is not None)
    stacked = [_beside(pose, place) for pose, place in zip(poses, places, strict=True)]
    every = stacked[:: max(1, len(stacked) // _FRAMED)]
    points = np.concatenate([drawable_points(figure, look, pose) for pose in every])
    camera = framing(points, figure.up, checked_view(view), size).enlarged(FINENESS)
    stage = _Stage(figure, look, camera, theme_named(theme), None if eyes is None else figure.frame_row(eyes))
    texts = [*captions, *[""] * (len(poses) - len(captions))]
    return [stage.shot(pose, text) for pose, text in zip(stacked, texts, strict=True)]


@dataclass(frozen=True)
class _Stage:
    """What all pictures of a film have in common."""

    figure: Figure
    look: Appearance
    camera: Camera
    theme: Theme
    eyes: int | None
    """Row of the site that looks."""

    def shot(self, pose: Frames, text: str) -> Picture:
        image = Image.fromarray(render(self.look, pose, self.camera, self.figure.up, self.theme))
        if self.eyes is not None:
            self._draw_sight(ImageDraw.Draw(image), pose.position[self.eyes], pose.rotation[self.eyes])
        image = image.reduce(FINENESS)
        if text:
            height = max(11, image.height // 22)
            ink, font = color_bytes(self.theme.text), ImageFont.load_default(height)
            ImageDraw.Draw(image).text((height, 0.6 * height), text, fill=ink, font=font)
        return Picture(np.asarray(image), self.look.notes)

    def _draw_sight(self, pen: ImageDraw.ImageDraw, start: FloatArray, rotation: FloatArray) -> None:
        end = start + SIGHT * self.look.extent * to_matrix(rotation)[:, 1]
        width = max(2, round(0.007 * min(self.camera.size)))
        spots = [spot_of(self.camera, start), spot_of(self.camera, end)]
        pen.line(spots, fill=color_bytes(self.theme.target), width=width)


def _with_ball(look: Appearance, row: int, radius: float, wanted: bool) -> Appearance:
    if not wanted:
        return look
    return Appearance((*look.parts, Part(row, surface_of(Sphere(radius)), BALL)), look.extent, look.notes)


def _beside(pose: Frames, places: FloatArray) -> Frames:
    """Frames of the figure and of what is beside it."""
    turns = np.tile(_NO_TURN, (len(places), 1))
    return Frames(
        np.concatenate([pose.position, places]), np.concatenate([pose.rotation, turns]), pose.index, pose.owner
    )
