"""Draws a motion as pictures from one camera: a figure, a ball that it watches, its line of sight; animated GIFs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import PoiseError
from poise.figure.model.facing import POINTING
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray, Frames, Pose, vector
from poise.figure.model.shapes import Color, Sphere
from poise.pictures.camera import Camera, Size, checked_view, framing
from poise.pictures.canvas import color_bytes
from poise.pictures.draw import SUPERSAMPLING, check_size, drawable_points
from poise.pictures.marks import screen_point
from poise.pictures.parts import Appearance, Part, appearance, surface_of
from poise.pictures.picture import Picture
from poise.pictures.pillow import Image, ImageDraw, ImageFont
from poise.pictures.render import render
from poise.pictures.theme import Theme, theme_named

BALL_COLOR: Color = (0.86, 0.22, 0.16)
_IDENTITY_ROTATION = (1.0, 0.0, 0.0, 0.0)
SIGHT_LENGTH = 0.3
"""Length of the line of sight, as a share of the figure's size."""
_CAMERA_FRAMES = 24
"""Number of frames, evenly spaced, that the camera is fitted to."""
GIF_COLORS = 128
"""Number of colours per frame; more colours make larger files."""


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
    """Draw one picture for every posture.

    Args:
        figure: The figure that moves.
        postures: Its postures in order.
        ball: (frames, 3) positions of a ball [m].
        radius: Radius of the ball [m].
        eyes: The site whose line of sight is drawn.
        captions: Text above each picture.
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
        raise PoiseError(
            f"ball must be {len(poses)} points (x, y, z), one for each posture, not of shape {places[:, 0].shape}."
        )
    look = _with_ball(appearance(figure), len(poses[0].position), radius, ball is not None)
    stacked = [_with_extra_frames(pose, place) for pose, place in zip(poses, places, strict=True)]
    every = stacked[:: max(1, len(stacked) // _CAMERA_FRAMES)]
    points = np.concatenate([drawable_points(figure, look, pose) for pose in every])
    camera = framing(points, figure.up, checked_view(view), size).enlarged(SUPERSAMPLING)
    settings = _FilmSettings(figure, look, camera, theme_named(theme), eyes)
    texts = [*captions, *[""] * (len(poses) - len(captions))]
    return [settings.picture(pose, text) for pose, text in zip(stacked, texts, strict=True)]


@dataclass(frozen=True)
class _FilmSettings:
    """The figure, camera and theme that all pictures of a film share."""

    figure: Figure
    look: Appearance
    camera: Camera
    theme: Theme
    eyes: str | None
    """Site whose line of sight is drawn; None for no line."""

    def picture(self, pose: Frames, text: str) -> Picture:
        """Draw one posture with a caption."""
        image = Image.fromarray(render(self.look, pose, self.camera, self.figure.up, self.theme))
        if self.eyes is not None:
            self._draw_sight(ImageDraw.Draw(image), pose[self.eyes], self.figure.facing_axis(self.eyes))
        image = image.reduce(SUPERSAMPLING)
        if text:
            height = max(11, image.height // 22)
            ink, font = color_bytes(self.theme.text), ImageFont.load_default(height)
            ImageDraw.Draw(image).text((height, 0.6 * height), text, fill=ink, font=font)
        return Picture(np.asarray(image), self.look.notes)

    def _draw_sight(self, pen: ImageDraw.ImageDraw, eye: Pose, facing: FloatArray | None) -> None:
        start = eye.position
        end = eye.apply(SIGHT_LENGTH * self.look.extent * (vector(POINTING) if facing is None else facing))
        width = max(2, round(0.007 * min(self.camera.size)))
        spots = [screen_point(self.camera, start), screen_point(self.camera, end)]
        pen.line(spots, fill=color_bytes(self.theme.target), width=width)


def _with_ball(look: Appearance, row: int, radius: float, wanted: bool) -> Appearance:
    if not wanted:
        return look
    return Appearance((*look.parts, Part(row, surface_of(Sphere(radius)), BALL_COLOR)), look.extent, look.notes)


def _with_extra_frames(pose: Frames, places: FloatArray) -> Frames:
    """The figure's frames, followed by unrotated frames at `places` (k, 3)."""
    turns = np.tile(_IDENTITY_ROTATION, (len(places), 1))
    return Frames(
        np.concatenate([pose.position, places]), np.concatenate([pose.rotation, turns]), pose.index, pose.owner
    )


def save_gif(pictures: Iterable[Picture], path: str | Path, *, rate: float = 15.0) -> Path:
    """Write pictures of one size as an animation that repeats.

    Args:
        pictures: The frames.
        path: The file; a name without an ending gets .gif.
        rate: Frames per second.
    """
    frames = [picture.image().quantize(GIF_COLORS, dither=Image.Dither.NONE) for picture in pictures]
    if not frames:
        raise PoiseError("an animation needs at least one picture.")
    if not 0.0 < rate <= 50.0:
        raise PoiseError(f"the rate of a GIF must be above 0 and at most 50 pictures per second, not {rate}.")
    file = Path(path) if Path(path).suffix else Path(path).with_suffix(".gif")
    pause = round(1000.0 / rate)
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)
    return file
