"""The layout of binary frames, declared once: the server packs frames by it and sends it to pages.

A frame is one row of float32: the header, a number for each name of `FRAME_HEADER`, then the rows of each table of
`TABLES`, table after table. The header contains the number of rows of each table under the table's name. Pages receive
the layout as named offsets in the JSON header of the geometry (see `described`), so that no script knows an offset.

The table `marks` has rows of several kinds. Its column `values` is divided differently for each kind, see `MARKS`.
"""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.figure.model.pose import FloatArray
from poise.studio.session.edits.obstacles import DRAWN_FORMS
from poise.studio.session.outcome import LIGHTS

TABLES: dict[str, dict[str, int]] = {
    "bodies": {"position": 3, "quaternion": 4},
    "joints": {"position": 3, "at_limit": 1},
    "loops": {"on_parent": 3, "on_child": 3},
    "targets": {"task": 1, "met": 1, "wanted": 3, "got": 3, "moves": 1, "turns": 1, "quaternion": 4},
    "corners": {"position": 3},
    "axes": {"direction": 3},
    "marks": {"kind": 1, "number": 1, "tone": 1, "values": 13},
    "center_of_mass": {"position": 3},
}
"""Columns of each table and their numbers of floats. Positions are in metres, quaternions are (x, y, z, w).

`bodies`: every body. `joints`: every marked joint, and 1 in `at_limit` if it is at a limit. `loops`: every loop joint,
by its position on the parent and on the child. `targets`: every task with a target, then every pull, whose task is -1;
`wanted` is the target and `got` is the point that should be there. `corners`: corners of the support polygon. `axes`:
the axis of every degree of freedom in the world. `center_of_mass`: one row, or none for a figure without mass.
"""
FRAME_HEADER = ("format", "figure", "step", "light", *TABLES)
"""Names of the numbers in the header. The first two keep their places in all versions: pages read them first."""
MARKS: dict[str, dict[str, int]] = {
    "force": {"tail": 3, "tip": 3},
    "torque": {"tail": 3, "tip": 3},
    "ground": {"tail": 3, "tip": 3},
    "cone": {"apex": 3, "axis": 3, "friction": 1, "height": 1},
    "arc": {"center": 3, "axis": 3, "start": 3, "radius": 1, "angle": 1},
    "ring": {"center": 3, "axis": 3, "radius": 1},
    "obstacle": {"position": 3, "quaternion": 4, "sizes": 3},
}
"""Kinds of marks, and the parts of their `values` with their numbers of floats. Lengths are in metres.

| kind       | number is that of | tone                   | drawn as                                              |
|------------|-------------------|------------------------|-------------------------------------------------------|
| `force`    | a load            | 0                      | an arrow                                              |
| `torque`   | a load            | 0                      | an arrow                                              |
| `ground`   | a load            | 1 good, 2 bad          | the arrow of the ground's reaction force on a support |
| `cone`     | a load            | 1 good, 2 bad          | a friction cone                                       |
| `arc`      | a freedom         | torque / strength      | an arc whose length is a joint's torque               |
| `ring`     | a task, or -1     | 0 thin, 1 thick        | a circle whose radius is the radius of gyration       |
| `obstacle` | an obstacle       | index in `DRAWN_FORMS` | a shape with up to three sizes                        |
"""
MARK_NUMBERS = {kind: number for number, kind in enumerate(MARKS, start=1)}
"""The number in column `kind` for each kind of mark."""


def offsets(columns: Mapping[str, int]) -> dict[str, slice]:
    """The floats of a row that belong to each column."""
    ends = np.cumsum([0, *columns.values()]).tolist()
    return {name: slice(start, stop) for name, (start, stop) in zip(columns, itertools.pairwise(ends), strict=True)}


OFFSETS = {name: offsets(columns) for name, columns in TABLES.items()}
"""Offsets of the columns of each table."""
WIDTHS = {name: sum(columns.values()) for name, columns in TABLES.items()}
"""Floats in a row of each table."""
MARK_OFFSETS = {kind: offsets(columns) for kind, columns in MARKS.items()}
"""Offsets within `values` for each kind of mark."""


def rows_of(table: str, count: int, **columns: ArrayLike) -> FloatArray:
    """(count, width) rows of a table from its columns, each of shape (count, floats), (count,) or one number."""
    rows = np.zeros((count, WIDTHS[table]))
    for name, values in columns.items():
        place = OFFSETS[table][name]
        rows[:, place] = np.reshape(values, (-1, place.stop - place.start))
    return rows


def mark(kind: str, number: int, tone: float, **parts: ArrayLike) -> FloatArray:
    """(width,) a row of the table `marks` from the parts of its kind."""
    values = np.zeros(TABLES["marks"]["values"])
    for name, part in parts.items():
        values[MARK_OFFSETS[kind][name]] = part
    row: FloatArray = rows_of("marks", 1, kind=MARK_NUMBERS[kind], number=number, tone=tone, values=values)[0]
    return row


def described() -> dict[str, Any]:
    """The layout for pages: columns as [start, stop], and the names that numbers in a frame stand for."""
    return {"format": FORMAT, **_description()}


def _description() -> dict[str, Any]:
    return {
        "header": list(FRAME_HEADER),
        "tables": [{"name": name, "width": WIDTHS[name], "columns": _ends(OFFSETS[name])} for name in TABLES],
        "marks": [{"kind": kind, "parts": _ends(MARK_OFFSETS[kind])} for kind in MARKS],
        "forms": list(DRAWN_FORMS),
        "lights": list(LIGHTS),
    }


def _ends(places: Mapping[str, slice]) -> dict[str, list[int]]:
    return {name: [place.start, place.stop] for name, place in places.items()}


FORMAT = zlib.crc32(json.dumps(_description()).encode()) % (1 << 24)
"""Identifies this layout; a page that knows another one reloads. Below 2²⁴, so that a float32 holds it exactly."""
