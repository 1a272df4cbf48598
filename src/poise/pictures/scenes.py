"""Draws a scene: the figure in its posture and start posture, with its targets, obstacles and forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.scene import Scene
from poise.errors import FormatError
from poise.figure.model.figure import PostureLike
from poise.figure.model.pose import FloatArray, Frames
from poise.pictures.camera import Camera, Size, checked_view, framing
from poise.pictures.canvas import color_bytes
from poise.pictures.draw import SUPERSAMPLING, check_size, drawable_points
from poise.pictures.force_drawing import draw_forces, force_marks
from poise.pictures.goals import Marks, marks_of, plane_patch
from poise.pictures.marks import draw_marks, screen_point
from poise.pictures.parts import Appearance, Part, appearance, surface_of
from poise.pictures.picture import Picture
from poise.pictures.pillow import Image, ImageDraw
from poise.pictures.render import render
from poise.pictures.theme import Theme, theme_named
from poise.tasks.obstacles import Obstacle, Plane

START_OPACITY = 0.25
"""Opacity of the figure in its start posture."""


def draw_scene(
    scene: Scene,
    posture: PostureLike,
    *,
    size: Size = (900, 900),
    view: str = "three-quarter",
    theme: str | Theme = "light",
    start: bool = True,
    torques: bool | float = False,
    within: ArrayLike | None = None,
) -> Picture:
    """Draw a scene.

    Green crosses are targets, and red lines lead to missed targets. Dashed lines are lines of sight. The support
    polygon, the centre of mass and the weight are blue, forces on the figure orange, torques on it violet. Forces of
    the ground are green, red if the ground cannot hold the figure.

    Args:
        scene: The figure with its tasks, obstacles and forces.
        posture: The figure's posture, usually of a result.
        size: Width and height [pixels].
        view: front, side, top or three-quarter.
        theme: light or dark.
        start: Also show the start posture, faintly.
        torques: Also show the torque of every joint, as a violet arc that is as long as the torque is large; it is red
            where the joint lacks the strength. A number is the torque of the longest arc [N m].
        within: (k, 3) world points for the camera to frame instead of the drawn ones, so that several pictures share
            a camera.
    """
    check_size(size)
    figure, colors = scene.figure, theme_named(theme)
    here = figure.posture(posture)
    before = figure.posture(figure.neutral() if scene.start is None else scene.start)
    frames = _stacked(figure.frames(here), figure.frames(before))
    look = _scene_appearance(scene, len(figure.frames(here).position), colors)
    marks = marks_of(scene.tasks, here)
    forces = force_marks(here, scene.forces, look.extent, torques=torques)
    points = np.concatenate([drawable_points(figure, look, frames), marks.points(), forces.points()])
    patches = [plane_patch(plane, figure, points) for plane in scene.obstacles if isinstance(plane, Plane)]
    marks.planes += [patch for patch in patches if patch is not None]
    framed = points if within is None else np.asarray(within, dtype=np.float64)
    camera = framing(framed, figure.up, checked_view(view), size)
    fine = camera.enlarged(SUPERSAMPLING)
    image = _rendered(look, frames, fine, scene, colors, start=start and before != here)
    image = _with_transparent_areas(image, marks, fine, colors)
    pixels = np.array(image)
    draw_marks(pixels, figure, frames, fine, colors)
    image = Image.fromarray(pixels)
    _draw_goals(image, marks, fine, colors)
    draw_forces(image, forces, fine, colors)
    return Picture(np.asarray(image.reduce(SUPERSAMPLING)), look.notes)


def _stacked(here: Frames, before: Frames) -> Frames:
    """Frames of the figure in its posture, then in its start posture, then the world's frame."""
    position = np.concatenate([here.position, before.position, np.zeros((1, 3))])
    rotation = np.concatenate([here.rotation, before.rotation, [[1.0, 0.0, 0.0, 0.0]]])
    return Frames(position, rotation, here.index, here.owner)


