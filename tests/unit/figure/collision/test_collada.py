"""Collada meshes: the same surfaces as coal reads, and one sentence for what is wrong in a file."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest

from poise.errors import FormatError
from poise.figure.collision import collada
from poise.figure.collision.collada import read_collada
from poise.figure.collision.mesh_files import read_triangles

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
FILE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="centimetre" meter="{unit}"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="sheet"><mesh>
    <source id="places"><float_array count="12" id="numbers">{places}</float_array></source>
    <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
    {surface}
  </mesh></geometry></library_geometries>
  <library_nodes>{library}</library_nodes>
  <library_visual_scenes><visual_scene id="all">{nodes}</visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#all"/></scene>
</COLLADA>"""
INPUTS = '<input semantic="VERTEX" source="#corners" offset="0"/><input semantic="NORMAL" source="#x" offset="1"/>'
TRIANGLES = f"<triangles count='2'>{INPUTS}<p>0 9 1 9 2 9 0 9 2 9 3 9</p></triangles>"
SQUARE = "0 0 0 100 0 0 100 200 0 0 200 0"
NODE = '<node><instance_geometry url="#sheet"/></node>'


def text(
    surface: str = TRIANGLES, nodes: str = NODE, library: str = "", places: str = SQUARE, unit: str = "0.01"
) -> str:
    return FILE.format(surface=surface, nodes=nodes, library=library, places=places, unit=unit)


def read(folder: Path, content: str) -> tuple[np.ndarray, np.ndarray]:
    (folder / "mesh.dae").write_text(content, encoding="utf-8")
    return read_triangles(folder / "mesh.dae")


def area(vertices: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0)


@pytest.mark.parametrize(
    "surface",
    [
        TRIANGLES,
        f"<polylist count='1'>{INPUTS}<vcount>4</vcount><p>0 9 1 9 2 9 3 9</p></polylist>",
        f"<polylist count='2'>{INPUTS}<vcount>3 3</vcount><p>0 9 1 9 2 9 0 9 2 9 3 9</p></polylist>",
        f"<polygons>{INPUTS}<p>0 9 1 9 2 9 3 9</p></polygons>",
        f"<trifans>{INPUTS}<p>0 9 1 9 2 9 3 9</p></trifans>",
        f"<tristrips>{INPUTS}<p>0 9 1 9 3 9 2 9</p></tristrips>",
        f"<lines count='1'>{INPUTS}<p>0 9 1 9</p></lines>{TRIANGLES}",
    ],
)
def test_every_kind_of_surface_is_read_in_metres(tmp_path: Path, surface: str) -> None:
    vertices, triangles = read(tmp_path, text(surface))
    assert area(vertices, triangles) == pytest.approx(2.0)
    a, b, c = vertices[triangles[0]]
    assert np.cross(b - a, c - a)[2] > 0.0
    assert np.allclose(np.ptp(vertices, axis=0), [1.0, 2.0, 0.0])  # the up axis is ignored, as RViz does


def test_nodes_are_moved_turned_scaled_and_used_again(tmp_path: Path) -> None:
    turned = '<node><translate>100 0 0</translate><rotate>0 0 1 90</rotate><instance_node url="#kept"/></node>'
    library = '<node id="kept"><scale>1 1 2</scale><instance_geometry url="#sheet"/></node>'
    matrix = "<node><matrix>-1 0 0 0 0 1 0 0 0 0 1 500 0 0 0 1</matrix><node>" + NODE[6:-7] + "</node></node>"
    vertices, triangles = read(tmp_path, text(nodes=turned + matrix, library=library))
    assert len(triangles) == 4
    assert np.allclose(vertices[:4].max(axis=0), [1.0, 1.0, 0.0])
    assert np.allclose(vertices[:4].min(axis=0), [-1.0, 0.0, 0.0])
    assert np.allclose(vertices[4:].min(axis=0), [-1.0, 0.0, 5.0])
    a, b, c = vertices[triangles[-1]]
    assert np.cross(b - a, c - a)[2] > 0.0, "a mirrored surface keeps its outside"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("<COLLADA>", "is not XML that can be read"),
        ("<html/>", "starts with <html>, not with <COLLADA>"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><COLLADA>&b;</COLLADA>', "has a DOCTYPE"),
        (text(unit="-1"), "positive number of metres, not -1"),
        (text(unit="one"), "must have numbers only"),
        (text(places="1 2"), "no positions of three numbers"),
        (text(places="nan " + SQUARE[2:]), "a number that is not finite"),
        (text(f"<triangles>{INPUTS}<p>0 0 1 0 7 0</p></triangles>"), "number of a vertex that does not exist"),
        (text(f"<triangles>{INPUTS}<p>0 0 1 0 -1 0</p></triangles>"), "number of a vertex that does not exist"),
        (text(f"<triangles>{INPUTS}<p>0 0 1.5 0 2 0</p></triangles>"), "must have whole numbers"),
        (text(f"<triangles>{INPUTS}<p>0 0 1</p></triangles>"), "not a multiple of 2"),
        (text(f"<polylist>{INPUTS}<vcount>9</vcount><p>0 0 1 0 2 0</p></polylist>"), "do not make whole polygons"),
        (text("<triangles><p>0 1 2</p></triangles>"), "has no vertices"),
        (text(TRIANGLES.replace('offset="1"', 'offset="99999999999"')), "whole number below 64"),
        (text(nodes='<node><instance_geometry url="#none"/></node>'), "names '#none', which is not in this file"),
        (text(nodes='<node id="me"><instance_node url="#me"/></node>'), "contain each other"),
        (text(nodes="<node><rotate>0 0 1</rotate></node>"), "<rotate> must have 4 numbers, not 3"),
        (text(nodes=""), "has no triangles"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence) as problem:
        read(tmp_path, content)
    assert str(problem.value).startswith(str(tmp_path / "mesh.dae"))


def test_a_unit_that_is_hardly_a_number_warns_of_nothing(tmp_path: Path) -> None:
    vertices, _ = read(tmp_path, text(unit="1e-320"))
    assert np.abs(vertices).max() < 1e-300


def test_nodes_that_multiply_are_bounded(tmp_path: Path) -> None:
    twice = "".join(
        f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>' for k in range(60)
    )
    library = twice + '<node id="n60"><instance_geometry url="#sheet"/></node>'
    with pytest.raises(FormatError, match="has more than 20000 nodes; use a simpler mesh"):
        read(tmp_path, text(nodes='<node><instance_node url="#n0"/></node>', library=library))


def test_triangles_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collada, "MOST_TRIANGLES", 3)
    with pytest.raises(FormatError, match="more than 3 triangles"):
        read(tmp_path, text(nodes=NODE * 2))


def test_real_robots_are_read_as_coal_reads_them() -> None:
    coal = pytest.importorskip("coal")
    files = [file for file in sorted(ROBOTS.rglob("*.dae")) if file.stat().st_size < 500_000][::9]
    if not files:
        pytest.skip("the package example-robot-data is not installed")
    for file in files:
        vertices, _ = read_collada(file)
        mesh = coal.MeshLoader().load(str(file), np.ones(3))
        mesh.computeLocalAABB()
        low, high = np.array(mesh.aabb_local.min_), np.array(mesh.aabb_local.max_)
        assert np.allclose([vertices.min(axis=0), vertices.max(axis=0)], [low, high], atol=1e-5 * np.ptp([low, high]))
