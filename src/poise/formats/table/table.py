"""CSV tables of motion: one line per frame, one column per joint value.

    # figure: lamp
    # rate: 60
    # angles: radians
    time,turn,nod,head.qw,head.qx,head.qy,head.qz
    0.0,0.1,0.25,1.0,0.0,0.0,0.0

A joint with one value has a column of its own name. Columns of other joints are named `joint.part`: x y z for
positions, qw qx qy qz for rotations, and the coordinates' names for the rest (`first` and `second` of a universal
joint, and so on). The comments, each of which may be missing, give the name of the figure, the frames per second, and
whether angles are in radians or degrees. Columns may come in any order; joints without columns keep their neutral
values.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.errors import FigureError, FormatError, PoiseError
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.names import listing, suggestion
from poise.figure.model.pose import FloatArray
from poise.formats.table.document import TableDocument, parse_table
from poise.formats.text.files import read_bytes, write_atomically
from poise.formats.text.numbers import LARGEST_NUMBER
from poise.motion.clip.clip import Clip, frame_times, interpolated

__all__ = ["TableDocument", "parse_table", "read_table", "table_clip", "write_table"]

_TIME_TOLERANCE = 0.05
"""Greatest deviation of a time from an even frame rate, as a share of a frame: tables often round to milliseconds."""
TIME = "time"
_QUATERNION_NAMES = ("qw", "qx", "qy", "qz")
_VALUE_NAMES = {"ball": _QUATERNION_NAMES, "free": ("x", "y", "z", *_QUATERNION_NAMES)}


def write_table(clip: Clip, path: Path | str, *, degrees: bool = False) -> None:
    """Write a clip as a table whose numbers read back exactly, except for the last digit of angles in degrees.

    Args:
        clip: The motion.
        path: The file.
        degrees: Whether angles are written in degrees.
    """
    try:
        columns = columns_of(clip.figure)
    except PoiseError as problem:
        raise FormatError(str(problem), path) from None
    names = [TIME, *(column.name for column in columns)]
    if any("\n" in name or "\r" in name or name != name.strip() for name in names):
        raise FormatError(
            "a table needs joint names without line breaks and without spaces at either end; rename the joint.", path
        )
    turns = [column.q for column in columns if column.is_angle]
    values = clip.q.copy()
    if degrees:
        values[:, turns] = np.degrees(values[:, turns])
    out = io.StringIO()
    out.write(f"# figure: {' '.join(clip.figure.name.split())}\n# rate: {clip.rate!r}\n")
    out.write(f"# angles: {'degrees' if degrees else 'radians'}\n")
    csv.writer(out, lineterminator="\n").writerow(names)
    for time, row in zip(clip.times.tolist(), values.tolist(), strict=True):
        out.write(",".join(map(repr, (time, *row))) + "\n")
    write_atomically(path, out.getvalue().encode())


def read_table(path: Path | str, figure: Figure | None = None, rate: float | None = None) -> Clip:
    """Read the motion in a table; its name is the file's.

    Args:
        path: The file.
        figure: The figure that moves; may be left out if the table names a built-in figure.
        rate: Frames per second, for a table without them; a table with other or uneven times is resampled to this rate.
    """
    return table_clip(parse_table(read_bytes(path), path), figure, rate, name=Path(path).stem)


def table_clip(table: TableDocument, figure: Figure | None, rate: float | None = None, *, name: str = "") -> Clip:
    """The motion in a parsed table; the arguments are those of `read_table`."""
    name_in_file, _ = table.settings.get("figure", ("", 0))
    joints = {part for column in table.header for part in (column, column.rpartition(".")[0]) if part}
    owner = moving_figure(figure, name_in_file, joints - {TIME}, table.path)
    try:
        columns = matched_columns(owner, table.header)
    except PoiseError as problem:
        raise FormatError(str(problem), table.path, table.header_line) from None
    q = np.tile(owner.neutral().q, (len(table.values), 1))
    for at, column in enumerate(columns):
        if column is not None:
            values = table.values[:, at]
            q[:, column.q] = np.radians(values) if column.is_angle and _in_degrees(table) else values
    try:
        return _timed(table, Clip(owner, q, 1.0, name), rate)
    except PoiseError as problem:
        raise problem if isinstance(problem, FormatError) else FormatError(str(problem), table.path) from None


def _in_degrees(table: TableDocument) -> bool:
    word, line = table.settings.get("angles", ("radians", 0))
    if word.lower() not in {"radians", "degrees"}:
        raise FormatError(f"angles are in radians or degrees, not in {word[:40]!r}.", table.path, line)
    return word.lower() == "degrees"


def _timed(table: TableDocument, clip: Clip, rate: float | None) -> Clip:
    """The frames of `clip` at the requested rate, else the rate in the table's comment, else that of its times."""
    wanted = _positive(table, rate, None) if rate is not None else None
    said = _said_rate(table)
    steady = wanted or said
    if TIME not in table.header:
        if steady is None:
            raise FormatError("the table has no column 'time' and no comment '# rate: …'; give rate=…", table.path)
        return Clip(clip.figure, clip.q, steady, clip.name)
    passed = _passed(table)
    steady = steady or _mean_rate(table, passed)
    off = np.flatnonzero(np.abs(passed * steady - np.arange(len(clip))) > _TIME_TOLERANCE)
    if not len(off):
        return Clip(clip.figure, clip.q, steady, clip.name)
    if wanted is None:
        reason = f"the times are not those of {steady:g} frames per second; give rate=… to resample the motion."
        raise FormatError(reason, table.path, table.lines[int(off[0])])
    return _resampled(table, clip, passed, wanted)


