"""Software rasteriser with a depth buffer: the visible triangle of each pixel, then its shading.

`fill` finds, for every pixel, the nearest triangle and its inverse depth 1/z, which is linear on the screen and so
needs no perspective division per pixel. `shade` colours every pixel once. On a triangle it interpolates the normal and
adds a key light, a fill light, hemispherical ambient light and screen-space ambient occlusion. Elsewhere it draws the
backdrop and the floor with its grid and shadow.

A caller draws at twice the size and halves the picture, so `shade` works on blocks of 2 × 2 pixels. The four pixels
share one backdrop colour and use different occlusion samples, so that the halved picture has no noise.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel
from poise.kernels.maths.vector import Vector, add, dot, length, normalized, scale, subtract, vector_at

Array = np.ndarray

NO_TRIANGLE = -1
"""Triangle index of a pixel without a triangle."""
OCCLUSION_SAMPLES = 10
"""Ambient occlusion samples per pixel."""


class Camera(NamedTuple):
    """A pinhole camera: a point at depth z and lateral offset x is drawn at centre + focal · x / z."""

    eye: Vector
    """World position [m]."""
    ahead: Vector
    """Unit viewing direction."""
    right: Vector
    """Unit direction to the right of the picture."""
    above: Vector
    """Unit direction to the top of the picture."""
    focal: float
    """Focal length [pixels]."""
    center_x: float
    """Column of the optical axis [pixels]."""
    center_y: float
    """Row of the optical axis [pixels]."""


class Light(NamedTuple):
    """Parameters of the lighting; directions point towards the light."""

    key: Vector
    """Unit direction of the key light."""
    fill: Vector
    """Unit direction of the fill light."""
    up: Vector
    """Unit direction of the sky."""
    key_strength: float
    """Factor on the key light."""
    fill_strength: float
    """Factor on the fill light."""
    sky: float
    """Ambient light on surfaces that face up."""
    ground: float
    """Ambient light on surfaces that face down."""
    shine: float
    """Strength of the highlight of the key light."""
    reach: float
    """Radius of the ambient occlusion [m]."""
    occlusion: float
    """Strength of the ambient occlusion, 0 … 1."""
    outline: float
    """Darkening of the border between two parts, 0 … 1."""


class Floor(NamedTuple):
    """The floor and the backdrop; colours are gamma-encoded, 0 … 1."""

    center: Vector
    """Middle of the grid [m]."""
    x: Vector
    """Unit direction of one set of grid lines."""
    y: Vector
    """Unit direction of the other set."""
    up: Vector
    """Unit normal of the floor."""
    spacing: float
    """Distance between grid lines [m]; 0 for no grid."""
    radius: float
    """Distance at which the grid has faded out [m]."""
    shadow_radius: float
    """Half the width of the shadow picture [m]."""
    line_strength: float
    """Opacity of the grid, 0 … 1."""
    shadow_strength: float
    """Opacity of the shadow, 0 … 1."""
    line: Vector
    """Colour of the grid."""
    shadow: Vector
    """Colour of the shadow."""
    top: Vector
    """Backdrop at the upper border."""
    bottom: Vector
    """Backdrop at the lower border."""


@kernel(counts_references=True)
def fill(
    screen: Array,
    triangles: Array,
    # outputs
    nearness: Array,
    drawn: Array,
) -> None:
    """Find the nearest triangle of each pixel: `drawn` (h, w), and its inverse depth `nearness` (h, w) [1/m].

    `screen` (v, 3) holds the pixel coordinates and the inverse depth of each vertex, `triangles` (t, 3) vertex indices.
    Pixel (x, y) is sampled at its middle (x + ½, y + ½). Triangles of both orientations are drawn.
    """
    height, width = nearness.shape
    for t in range(triangles.shape[0]):
        a, b, c = _corners(screen, triangles, t)
        area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        if not abs(area) > 1e-12 or a.z <= 0.0 or b.z <= 0.0 or c.z <= 0.0:
            continue
        left = max(0, math.ceil(max(-1.0, min(a.x, b.x, c.x)) - 0.5))
        right = min(width - 1, math.floor(min(width + 1.0, max(a.x, b.x, c.x)) - 0.5))
        top = max(0, math.ceil(max(-1.0, min(a.y, b.y, c.y)) - 0.5))
        bottom = min(height - 1, math.floor(min(height + 1.0, max(a.y, b.y, c.y)) - 0.5))
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                u = ((b.x - x) * (c.y - y) - (b.y - y) * (c.x - x)) / area
                v = ((c.x - x) * (a.y - y) - (c.y - y) * (a.x - x)) / area
                w = 1.0 - u - v
                if u >= 0.0 and v >= 0.0 and w >= 0.0:
                    near = u * a.z + v * b.z + w * c.z
                    if near > nearness[row, column]:
                        nearness[row, column] = near
                        drawn[row, column] = t


@kernel(counts_references=True)
def _corners(rows: Array, triangles: Array, t: int) -> tuple[Vector, Vector, Vector]:
    """Rows of the three vertices of triangle `t`."""
    return vector_at(rows, triangles[t, 0]), vector_at(rows, triangles[t, 1]), vector_at(rows, triangles[t, 2])


@kernel(counts_references=True)
def shade(
    camera: Camera,
    light: Light,
    floor: Floor,
    screen: Array,
    normals: Array,
    triangles: Array,
    part: Array,
    colors: Array,
    nearness: Array,
    drawn: Array,
    shadow: Array,
    # outputs
    picture: Array,
) -> None:
    """Colour every pixel of `picture` (h, w, 3) uint8.

    `normals` (v, 3) are those of the vertices, `part` (t,) is the part of each triangle and `colors` (p, 3) the linear
    colour of each part; `nearness` and `drawn` come from `fill`; `shadow` (n, n) is the shadow on the floor, 0 … 1.
    """
    height, width = nearness.shape
    spirals = _spirals()
    for row in range(0, height, 2):
        for column in range(0, width, 2):
            behind = Vector(-1.0, -1.0, -1.0)
            for corner in range(4):
                y, x = row + corner // 2, column + corner % 2
                if y >= height or x >= width:
                    continue
                if drawn[y, x] == NO_TRIANGLE:
                    if behind.x < 0.0:
                        behind = _backdrop(camera, floor, _ray(camera, x, y), shadow, (y + 0.5) / height)
                    color = behind
                else:
                    t = drawn[y, x]
                    ray = _ray(camera, x, y)
                    weights = _weights(_corners(screen, triangles, t), x + 0.5, y + 0.5)
                    normal = _facing(_blend(_corners(normals, triangles, t), weights), ray)
                    hidden = _occlusion(camera, light, nearness, spirals, corner, normal, y, x)
                    lit = _lit(light, vector_at(colors, part[t]), normal, ray, 1.0 - light.occlusion * hidden)
                    color = scale(lit, 1.0 - light.outline * _on_border(part, drawn, nearness, y, x))
                picture[y, x, 0] = _byte(color.x)
                picture[y, x, 1] = _byte(color.y)
                picture[y, x, 2] = _byte(color.z)


@kernel(counts_references=True)
def _byte(value: float) -> int:
    """A colour component 0 … 1 as an integer 0 … 255."""
    return int(min(max(value, 0.0), 1.0) * 255.0 + 0.5)


@kernel(counts_references=True)
def _ray(camera: Camera, column: int, row: int) -> Vector:
    """Direction of the ray through the middle of a pixel, with component 1 along `ahead`."""
    x = (column + 0.5 - camera.center_x) / camera.focal
    y = (camera.center_y - row - 0.5) / camera.focal
    return add(camera.ahead, add(scale(camera.right, x), scale(camera.above, y)))


@kernel(counts_references=True)
def _weights(corners: tuple[Vector, Vector, Vector], x: float, y: float) -> Vector:
    """Barycentric coordinates of the screen point (x, y) in a triangle."""
    a, b, c = corners
    area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
    u = ((b.x - x) * (c.y - y) - (b.y - y) * (c.x - x)) / area
    v = ((c.x - x) * (a.y - y) - (c.y - y) * (a.x - x)) / area
    return Vector(u, v, 1.0 - u - v)


@kernel(counts_references=True)
def _blend(vectors: tuple[Vector, Vector, Vector], shares: Vector) -> Vector:
    """Sum of three vectors weighted by `shares`."""
    a, b, c = vectors
    return add(add(scale(a, shares.x), scale(b, shares.y)), scale(c, shares.z))


@kernel(counts_references=True)
def _facing(normal: Vector, ray: Vector) -> Vector:
    """The unit normal, turned towards the camera."""
    return normalized(scale(normal, -1.0) if dot(normal, ray) > 0.0 else normal)


@kernel(counts_references=True)
def _lit(light: Light, color: Vector, normal: Vector, ray: Vector, open_sky: float) -> Vector:
    """Gamma-encoded colour of a surface: wrapped diffuse light, ambient light and a highlight."""
    key = max(0.0, (dot(normal, light.key) + 0.15) / 1.15)
    side = max(0.0, (dot(normal, light.fill) + 0.3) / 1.3)
    facing_up = 0.5 + 0.5 * dot(normal, light.up)
    ambient = (light.ground + (light.sky - light.ground) * facing_up) * open_sky
    amount = ambient + (light.key_strength * key + light.fill_strength * side) * (0.4 + 0.6 * open_sky)
    halfway = normalized(subtract(light.key, normalized(ray)))
    gloss = light.shine * _to_the_32nd(max(0.0, dot(normal, halfway))) * open_sky
    return Vector(
        (color.x * amount + gloss) ** (1.0 / 2.2),
        (color.y * amount + gloss) ** (1.0 / 2.2),
        (color.z * amount + gloss) ** (1.0 / 2.2),
    )


@kernel(counts_references=True)
def _to_the_32nd(x: float) -> float:
    """x³²."""
    for _ in range(5):
        x *= x
    return x


@kernel(counts_references=True)
def _spirals() -> Array:
    """(4, samples, 2) sample points of the unit disc on golden-angle spirals, one spiral for each pixel of a block."""
    out = np.empty((4, OCCLUSION_SAMPLES, 2))
    for corner in range(4):
        for k in range(OCCLUSION_SAMPLES):
            r = (k + 0.25 * corner + 0.125) / OCCLUSION_SAMPLES
            angle = 2.399963 * (k + 2.5 * corner)
            out[corner, k, 0] = r * math.cos(angle)
            out[corner, k, 1] = r * math.sin(angle)
    return out


@kernel(counts_references=True)
def _occlusion(
    camera: Camera, light: Light, nearness: Array, spirals: Array, corner: int, normal: Vector, row: int, column: int
) -> float:
    """Screen-space ambient occlusion: the share of the sky that nearby surfaces hide, 0 … 1.

    A surface point at offset v hides max(0, n·v/|v|), fading with distance. All vectors are in camera axes, where a
    pixel at (x, y) from the centre and depth z lies at z (x / focal, y / focal, 1).
    """
    height, width = nearness.shape
    z = 1.0 / nearness[row, column]
    step = 1.0 / camera.focal
    x, y = (column + 0.5 - camera.center_x) * step * z, (camera.center_y - row - 0.5) * step * z
    n = Vector(dot(normal, camera.right), dot(normal, camera.above), dot(normal, camera.ahead))
    spread = min(light.reach * camera.focal / z, 0.1 * height)
    fading = 0.5 / light.reach
    hidden = 0.0
    for k in range(spirals.shape[1]):
        i, j = int(column + spread * spirals[corner, k, 0]), int(row + spread * spirals[corner, k, 1])
        if i < 0 or j < 0 or i >= width or j >= height or nearness[j, i] <= 0.0:
            continue
        depth = 1.0 / nearness[j, i]
        v = Vector(
            (i + 0.5 - camera.center_x) * step * depth - x, (camera.center_y - j - 0.5) * step * depth - y, depth - z
        )
        raised = dot(n, v)
        if raised > 0.0:
            size = length(v)
            hidden += max(0.0, 1.0 - size * fading) * max(0.0, raised / size - 0.05)
    return min(1.0, 2.0 * hidden / spirals.shape[1])


@kernel(counts_references=True)
def _on_border(part: Array, drawn: Array, nearness: Array, row: int, column: int) -> float:
    """1 where a neighbouring pixel shows another part at greater depth, else 0."""
    height, width = nearness.shape
    own = part[drawn[row, column]]
    near = nearness[row, column]
    for step in range(4):
        x = column + (1, -1, 0, 0)[step]
        y = row + (0, 0, 1, -1)[step]
        if 0 <= x < width and 0 <= y < height and nearness[y, x] < near:
            other = drawn[y, x]
            if other == NO_TRIANGLE or part[other] != own:
                return 1.0
    return 0.0


@kernel(counts_references=True)
def _backdrop(camera: Camera, floor: Floor, ray: Vector, shadow: Array, down: float) -> Vector:
    """Colour of a pixel without a triangle: the backdrop, with grid and shadow where the ray meets the floor."""
    color = _mix(floor.top, floor.bottom, down)
    descent = -dot(ray, floor.up)
    above = dot(subtract(camera.eye, floor.center), floor.up)
    if descent <= 1e-6 or above <= 0.0:
        return color
    distance = above / descent
    spot = subtract(add(camera.eye, scale(ray, distance)), floor.center)
    x, y = dot(spot, floor.x), dot(spot, floor.y)
    away = math.sqrt(x * x + y * y) / floor.radius
    if away < 1.0 and floor.spacing > 0.0:
        pixel = distance / camera.focal
        across_x = pixel * _stretch(dot(ray, floor.x), descent)
        across_y = pixel * _stretch(dot(ray, floor.y), descent)
        line = max(_line(x, floor.spacing, across_x), _line(y, floor.spacing, across_y))
        color = _mix(color, floor.line, line * floor.line_strength * (1.0 - away) * (1.0 - away * away))
    dark = _shadow_at(shadow, x / floor.shadow_radius, y / floor.shadow_radius)
    return _mix(color, floor.shadow, dark * floor.shadow_strength)


@kernel(counts_references=True)
def _stretch(along: float, descent: float) -> float:
    """Width of a pixel's image on the floor along an axis, relative to a pixel, for a ray with these components."""
    return math.sqrt(1.0 + (along / max(descent, 0.01)) ** 2)


