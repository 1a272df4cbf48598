"""Names of the columns of a motion table, and the joint values that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poise.errors import FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.names import listing, suggestion

TIME = "time"
_QUATERNION_NAMES = ("qw", "qx", "qy", "qz")
_VALUE_NAMES = {"ball": _QUATERNION_NAMES, "free": ("x", "y", "z", *_QUATERNION_NAMES)}


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