def _said_rate(table: TableDocument) -> float | None:
    """Frames per second from the comment `# rate: …`; None without it."""
    if "rate" not in table.settings:
        return None
    word, line = table.settings["rate"]
    return _positive(table, word, line)


def _positive(table: TableDocument, rate: float | str, line: int | None) -> float:
    try:
        number = float(rate)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 < number < LARGEST_NUMBER:
        reason = f"the rate must be a positive number of frames per second, not {str(rate)[:40]!r}."
        raise FormatError(reason, table.path, line)
    return number


def _passed(table: TableDocument) -> FloatArray:
    """(frames,) time since the first frame [s]."""
    times: FloatArray = table.values[:, table.header.index(TIME)]
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if len(late):
        raise FormatError("the time must increase from line to line.", table.path, table.lines[int(late[0]) + 1])
    passed: FloatArray = times - times[0]
    return passed


def _mean_rate(table: TableDocument, passed: FloatArray) -> float:
    if len(passed) == 1:
        raise FormatError("the table has one frame, which gives no rate; give rate=…", table.path)
    rate = (len(passed) - 1) / float(passed[-1])
    if rate > LARGEST_NUMBER:
        raise FormatError("the times of all frames are the same; give rate=…", table.path)
    exact = float(round(rate))
    return exact if abs(rate - exact) < 1e-6 * rate else rate


def _resampled(table: TableDocument, clip: Clip, passed: FloatArray, rate: float) -> Clip:
    try:
        wanted = frame_times(clip.figure, float(passed[-1]), rate)
    except FigureError as problem:
        raise FormatError(str(problem), table.path) from None
    return Clip(clip.figure, interpolated(clip.figure, passed, clip.q, wanted), rate, clip.name)


@dataclass(frozen=True)
class Column:
    """The column of one joint value."""

    name: str
    joint: str
    q: int
    """Index of the value in a posture's `q`."""
    is_angle: bool
    """Whether the value is an angle, which a table may have in degrees."""


def columns_of(figure: Figure) -> list[Column]:
    """One column per value of a posture, in the order of `q`."""
    columns = [column for joint in figure.joints for column in _joint_columns(figure, joint)]
    names = {TIME}
    for column in columns:
        if column.name in names:
            raise FormatError(f"two columns of a table of figure {figure.name!r} would be named {column.name!r}.")
        names.add(column.name)
    return columns


def _joint_columns(figure: Figure, joint: Joint) -> Iterator[Column]:
    start = figure.q_slice(joint.name).start
    parts = _VALUE_NAMES.get(joint.kind, joint.coordinates)
    for i, part in enumerate(parts):
        name = joint.name if len(parts) == 1 else f"{joint.name}.{part}"
        yield Column(name, joint.name, start + i, bool(joint.scalars) and joint.scalars[i] == "turn")


def matched_columns(figure: Figure, header: Sequence[str]) -> list[Column | None]:
    """The figure's column for each name in the header of a table; None for the time."""
    known = {column.name: column for column in columns_of(figure)}
    found: list[Column | None] = []
    for name in header:
        if name != TIME and name not in known:
            raise FormatError(
                f"figure {figure.name!r} has no joint value {name[:60]!r}.{suggestion(name[:60], known)} "
                f"Columns: {listing(known)}."
            )
        found.append(known.get(name))
    joints = {column.joint for column in found if column is not None}
    given = set(header)
    missing = [name for name, column in known.items() if column.joint in joints and name not in given]
    if missing:
        raise FormatError(
            f"the column {missing[0]!r} is missing: the table must have all values of joint "
            f"{known[missing[0]].joint!r} or none."
        )
    if not joints:
        raise FormatError(f"no column is a joint of figure {figure.name!r}. Columns: {listing(known)}.")
    return found


def moving_figure(figure: Figure | None, name: str, joints: Collection[str], path: Path | str | None) -> Figure:
    """The figure of a file: the given one, or the built-in one that the file names.

    It gets a floating base if the file has values for one.

    Args:
        figure: The figure that the caller gave; None for the one that the file names.
        name: Name of the figure in the file.
        joints: Joints that the file has values for.
        path: The file, for error messages.
    """
    from poise.figures import BUILT_IN, built_in

    if figure is None and name not in BUILT_IN:
        raise FormatError("does not name a built-in figure: give the figure that its joint values are of.", path)
    owner = built_in(name) if figure is None else figure
    return _floating(owner, {joint for joint in joints if joint not in owner.joints})


def _floating(figure: Figure, joints: Collection[str]) -> Figure:
    """The figure with a floating base if its free joint is among the unknown `joints`; else the figure itself."""
    if not joints:
        return figure
    try:
        walker = figure.with_floating_base()
    except FigureError:
        return figure
    return walker if any(joint.kind == "free" and joint.name in joints for joint in walker.joints) else figure
