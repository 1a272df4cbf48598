"""Draws marks over a picture: discs on joints, rings on loop joints, lines along slides, names and sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Frames, to_matrix
from poise.figure.model.shapes import Color
from poise.pictures.bones import JointPlace, joint_places
from poise.pictures.camera import Camera
from poise.pictures.canvas import Pixels, Spot, color_bytes, disc, line
from poise.pictures.picture import Picture
from poise.pictures.theme import Theme

if TYPE_CHECKING:
    from PIL import ImageDraw

OPEN_LOOP_GAP = 1e-6
"""Gap of a loop joint from which the loop is drawn as open [m]."""
_AXIS_COLORS = ((217, 56, 62), (70, 160, 80), (60, 110, 220))


def mark_points(figure: Figure, frames: Frames) -> FloatArray:
    """(k, 3) world points of all marks on joints, which a picture must show [m]."""
    places = [*joint_places(figure, frames), *joint_places(figure, frames, loops=True)]
    rows = [point for place in places for point in (place.on_parent.position, place.on_child.position)]
    return np.array(rows).reshape(-1, 3)


def draw_marks(pixels: Pixels, figure: Figure, frames: Frames, camera: Camera, theme: Theme) -> None:
    """Draw all joints and then all loop joints, each group from far to near."""
    radius = _disc_radius(figure, frames, camera)
    for place in _farthest_first(_moving(joint_places(figure, frames)), camera):
        _draw_rail(pixels, place, camera, theme, radius)
        color = theme.active if place.joint.active else theme.passive
        _disc(pixels, screen_point(camera, place.on_child.position), radius, color, theme.ring)
    for place in _farthest_first(joint_places(figure, frames, loops=True), camera):
        _draw_loop(pixels, place, camera, theme, radius)


def _moving(places: list[JointPlace]) -> list[JointPlace]:
    """The places without fixed and free joints, which get no mark."""
    return [place for place in places if place.joint.kind not in ("fixed", "free")]


def _farthest_first(places: list[JointPlace], camera: Camera) -> list[JointPlace]:
    return sorted(places, key=lambda place: float(camera.axes[2] @ place.on_child.position))


def screen_point(camera: Camera, point: FloatArray) -> tuple[float, float]:
    """Screen position of a world point (3,) [pixels]."""
    x, y, _ = camera.project(point)[0]
    return float(x), float(y)


def _disc_radius(figure: Figure, frames: Frames, camera: Camera) -> float:
    """Radius of the discs [pixels]: smaller for figures whose joints are close together on the screen."""
    largest = 0.0068 * min(camera.size)
    points = np.array([place.on_child.position for place in _moving(joint_places(figure, frames))]).reshape(-1, 3)
    spots = camera.project(points)[:, :2]
    if len(spots) < 2:
        return largest
    apart = np.linalg.norm(spots[:, None] - spots[None], axis=2)
    apart[apart < 1.0] = np.inf
    typical = float(np.median(apart.min(axis=1)))
    return float(np.clip(0.28 * typical, 0.35 * largest, largest))


def _disc(pixels: Pixels, spot: Spot, radius: float, fill: Color, ring: Color) -> None:
    disc(pixels, spot, 1.35 * radius, ring)
    disc(pixels, spot, radius, fill)


def _draw_rail(pixels: Pixels, place: JointPlace, camera: Camera, theme: Theme, radius: float) -> None:
    """Draw a line along the displacement of a sliding joint."""
    if "slide" in place.joint.primitives:
        start, end = (screen_point(camera, pose.position) for pose in (place.on_parent, place.on_child))
        line(pixels, start, end, max(2, round(0.5 * radius)), theme.active if place.joint.active else theme.passive)


def _draw_loop(pixels: Pixels, place: JointPlace, camera: Camera, theme: Theme, radius: float) -> None:
    """Draw a ring on each end of a loop joint, and a line across the gap if the loop is open."""
    near, far = place.on_parent.position, place.on_child.position
    slides = "slide" in place.joint.primitives or place.joint.kind == "free"
    if not slides and float(np.linalg.norm(near - far)) > OPEN_LOOP_GAP:
        line(pixels, screen_point(camera, near), screen_point(camera, far), max(3, round(0.6 * radius)), theme.gap)
    for point in (near, far):
        spot = screen_point(camera, point)
        _disc(pixels, spot, 1.25 * radius, theme.loop, theme.ring)
        disc(pixels, spot, 0.55 * radius, theme.ring)


def draw_labels(picture: Picture, figure: Figure, frames: Frames, camera: Camera, theme: Theme) -> Picture:
    """The picture with every site as three small axes, and the names of joints and sites beside them."""
    image = picture.image()
    from poise.pictures.pillow import ImageDraw

    pen = ImageDraw.Draw(image)
    names = [(place.on_child.position, place.joint.name) for place in _moving(joint_places(figure, frames))]
    names += [(place.on_parent.position, place.joint.name) for place in joint_places(figure, frames, loops=True)]
    for row, site in enumerate(figure.sites, start=len(figure.bodies)):
        _draw_triad(pen, frames.position[row], frames.rotation[row], camera)
        names.append((frames.position[row], site.name))
    _write(pen, [(screen_point(camera, point), name) for point, name in names], theme, max(11, min(camera.size) // 70))
    return Picture(np.asarray(image), picture.notes)


def _draw_triad(pen: ImageDraw.ImageDraw, position: FloatArray, rotation: FloatArray, camera: Camera) -> None:
    """Draw the axes of a frame in red, green and blue, with the same length in every picture."""
    start = screen_point(camera, position)
    length = 0.03 * min(camera.size) / camera.focal / float(camera.project(position)[0, 2])
    for axis, color in zip(to_matrix(rotation).T, _AXIS_COLORS, strict=True):
        pen.line([start, screen_point(camera, position + length * axis)], fill=color, width=2)


def _write(pen: ImageDraw.ImageDraw, names: list[tuple[tuple[float, float], str]], theme: Theme, height: int) -> None:
    """Write each name to the right of its screen position, below other names that it would cover."""
    from poise.pictures.pillow import ImageFont

    font = ImageFont.load_default(height)
    taken: list[tuple[float, float, float, float]] = []
    for (x, y), name in sorted(names, key=lambda item: item[0][1]):
        left, top, right, bottom = pen.textbbox((x + 1.1 * height, y), name, font=font, anchor="lm")
        for other in taken:
            if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
                top, bottom = other[3] + 1.0, other[3] + 1.0 + bottom - top
        taken.append((left, top, right, bottom))
        ink, halo = color_bytes(theme.text), color_bytes(theme.top)
        pen.text((left, top), name, ink, font=font, anchor="lt", stroke_width=2, stroke_fill=halo)
