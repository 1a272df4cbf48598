"""Documents that would take MuJoCo minutes or gigabytes are refused, also if another file asks for it."""

import struct
import zlib
from pathlib import Path

import pytest

import poise
from poise.errors import FormatError
from poise.formats.mjcf import bounds

CROWD = '<replicate count="60000" offset="1 0 0"><body><geom size="1"/><joint/></body></replicate>'
ONE = '<mujoco><worldbody><body name="b"><joint/><geom size="1"/></body></worldbody></mujoco>'
PLACE = '<body><attach model="m" body="b" prefix="x"/></body>'


def model(world: str = "", assets: str = "", top: str = "") -> str:
    return f"<mujoco>{top}<asset>{assets}</asset><worldbody>{world}<geom size='1'/></worldbody></mujoco>"


def png(width: int, height: int) -> bytes:
    """The beginning of a PNG file of this size."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a.xml": model(CROWD)}, "a.xml:1: <replicate> makes more than 3000 copies"),
        ({"a.xml": model(top='<include file="b.xml"/>'), "b.xml": model(CROWD)}, "b.xml:1: <replicate> makes more"),
        ({"a.xml": model(assets='<model name="m" file="b.xml"/>'), "b.xml": model(CROWD)}, "b.xml:1: <replicate>"),
        (
            {
                "a.xml": model(
                    f'<replicate count="2000" offset="1 0 0">{PLACE}</replicate>', '<model name="m" file="b.xml"/>'
                ),
                "b.xml": ONE.replace("<joint/>", CROWD.replace("60000", "2000") + "<joint/>"),
            },
            "<attach> makes more than 3000",
        ),
        ({"a.xml": model("<body/>" * 3001)}, "more than 3000 copies or bodies"),
        ({"a.xml": model(top='<include file="a.xml"/>')}, "include each other"),
        (
            {
                "a.xml": model(assets='<model name="m" file="b.xml"/>'),
                "b.xml": model(assets='<model name="m" file="a.xml"/>'),
            },
            "include each other",
        ),
        ({"a.xml": model(assets='<texture type="cube" name="t" width="9999" height="9999"/>')}, "40000000 cells"),
        ({"a.xml": model(assets='<texture type="2d" name="t" file="p.png"/>'), "p.png": png(9999, 9999)}, "cells"),
        (
            {
                "a.xml": model(
                    assets='<texture type="2d" name="t" file="p.png"/>', top='<compiler texturedir="skin"/>'
                ),
                "skin/p.png": png(9999, 9999),
            },
            "cells",
        ),
        ({"a.xml": model(assets='<hfield name="h" nrow="9999" ncol="9999" size="1 1 1 1"/>')}, "cells"),
        ({"a.xml": model(top='<size nuser_geom="99999999"/>')}, "<size> reserves more than"),
    ],
)
def test_a_document_that_expands_without_bound_is_refused(
    tmp_path: Path, files: dict[str, str | bytes], sentence: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=sentence):
        poise.load(tmp_path / "a.xml")


def test_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_FILES", 3)
    for k in range(4):
        (tmp_path / f"{k}.xml").write_text("<mujocoinclude/>", encoding="utf-8")
    text = model(top="".join(f'<include file="{k}.xml"/>' for k in range(4)))
    (tmp_path / "a.xml").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="consists of more than 3 files"):
        poise.load(tmp_path / "a.xml")


def test_includes_and_attached_models_of_a_usual_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "b.xml").write_text(ONE, encoding="utf-8")
    world = f'<replicate count="3" offset="1 0 0">{PLACE}</replicate>'
    (tmp_path / "a.xml").write_text(model(world, '<model name="m" file="b.xml"/>'), encoding="utf-8")
    assert len(poise.load(tmp_path / "a.xml").moving_joints) == 3
    (tmp_path / "c.xml").write_text('<mujoco><include file="b.xml"/></mujoco>', encoding="utf-8")
    assert poise.load(tmp_path / "c.xml").moving_joints