@kernel(counts_references=True)
def _mix(a: Vector, b: Vector, k: float) -> Vector:
    """Linear interpolation from a at k = 0 to b at k = 1."""
    return add(a, scale(subtract(b, a), k))


@kernel(counts_references=True)
def _line(x: float, spacing: float, pixel: float) -> float:
    """1 on a grid line, 0 away from it, with a soft edge about `pixel` wide [m]."""
    away = abs(x - spacing * math.floor(x / spacing + 0.5))
    return max(0.0, min(1.0, 1.5 - 0.75 * away / pixel))


@kernel(counts_references=True)
def _shadow_at(shadow: Array, x: float, y: float) -> float:
    """Bilinear interpolation of the shadow picture at (x, y) in -1 … 1; 0 outside."""
    n = shadow.shape[0]
    u, v = (0.5 * x + 0.5) * n - 0.5, (0.5 * y + 0.5) * n - 0.5
    if u < 0.0 or v < 0.0 or u >= n - 1.0 or v >= n - 1.0:
        return 0.0
    i, j = int(u), int(v)
    s, t = u - i, v - j
    near = shadow[j, i] * (1.0 - s) + shadow[j, i + 1] * s
    far = shadow[j + 1, i] * (1.0 - s) + shadow[j + 1, i + 1] * s
    return near * (1.0 - t) + far * t
