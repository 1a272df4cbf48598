"""The layout of frames: the scripts of the page read by name what the server packs by name."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.studio.session.session import Session
from poise.studio.wire.frames import packed, unpacked
from poise.studio.wire.geometry import geometry
from poise.studio.wire.layout import FORMAT, FRAME_HEADER, MARKS, OFFSETS, TABLES, WIDTHS, described, mark, rows_of
from tests.unit.studio.pointer import press

WEB = Path(poise.__file__).parent / "studio" / "web"
READ_ALL = """
import { readFileSync } from "node:fs";
import { readFrame } from "./frame_layout.mjs";
const [layout, data] = [JSON.parse(readFileSync("layout.json", "utf8")), readFileSync("frame.bin")];
const row = new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
const frame = readFrame(row, layout);
const tables = {};
for (const { name, columns } of layout.tables) {
  tables[name] = Object.fromEntries(Object.keys(columns).map((each) => [each, Array.from(frame[name].all(each))]));
}
console.log(JSON.stringify({ format: frame.format, figure: frame.figure, step: frame.step, tables }));
"""


@pytest.fixture
def session() -> Session:
    return Session(poise.load("stewart"))


def test_columns_fill_their_rows_without_gaps() -> None:
    for name, columns in TABLES.items():
        places = OFFSETS[name]
        assert [place.stop - place.start for place in places.values()] == list(columns.values())
        assert [place.start for place in places.values()] == [0, *np.cumsum(list(columns.values()))[:-1]]
        assert WIDTHS[name] == sum(columns.values())
    assert FRAME_HEADER[:2] == ("format", "figure")
    assert all(sum(parts.values()) <= TABLES["marks"]["values"] for parts in MARKS.values())


def test_rows_and_marks_are_filled_by_name() -> None:
    rows = rows_of("joints", 2, position=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], at_limit=[0.0, 1.0])
    assert rows.tolist() == [[1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 1.0]]
    row = mark("ring", 2, 1.0, center=(1.0, 2.0, 3.0), axis=(0.0, 1.0, 0.0), radius=0.5)
    assert row[:3].tolist() == [1.0 + list(MARKS).index("ring"), 2.0, 1.0]
    assert row[OFFSETS["marks"]["values"]][:7].tolist() == [1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.5]


def test_the_geometry_declares_the_layout_of_its_frames(session: Session) -> None:
    data = geometry(session.state)
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    assert header["frame"] == json.loads(json.dumps(described()))
    assert np.frombuffer(packed(session.state), dtype="<f4")[0] == FORMAT


def test_scripts_read_only_columns_that_exist() -> None:
    columns = {name for table in TABLES.values() for name in table}
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in WEB.rglob("*.js"))
    read = set(re.findall(r"\.(?:get|number)\([\w.]+, \"(\w+)\"\)", scripts)) | set(
        re.findall(r"\.all\(\"(\w+)\"\)", scripts)
    )
    assert read <= columns
    assert {"position", "quaternion", "at_limit", "wanted", "values"} <= read


@pytest.mark.node
def test_the_script_of_the_page_reads_a_frame_as_python_does(session: Session, tmp_path: Path) -> None:
    press(session, "pointer", 3, [0.0, 0.0, 0.0])
    data = packed(session.state)
    (tmp_path / "frame_layout.mjs").write_text((WEB / "frame_layout.js").read_text(encoding="utf-8"))
    (tmp_path / "layout.json").write_text(json.dumps(described()))
    (tmp_path / "frame.bin").write_bytes(data)
    (tmp_path / "read.mjs").write_text(READ_ALL)
    done = subprocess.run(["node", "read.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    read, frame = json.loads(done.stdout), unpacked(data)
    assert (read["format"], read["figure"], read["step"]) == (FORMAT, frame.figure_number, frame.step)
    assert len(frame.targets) == 1
    for name, columns in read["tables"].items():
        for column, values in columns.items():
            assert values == getattr(frame, name)[:, OFFSETS[name][column]].ravel().tolist()
