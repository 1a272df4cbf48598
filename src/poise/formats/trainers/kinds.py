"""The formats of trainers: what each file holds, in which order and unit. Lengths in metres, angles in radians.

| kind | file | root | joints | bodies |
|---|---|---|---|---|
| gmr | pickle | `root_pos`, `root_rot` x, y, z, w | `dof_pos`, depth first | `local_body_pos`, `link_body_list` |
| unitree | CSV without header | x, y, z, qx, qy, qz, qw | depth first | |
| beyondmimic | NPZ, float32 | body 0 | `joint_pos`, `joint_vel`, breadth first | breadth first; speed of centres |
| mjlab | NPZ, float32 | body 0 | the same keys, depth first | depth first; speed of origins |
| holosoma | NPZ, float64 | in `joint_pos` (7 + n), `joint_vel` (6 + n) | depth first | `world` first; of centres |
| isaaclab | NPZ, float32 | body 0 | `dof_positions`, `dof_names`, breadth first | breadth first; of origins |
| protomotions | NPZ or CSV | `base_frame_pos`, `base_frame_wxyz` | `joint_angles`, depth first | `…_contacts.npz` |
| mimickit | pickle | in `frames`: position, exponential map | in `frames`, depth first | |

Quaternions are w, x, y, z where nothing else is said. Names of joints and bodies are written wherever a file can hold
them, since a file for one program maps every target to the wrong body in another.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.names import listing
from poise.figure.model.pose import FloatArray
from poise.formats.text.npz import read_npz
from poise.formats.trainers.containers import (
    read_pickle,
    read_rows,
    write_npz,
    write_pickle,
    write_rows,
)
from poise.formats.trainers.trajectory import (
    Bodies,
    Trajectory,
    bodies_of,
    breadth_first,
    depth_first,
    joints_breadth_first,
    motion_of,
    robot_joints,
    trajectory_of,
    without_sign_changes,
)
from poise.motion.clip.motion import Motion
from poise.motion.retarget.draft import at_rate

BODY_KEYS = ("body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w")
FARTHEST = 1e9
"""Largest magnitude of a coordinate of the root in a file."""
CLAMP_LOOP = 0
"""`loop_mode` of MimicKit for a motion that ends."""


class Kind(NamedTuple):
    """A file format."""

    endings: tuple[str, ...]
    """Endings of its files; the first is the usual one."""
    rate: float
    """Usual number of frames per second."""
    write: Callable[[Motion, Path], None]
    read: Callable[[Path, Figure, float], Trajectory]
    """Reads a file for a figure; the number is the rate of files that do not state one."""
    has_rate: bool
    """Whether a file states its rate."""


def write_for(motion: Motion, path: str | Path, kind: str, rate: float | None = None) -> Path:
    """Write a motion for a trainer.

    Args:
        motion: The motion of a robot with z up and a floating base.
        path: The file; the usual ending is added if it has none.
        kind: One of `KINDS`.
        rate: Frames per second; that of the motion if None.

    Returns:
        The file that was written.
    """
    file = path_for(path, kind)
    chosen = motion if rate is None or rate == motion.rate else at_rate(motion, rate)
    _kind(kind).write(chosen, file)
    return file


def path_for(path: str | Path, kind: str) -> Path:
    """A path with an ending that the kind has; raises a FormatError for another ending."""
    endings = _kind(kind).endings
    file = Path(path)
    if not file.suffix:
        return file.with_suffix(endings[0])
    if file.suffix.lower() not in endings:
        raise FormatError(f"a motion for {kind} ends in {' or '.join(endings)}, not in {file.suffix}.", file)
    return file


def read_from(path: str | Path, figure: Figure, kind: str | None = None, rate: float | None = None) -> Motion:
    """Read a motion that was written for a trainer.

    Args:
        path: The file.
        figure: The robot; one without a floating base gets it.
        kind: One of `KINDS`; found from the file's keys if None, which a table does not have.
        rate: Frames per second of a file that does not state it; the usual one of the kind if None.
    """
    file = Path(path)
    chosen = kind or guess_kind(file)
    form = _kind(chosen)
    robot = figure if any(joint.kind == "free" for joint in figure.joints) else figure.with_floating_base()
    trajectory = form.read(file, robot, rate or form.rate)
    try:
        return motion_of(trajectory, robot, file.stem)
    except FigureError as problem:
        raise FormatError(str(problem), file) from None


def guess_kind(path: Path) -> str:
    """The kind of a file, by its ending and its keys."""
    ending = path.suffix.lower()
    if ending in {".pkl", ".pickle"}:
        return "mimickit" if "frames" in read_pickle(path) else "gmr"
    if ending == ".npz":
        content = read_npz(path)
        for kind, key in (("protomotions", "base_frame_pos"), ("isaaclab", "dof_positions")):
            if key in content:
                return kind
        if "joint_pos" in content and "joint_names" in content:
            wide = content["joint_pos"].shape[-1] == len(content["joint_names"]) + 7
            return "holosoma" if wide else "mjlab"
        raise FormatError("has no names of joints: say with --from whether it is for beyondmimic or mjlab.", path)
    raise FormatError(f"says nothing about its format: name it with --from, one of {', '.join(KINDS)}.", path)


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise FormatError(f"there is no format for {name!r}. Formats: {', '.join(KINDS)}.")
    return KINDS[name]


# Writing


def _write_gmr(motion: Motion, path: Path) -> None:
    root = trajectory_of(motion)
    bodies = bodies_of(motion, root, depth_first(motion.figure))
    turn = Rotation.from_quat(root.turn, scalar_first=True)
    arms = bodies.place - root.place[:, None]
    local = np.stack([turn.inv().apply(arms[:, i]) for i in range(arms.shape[1])], axis=1)
    write_pickle(
        {
            "fps": _fps(root.rate),
            "root_pos": root.place,
            "root_rot": np.roll(root.turn, -1, axis=1),
            "dof_pos": root.joints,
            "local_body_pos": local,
            "link_body_list": list(bodies.names),
        },
        path,
    )


def _write_unitree(motion: Motion, path: Path) -> None:
    root = trajectory_of(motion)
    write_rows(np.hstack([root.place, np.roll(root.turn, -1, axis=1), root.joints]), path)


def _write_beyondmimic(motion: Motion, path: Path) -> None:
    root = _reordered(trajectory_of(motion), joints_breadth_first(motion.figure))
    bodies = bodies_of(motion, root, breadth_first(motion.figure))
    write_npz(_tracking_arrays(root, bodies, bodies.center_velocity), path)


def _write_mjlab(motion: Motion, path: Path) -> None:
    root = trajectory_of(motion)
    bodies = bodies_of(motion, root, depth_first(motion.figure))
    write_npz(_tracking_arrays(root, bodies, bodies.velocity), path)


def _tracking_arrays(root: Trajectory, bodies: Bodies, velocity: FloatArray) -> dict[str, Any]:
    arrays = {
        "joint_pos": root.joints,
        "joint_vel": root.joint_speeds(),
        "body_pos_w": bodies.place,
        "body_quat_w": bodies.turn,
        "body_lin_vel_w": velocity,
        "body_ang_vel_w": bodies.angular_velocity,
    }
    names = {"joint_names": list(root.names), "body_names": list(bodies.names)}
    return {"fps": [_fps(root.rate)]} | {key: value.astype(np.float32) for key, value in arrays.items()} | names


def _write_holosoma(motion: Motion, path: Path) -> None:
    root = trajectory_of(motion)
    bodies = bodies_of(motion, root, depth_first(motion.figure))
    count = len(root.place)
    world = {key: np.zeros((count, 1, 3)) for key in BODY_KEYS}
    world["body_quat_w"] = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1, 1))
    arrays = (bodies.place, bodies.turn, bodies.center_velocity, bodies.angular_velocity)
    speeds = [root.root_velocity(), root.root_angular_velocity(), root.joint_speeds()]
    content: dict[str, Any] = {
        "fps": [_fps(root.rate)],
        "joint_pos": np.hstack([root.place, root.turn, root.joints]),
        "joint_vel": np.hstack(speeds),
    }
    content |= {key: np.concatenate([world[key], value], axis=1) for key, value in zip(BODY_KEYS, arrays, strict=True)}
    write_npz(content | {"joint_names": list(root.names), "body_names": ["world", *bodies.names]}, path)


def _write_isaaclab(motion: Motion, path: Path) -> None:
    root = _reordered(trajectory_of(motion), joints_breadth_first(motion.figure))
    bodies = bodies_of(motion, root, breadth_first(motion.figure))
    arrays = {
        "dof_positions": root.joints,
        "dof_velocities": root.joint_speeds(),
        "body_positions": bodies.place,
        "body_rotations": bodies.turn,
        "body_linear_velocities": bodies.velocity,
        "body_angular_velocities": bodies.angular_velocity,
    }
    names = {"dof_names": list(root.names), "body_names": list(bodies.names)}
    write_npz({"fps": _fps(root.rate)} | names | {k: v.astype(np.float32) for k, v in arrays.items()}, path)


def _write_protomotions(motion: Motion, path: Path) -> None:
    root = trajectory_of(motion)
    if path.suffix.lower() == ".csv":
        write_rows(np.hstack([root.place, root.turn, root.joints]), path)
    else:
        write_npz({"base_frame_pos": root.place, "base_frame_wxyz": root.turn, "joint_angles": root.joints}, path)
    track = motion.track
    if track is not None and {"left", "right"} <= set(track.contacts.heel):
        stands = [track.contacts.standing(side) for side in ("left", "right")]
        write_npz(
            {"foot_contacts": np.stack(stands, axis=1).astype(np.float32)},
            path.with_name(f"{path.stem}_contacts.npz"),
        )


def _write_mimickit(motion: Motion, path: Path) -> None:
    root = trajectory_of(motion)
    turns = Rotation.from_quat(root.turn, scalar_first=True).as_rotvec()
    frames = np.hstack([root.place, turns, root.joints])
    write_pickle({"loop_mode": CLAMP_LOOP, "fps": _fps(root.rate), "frames": frames}, path)


def _fps(rate: float) -> int | float:
    """The rate, as a whole number if it is one."""
    return round(rate) if abs(rate - round(rate)) < 1e-9 else rate


def _reordered(root: Trajectory, names: tuple[str, ...]) -> Trajectory:
    columns = [root.names.index(name) for name in names]
    return root._replace(joints=root.joints[:, columns], names=names)


# Reading


def _read_gmr(path: Path, figure: Figure, rate: float) -> Trajectory:
    content = read_pickle(path)
    turn = np.roll(_array(content, "root_rot", path, 4), 1, axis=1)
    return _trajectory(content, figure, path, _array(content, "root_pos", path, 3), turn, "dof_pos", _depth(figure))


def _read_unitree(path: Path, figure: Figure, rate: float) -> Trajectory:
    rows = read_rows(path)
    return _from_rows(rows, np.roll(rows[:, 3:7], 1, axis=1), figure, rate, path)


def _read_protomotions(path: Path, figure: Figure, rate: float) -> Trajectory:
    if path.suffix.lower() == ".csv":
        rows = read_rows(path)
        return _from_rows(rows, rows[:, 3:7], figure, rate, path)
    content: dict[str, Any] = {**read_npz(path), "fps": rate}
    place, turn = _array(content, "base_frame_pos", path, 3), _array(content, "base_frame_wxyz", path, 4)
    return _trajectory(content, figure, path, place, turn, "joint_angles", _depth(figure))


def _from_rows(rows: FloatArray, turn: FloatArray, figure: Figure, rate: float, path: Path) -> Trajectory:
    content = {"fps": rate, "joints": rows[:, 7:]}
    return _trajectory(content, figure, path, rows[:, :3], turn, "joints", _depth(figure))


def _read_beyondmimic(path: Path, figure: Figure, rate: float) -> Trajectory:
    return _read_tracking(path, figure, joints_breadth_first(figure))


def _read_mjlab(path: Path, figure: Figure, rate: float) -> Trajectory:
    return _read_tracking(path, figure, _depth(figure))


def _read_tracking(path: Path, figure: Figure, names: tuple[str, ...]) -> Trajectory:
    content: dict[str, Any] = read_npz(path)
    place, turn = (_array(content, key, path)[:, 0] for key in ("body_pos_w", "body_quat_w"))
    return _trajectory(content, figure, path, place, turn, "joint_pos", _names(content, "joint_names") or names)


def _read_holosoma(path: Path, figure: Figure, rate: float) -> Trajectory:
    content: dict[str, Any] = read_npz(path)
    values = _array(content, "joint_pos", path)
    content["values"] = values[:, 7:]
    names = _names(content, "joint_names") or _depth(figure)
    return _trajectory(content, figure, path, values[:, :3], values[:, 3:7], "values", names)


def _read_isaaclab(path: Path, figure: Figure, rate: float) -> Trajectory:
    content: dict[str, Any] = read_npz(path)
    root, bodies = figure.tree_order[0][0], _names(content, "body_names")
    first = bodies.index(root) if root in bodies else 0
    place, turn = (_array(content, key, path)[:, first] for key in ("body_positions", "body_rotations"))
    names = _names(content, "dof_names") or joints_breadth_first(figure)
    return _trajectory(content, figure, path, place, turn, "dof_positions", names)


def _read_mimickit(path: Path, figure: Figure, rate: float) -> Trajectory:
    content = read_pickle(path)
    frames = _array(content, "frames", path)
    content["joints"] = frames[:, 6:]
    turn = Rotation.from_rotvec(frames[:, 3:6]).as_quat(scalar_first=True)
    return _trajectory(content, figure, path, frames[:, :3], turn, "joints", _depth(figure))


def _depth(figure: Figure) -> tuple[str, ...]:
    return tuple(joint.name for joint in robot_joints(figure))


def _names(content: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(name) for name in np.asarray(content.get(key, ())).tolist())


def _array(content: dict[str, Any], key: str, path: Path, width: int = 0) -> FloatArray:
    """A finite array of a file with at least two dimensions."""
    if key not in content:
        raise FormatError(f"has no {key!r}. It has: {listing(content)}.", path)
    try:
        array = np.asarray(content[key], dtype=np.float64)
    except (TypeError, ValueError):
        raise FormatError(f"has a {key!r} that is not an array of numbers.", path) from None
    if array.ndim < 2 or not array.size or not np.isfinite(array).all() or (width and array.shape[-1] != width):
        raise FormatError(f"has a {key!r} of the shape {array.shape}, or with values that are not finite.", path)
    return array


def _trajectory(  # noqa: PLR0917
    content: dict[str, Any],
    figure: Figure,
    path: Path,
    place: FloatArray,
    turn: FloatArray,
    key: str,
    names: tuple[str, ...],
) -> Trajectory:
    joints = _array(content, key, path)
    rate = float(np.asarray(content.get("fps", 0.0)).reshape(-1)[0])
    if not rate > 0.0:
        raise FormatError(f"has the rate {rate:g}; it must be positive.", path)
    if joints.shape[1] != len(names) or len(joints) != len(place) or len(place) != len(turn):
        raise FormatError(
            f"has {joints.shape[1]} joints in {len(joints)} frames and a root in {len(place)}; figure {figure.name!r} "
            f"has {len(names)} joints: {listing(names)}.",
            path,
        )
    if not (np.abs(place) < FARTHEST).all() or not (np.abs(turn) < FARTHEST).all():
        raise FormatError("has a place or a rotation of the root that is not finite or far too large.", path)
    size = np.linalg.norm(turn, axis=1, keepdims=True)
    if not (size > 1e-6).all():
        raise FormatError("has a root rotation that is zero.", path)
    known = {joint.name for joint in robot_joints(figure)}
    if strange := [name for name in names if name not in known]:
        raise FormatError(f"has a joint {strange[0]!r}, which figure {figure.name!r} does not have.", path)
    return Trajectory(rate, place, without_sign_changes(turn / size), joints, names)


KINDS: dict[str, Kind] = {
    "gmr": Kind((".pkl", ".pickle"), 30.0, _write_gmr, _read_gmr, has_rate=True),
    "unitree": Kind((".csv",), 30.0, _write_unitree, _read_unitree, has_rate=False),
    "beyondmimic": Kind((".npz",), 50.0, _write_beyondmimic, _read_beyondmimic, has_rate=True),
    "mjlab": Kind((".npz",), 50.0, _write_mjlab, _read_mjlab, has_rate=True),
    "holosoma": Kind((".npz",), 50.0, _write_holosoma, _read_holosoma, has_rate=True),
    "isaaclab": Kind((".npz",), 60.0, _write_isaaclab, _read_isaaclab, has_rate=True),
    "protomotions": Kind((".npz", ".csv"), 30.0, _write_protomotions, _read_protomotions, has_rate=False),
    "mimickit": Kind((".pkl", ".pickle"), 30.0, _write_mimickit, _read_mimickit, has_rate=True),
}
"""The formats, by the name of the program that reads them."""
__all__ = ["KINDS", "Kind", "guess_kind", "path_for", "read_from", "write_for"]