def _scene_appearance(scene: Scene, count: int, theme: Theme) -> Appearance:
    """Surfaces of the figure in its posture and in its start posture, and of the obstacles.

    Args:
        scene: The scene.
        count: Number of the figure's frames.
        theme: Colours.
    """
    own = appearance(scene.figure)
    ghosts = tuple(replace(part, body=part.body + count) for part in own.parts)
    solids, notes = [], []
    for obstacle in scene.obstacles:
        if isinstance(obstacle, Obstacle):
            try:
                surface = surface_of(obstacle.shape).moved(obstacle.pose)
            except (FormatError, OSError) as problem:
                notes.append(f"obstacle {obstacle.name!r} is not drawn: {problem}")
                continue
            solids.append(Part(2 * count, surface, obstacle.shape.color or theme.obstacle))
    return Appearance((*own.parts, *ghosts, *solids), own.extent, (*own.notes, *notes))


def _rendered(
    look: Appearance, frames: Frames, camera: Camera, scene: Scene, theme: Theme, *, start: bool
) -> Image.Image:
    """The rendered surfaces; with `start`, blended with a picture that includes the start posture."""
    rows = (len(frames.position) - 1) // 2
    solid = replace(look, parts=tuple(part for part in look.parts if not rows <= part.body < 2 * rows))
    image = Image.fromarray(render(solid, frames, camera, scene.figure.up, theme))
    if not start:
        return image
    return Image.blend(image, Image.fromarray(render(look, frames, camera, scene.figure.up, theme)), START_OPACITY)


def _with_transparent_areas(image: Image.Image, marks: Marks, camera: Camera, theme: Theme) -> Image.Image:
    """The image with transparent areas for support polygons and planes."""
    wash = image.convert("RGBA")
    layer = Image.new("RGBA", image.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    width = _width(camera)
    for corners, color in [(c, theme.obstacle) for c in marks.planes] + [(c, theme.balance) for c in marks.footprints]:
        spots = [screen_point(camera, corner) for corner in corners]
        if len(spots) > 2:
            pen.polygon(spots, fill=(*color_bytes(color), 70))
        pen.line([*spots, spots[0]], fill=(*color_bytes(color), 230), width=width)
    return Image.alpha_composite(wash, layer).convert("RGB")


def _draw_goals(image: Image.Image, marks: Marks, camera: Camera, theme: Theme) -> None:
    pen = ImageDraw.Draw(image)
    width, radius = _width(camera), 0.011 * min(camera.size)
    for sight in marks.sights:
        _dashed(pen, sight, camera, color_bytes(theme.target), width)
    for gap in marks.gaps:
        pen.line([screen_point(camera, point) for point in gap], fill=color_bytes(theme.gap), width=width)
    for center, below in marks.weights:
        top, foot = screen_point(camera, center), screen_point(camera, below)
        pen.line([top, foot], fill=color_bytes(theme.balance), width=width)
        for (x, y), size in ((top, radius), (foot, 0.5 * radius)):
            pen.ellipse((x - size, y - size, x + size, y + size), color_bytes(theme.balance), color_bytes(theme.ring))
    for target in marks.targets:
        _cross(pen, screen_point(camera, target), radius, theme)


def _cross(pen: ImageDraw.ImageDraw, spot: tuple[float, float], radius: float, theme: Theme) -> None:
    """Draw a cross in a ring, with a border that is visible on any background."""
    x, y = spot
    for color, width in ((theme.ring, 0.6 * radius), (theme.target, 0.3 * radius)):
        ink, thick = color_bytes(color), max(1, round(width))
        pen.line([(x - 1.5 * radius, y), (x + 1.5 * radius, y)], fill=ink, width=thick)
        pen.line([(x, y - 1.5 * radius), (x, y + 1.5 * radius)], fill=ink, width=thick)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=ink, width=thick)


def _dashed(pen: ImageDraw.ImageDraw, ends: FloatArray, camera: Camera, ink: tuple[int, int, int], width: int) -> None:
    a, b = (np.array(screen_point(camera, end)) for end in ends)
    dash = 0.012 * min(camera.size)
    count = max(1, round(float(np.linalg.norm(b - a)) / (2.0 * dash)))
    for k in range(count):
        first, last = a + (b - a) * k / count, a + (b - a) * (k + 0.5) / count
        pen.line([tuple(first), tuple(last)], fill=ink, width=width)


def _width(camera: Camera) -> int:
    return max(2, round(0.0025 * min(camera.size)))
