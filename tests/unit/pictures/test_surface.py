import math

import numpy as np
import pytest

from poise.figure.model.pose import Pose, turn, vector
from poise.pictures.surface import Surface, box, capsule, cylinder, ellipsoid, joined, limb, sphere, tapered

SOLIDS = {
    "sphere": (sphere(0.5), 4 / 3 * math.pi * 0.5**3),
    "box": (box((1.0, 2.0, 3.0)), 6.0),
    "cylinder": (cylinder(0.5, 2.0), math.pi * 0.5**2 * 2.0),
    "capsule": (capsule(0.5, 2.0), math.pi * 0.5**2 * 2.0 + 4 / 3 * math.pi * 0.5**3),
    "ellipsoid": (ellipsoid((0.5, 1.0, 1.5)), 4 / 3 * math.pi * 0.5 * 1.0 * 1.5),
    "moved": (box((1.0, 1.0, 1.0)).moved(Pose(vector((3.0, -1.0, 2.0)), turn((1.0, 2.0, 3.0), 50.0))), 1.0),
    "mirrored": (sphere(1.0).stretched((1.0, -1.0, 1.0)), -4 / 3 * math.pi),
}


def _volume(surface: Surface) -> float:
    """Volume by the divergence theorem, positive if the triangles are oriented outwards."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_encloses_its_volume(name: str) -> None:
    surface, volume = SOLIDS[name]
    assert _volume(surface) == pytest.approx(volume, rel=0.02)


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_are_unit_and_point_outwards(name: str) -> None:
    surface, _ = SOLIDS[name]
    assert np.linalg.norm(surface.normals, axis=1) == pytest.approx(1.0)
    middle = surface.vertices.mean(axis=0)
    outwards = np.einsum("ij,ij->i", surface.normals, surface.vertices - middle)
    assert (outwards > 0.0).all()


def test_a_tapered_limb_touches_both_of_its_balls() -> None:
    surface = tapered(0.3, 0.1, 1.0)
    assert surface.vertices[:, 2].min() == pytest.approx(-0.5 - 0.3)
    assert surface.vertices[:, 2].max() == pytest.approx(0.5 + 0.1)
    # The skin stays outside both balls, and meets each ball in a right angle.
    for middle, radius in ((-0.5, 0.3), (0.5, 0.1)):
        away = np.linalg.norm(surface.vertices - np.array([0.0, 0.0, middle]), axis=1)
        assert away.min() == pytest.approx(radius, rel=1e-9)


def test_a_limb_too_short_to_taper_is_its_larger_ball() -> None:
    assert np.abs(tapered(0.3, 0.1, 0.1).vertices).max() == pytest.approx(0.3)
    assert len(limb((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), 0.1, 0.05).vertices) == len(sphere(0.1).vertices)


def test_a_limb_reaches_from_point_to_point() -> None:
    a, b = np.array([0.1, 0.2, 0.3]), np.array([1.0, -1.0, 0.5])
    surface = limb(a, b, 0.02, 0.01)
    along = (surface.vertices - a) @ (b - a) / np.linalg.norm(b - a)
    assert along.min() == pytest.approx(-0.02)
    assert along.max() == pytest.approx(np.linalg.norm(b - a) + 0.01)


def test_joined_surfaces_keep_their_triangles_apart() -> None:
    a, b = sphere(1.0), box((1.0, 1.0, 1.0))
    both = joined([a, b])
    assert len(both.triangles) == len(a.triangles) + len(b.triangles)
    assert _volume(both) == pytest.approx(_volume(a) + _volume(b))
    assert len(joined([]).triangles) == 0
