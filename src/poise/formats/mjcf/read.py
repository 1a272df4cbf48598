"""Reads figures from MuJoCo's MJCF files.

MuJoCo's own compiler resolves classes, frames, includes and inertias; this reader takes the compiled model. Joints with
an actuator are active. Joints without one are passive if the model has any actuator, except free joints, which are
always active. Keyframes become named postures.

A document is checked before MuJoCo compiles it: other XML, NaN, and elements that would need huge memory are refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from poise.errors import FormatError
from poise.extras import require
from poise.figure.model.figure import Figure, UpAxis
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import JointValues
from poise.formats.mjcf.actuators import read_motors
from poise.formats.mjcf.bodies import read_bodies, read_sites
from poise.formats.mjcf.bounds import check_document
from poise.formats.mjcf.constraints import read_couplings, read_loops, refuse_flexible_parts
from poise.formats.mjcf.model import Mjcf
from poise.formats.text.files import read_bytes
from poise.formats.text.naming import Names
from poise.formats.text.xml_reader import Element, parse_xml

_log = logging.getLogger(__name__)
UP_AXES: tuple[UpAxis, ...] = ("x", "y", "z")


def read_mjcf(path: Path) -> Figure:
    """Read the figure in an MJCF file; included files and meshes are searched beside it, and meshes get full paths."""
    root = parse_xml(read_bytes(path), path)
    check_document(root)
    return _read(_compiled(root, lambda mujoco: mujoco.MjModel.from_xml_path(str(path.absolute()))))


def parse_mjcf(source: bytes | str, path: Path | None = None) -> Figure:
    """Parse the figure in an MJCF document without other files; `path` is for error messages only."""
    root = parse_xml(source, path)
    check_document(root)
    text = _text(source, path)
    return _read(_compiled(root, lambda mujoco: mujoco.MjModel.from_xml_string(text)))


def _text(source: bytes | str, path: Path | None) -> str:
    try:
        return source.decode("utf-8-sig") if isinstance(source, bytes) else source
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        raise FormatError("is not UTF-8 text.", path, line) from None


def _compiled(root: Element, build: Callable[[ModuleType], Any]) -> Mjcf:
    """The model that MuJoCo compiles from the document; its errors become FormatErrors with their line."""
    require("mujoco", "reading MJCF")
    import mujoco

    try:
        with _warnings_logged(mujoco, root):
            return Mjcf(build(mujoco), root)
    except (ValueError, TypeError, RuntimeError, MemoryError) as problem:
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        line = re.search(r"\bline (\d+)", str(problem))
        reason = f"MuJoCo cannot compile it: {'; '.join(lines) or type(problem).__name__}."
        raise FormatError(reason, root.path, int(line[1]) if line else root.line) from None


@contextmanager
def _warnings_logged(mujoco: ModuleType, root: Element) -> Iterator[None]:
    """Send MuJoCo's warnings to the log; by default MuJoCo writes them to a file in the working directory."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: _log.warning("%s: %s", root.path, text))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _read(mjcf: Mjcf) -> Figure:
    refuse_flexible_parts(mjcf)
    # Huge numbers may overflow before a check refuses them.
    with np.errstate(all="ignore"), mjcf.locating_errors(""):
        bodies, joints = read_bodies(mjcf, read_motors(mjcf))
        figure = Figure(
            _name_of(mjcf.root),
            bodies,
            joints,
            sites=read_sites(mjcf),
            loops=read_loops(mjcf),
            couplings=read_couplings(mjcf),
            up=_up(mjcf),
            folder=None if mjcf.root.path is None else mjcf.root.path.resolve().parent,
        )
        postures = _postures(mjcf, figure)
        return figure.replaced(postures=postures) if postures else figure


def _name_of(root: Element) -> str:
    return (root.node.get("model") or "").strip() or (root.path.stem if root.path is not None else "figure")


def _up(mjcf: Mjcf) -> UpAxis:
    """The axis opposite to gravity; z if gravity is zero, not along an axis, or along a positive axis."""
    gravity = np.array(mjcf.model.opt.gravity)
    against = [axis for axis, g in zip(UP_AXES, gravity, strict=True) if g < 0.0]
    return against[0] if len(against) == 1 and np.count_nonzero(gravity) == 1 else "z"


def _postures(mjcf: Mjcf, figure: Figure) -> dict[str, JointValues]:
    """Keyframes by name, and the model's rest posture as "neutral" if it is not all zeros."""
    m = mjcf.model
    postures: dict[str, JointValues] = {}
    if np.abs(m.qpos0 - figure.neutral().q).max(initial=0.0) > 0.0:
        postures["neutral"] = _values(figure, figure.clamp(np.array(m.qpos0)).q)
    given = [m.key(i).name for i in range(m.nkey)]
    names = Names(name for name in given if name)
    for i, name in enumerate(given):
        postures[name or names.take(f"key_{i}")] = _values(figure, figure.posture(np.array(m.key_qpos[i])).q)
    return postures


def _values(figure: Figure, q: FloatArray) -> JointValues:
    return {name: tuple(q[figure.q_slice(name)].tolist()) for name in figure.moving_joints}
