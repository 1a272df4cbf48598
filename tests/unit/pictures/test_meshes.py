import struct
from pathlib import Path

import numpy as np
import pytest

from poise.errors import FormatError
from poise.pictures.surface import box, find_mesh, read_mesh, smoothed, sphere, thinned

CORNERS = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def binary_stl(head: bytes = b"") -> bytes:
    rows = [struct.pack("<12fH", 0.0, 0.0, 0.0, *CORNERS[list(face)].ravel(), 0) for face in FACES]
    return head.ljust(80, b" ") + struct.pack("<I", len(rows)) + b"".join(rows)


def text_stl() -> bytes:
    lines = ["solid thing"]
    for face in FACES:
        corners = [f"vertex {x} {y} {z}" for x, y, z in CORNERS[list(face)]]
        lines += ["facet normal 0 0 0", "outer loop", *corners, "endloop", "endfacet"]
    return "\n".join([*lines, "endsolid thing"]).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.stl", binary_stl()),
        ("a.STL", binary_stl(b"solid that lies about being text")),
        ("a.stl", text_stl()),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/2 4/3\nf 1//1 4//1 3//1\nf -3 -2 -1\n"),
    ],
)
def test_a_tetrahedron_reads_the_same_from_every_format(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    surface = read_mesh(path)
    triangles = {tuple(map(tuple, surface.vertices[list(row)].tolist())) for row in surface.triangles}
    expected = {tuple(map(tuple, CORNERS[list(face)].tolist())) for face in FACES}
    rotated = {(row[k], row[(k + 1) % 3], row[(k + 2) % 3]) for row in triangles for k in range(3)}
    assert expected <= rotated
    assert len(triangles) == len(FACES)


def test_a_polygon_of_an_obj_becomes_a_fan(tmp_path: Path) -> None:
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    assert len(read_mesh(path).triangles) == 2


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.obj", b"v 0 0\n", "must be three finite numbers"),
        ("a.obj", b"v 0 0 nan\n", "must be three finite numbers"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "does not exist"),
        ("a.obj", b"v 0 0 0\nf a b c\n", "vertex numbers"),
        ("a.obj", b"", "no triangles"),
        ("a.stl", b"solid x\nfacet\nvertex 0 0 0\n", "do not make triangles"),
        ("a.stl", binary_stl()[:100], "no triangles"),
        ("a.ply", b"ply", "are read from"),
    ],
)
def test_a_broken_mesh_is_refused_in_a_sentence(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(FormatError, match=reason) as problem:
        read_mesh(path)
    assert problem.value.path == path


def test_smooth_surfaces_stay_smooth_and_edges_stay_sharp() -> None:
    ball = sphere(1.0)
    normals = smoothed(ball.vertices, ball.triangles).normals
    own = smoothed(ball.vertices, ball.triangles).vertices
    assert np.einsum("ij,ij->i", normals, own).mean() > 0.99
    cube = box((1.0, 1.0, 1.0))
    vertices, index = np.unique(cube.vertices, axis=0, return_inverse=True)
    sharp = smoothed(vertices, index.reshape(-1)[cube.triangles])
    assert np.sort(np.abs(sharp.normals), axis=1)[:, 2] == pytest.approx(1.0)


def test_a_package_is_found_in_the_folders_above_the_model(tmp_path: Path) -> None:
    (tmp_path / "robot" / "meshes").mkdir(parents=True)
    (tmp_path / "robot" / "urdf").mkdir()
    mesh = tmp_path / "robot" / "meshes" / "a.stl"
    mesh.write_bytes(binary_stl())
    home = tmp_path / "robot" / "urdf"
    for reference in ("package://robot/meshes/a.stl", "package://other_name/meshes/a.stl", str(mesh), f"file://{mesh}"):
        found = find_mesh(reference, home)
        assert found is not None
        assert found.samefile(mesh), reference
    assert find_mesh("../meshes/a.stl", home) is not None
    assert find_mesh("meshes/a.stl", home) is None
    assert find_mesh("package://robot/meshes/b.stl", home) is None


def test_a_thinned_surface_has_fewer_triangles_and_nearly_the_same_shape() -> None:
    ball = sphere(1.0)
    fine = smoothed(ball.vertices, ball.triangles)
    thin = thinned(fine, 8)
    assert len(thin.triangles) < 0.5 * len(fine.triangles)
    assert np.linalg.norm(thin.vertices, axis=1) == pytest.approx(1.0, abs=1e-9), "vertices stay on the surface"
    a, b, c = (thin.vertices[thin.triangles[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
    assert volume == pytest.approx(4 / 3 * np.pi, rel=0.15)


def test_sharp_edges_outlive_thinning() -> None:
    cube = box((1.0, 1.0, 1.0))
    thin = thinned(cube, 4)
    assert len(thin.triangles) == len(cube.triangles)
