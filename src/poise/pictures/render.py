"""The software renderer: depth pass, floor with shadow, and shading."""

from __future__ import annotations

import numpy as np

from poise.figure.model.figure import UpAxis
from poise.figure.model.pose import FloatArray, Frames
from poise.kernels.drawing import raster
from poise.pictures.camera import Camera, world_axes
from poise.pictures.canvas import Pixels
from poise.pictures.floor import floor_under, kernel_vector, shadow_on
from poise.pictures.parts import Appearance, Part
from poise.pictures.surface import IntArray
from poise.pictures.theme import Theme

DISPLAY_GAMMA = 2.2


def render(look: Appearance, frames: Frames, camera: Camera, up: UpAxis, theme: Theme) -> Pixels:
    """(height, width, 3) pixels of all parts on a floor.

    Args:
        look: Surfaces of the parts.
        frames: World poses of the bodies.
        camera: The camera.
        up: Up axis of the world.
        theme: Colours and lights.
    """
    vertices, normals = look.vertices(frames), look.normals(frames)
    triangles, part = _triangles(look.parts)
    width, height = camera.size
    nearness = np.zeros((height, width), dtype=np.float32)
    drawn = np.full((height, width), raster.NO_TRIANGLE)
    screen = camera.project(vertices)
    raster.fill(screen, triangles, nearness, drawn)
    floor = floor_under(vertices, up, theme)
    shadow = shadow_on(floor, vertices, triangles)
    picture = np.empty((height, width, 3), dtype=np.uint8)
    raster.shade(
        _kernel_camera(camera),
        _kernel_light(camera, up, look.extent, theme),
        floor,
        screen,
        normals,
        triangles,
        part,
        _colors(look.parts, theme),
        nearness,
        drawn,
        shadow,
        picture,
    )
    return picture


def _triangles(parts: tuple[Part, ...]) -> tuple[IntArray, IntArray]:
    """(t, 3) vertex indices of the triangles of all parts, and (t,) the part of each triangle."""
    starts = np.cumsum([0, *(len(part.surface.vertices) for part in parts)])
    rows = [part.surface.triangles + start for part, start in zip(parts, starts, strict=False)]
    numbers = [np.full(len(part.surface.triangles), k, dtype=np.int64) for k, part in enumerate(parts)]
    return np.concatenate([np.empty((0, 3), dtype=np.int64), *rows]), np.concatenate([np.empty(0, np.int64), *numbers])


def _colors(parts: tuple[Part, ...], theme: Theme) -> FloatArray:
    """(p, 3) linear colour of each part."""
    shown = [part.color or (theme.bone if part.is_bone else theme.body) for part in parts]
    return np.array(shown, dtype=np.float64).reshape(-1, 3) ** DISPLAY_GAMMA


def _kernel_camera(camera: Camera) -> raster.Camera:
    right, above, back = camera.axes
    return raster.Camera(
        eye=kernel_vector(camera.eye),
        ahead=kernel_vector(-back),
        right=kernel_vector(right),
        above=kernel_vector(above),
        focal=float(camera.focal),
        center_x=0.5 * camera.size[0],
        center_y=0.5 * camera.size[1],
    )


def _kernel_light(camera: Camera, up: UpAxis, extent: float, theme: Theme) -> raster.Light:
    """Lights that move with the camera: the key light from its upper left and the fill light from its right."""
    right, above, back = camera.axes
    upward = world_axes(up)[2]
    key = -0.55 * right + 0.35 * above + 0.6 * back + 0.45 * upward
    fill = 0.85 * right + 0.1 * above + 0.5 * back
    return raster.Light(
        key=kernel_vector(key / np.linalg.norm(key)),
        fill=kernel_vector(fill / np.linalg.norm(fill)),
        up=kernel_vector(upward),
        key_strength=theme.key,
        fill_strength=theme.fill,
        sky=theme.sky,
        ground=theme.ground,
        shine=theme.shine,
        reach=0.05 * extent,
        occlusion=0.75,
        outline=0.18,
    )
