"""Reads clips of the SMPL family: AMASS archives, results of GVHMR and WHAM, and tables of joint positions.

AMASS: `trans` (frames, 3) is the place of the body, `root_orient` (frames, 3) and `pose_body` (frames, 63) are the
rotations of the joints as axis times angle; older files have all in `poses` (frames, 156). The rate is
`mocap_frame_rate` or `mocap_framerate`, and `betas` is the shape. z is up. Hands, eyes and jaw are left out.

GVHMR [Shen et al. 2024] writes `hmr4d_results.pt`: `smpl_params_global` has `transl`, `global_orient`, `body_pose` and
`betas`, y up, one row per frame of the video, 30 a second unless said.

WHAM [Shin et al. 2024] writes `wham_output.pkl` with joblib: for every person, by number, `pose_world` (frames, 72) and
`trans_world` (frames, 3), y up, and `betas`.

Tables of positions: `global_joint_positions` (frames, joints, 3) in SMPL's order, z up, with 22 joints or more.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from poise.errors import FigureError, FormatError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.formats.smpl.joblib_file import read_joblib
from poise.formats.smpl.skeleton import PARENTS, average_bones, model_bones, sliding_skeleton, turning_skeleton
from poise.formats.smpl.torch_file import read_torch
from poise.formats.text.npz import npz_keys, read_npz
from poise.motion.clip.clip import Clip

POSITION_KEY = "global_joint_positions"
RATE_KEYS = ("mocap_frame_rate", "mocap_framerate", "fps", "frame_rate")
VIDEO_RATE = 30.0
"""Frames per second to which GVHMR converts videos, and of most videos; neither file states it."""
POSITION_RATE = 30.0
"""Frames per second of a table of positions that does not state them."""
_BODY_WIDTH = 3 * (len(PARENTS) - 1)
"""Numbers of a frame that turn the joints of the body but the pelvis."""
_POSE_KEYS = ("trans", "root_orient", "pose_body", "poses", "betas", *RATE_KEYS)


def read_smpl_clip(path: Path, body_model: str | Path | None = None) -> Clip:
    """Read a clip of the SMPL family.

    Args:
        path: The NPZ file.
        body_model: The user's own body model as NPZ, for bones of the file's shape; None for average bones.
    """
    if POSITION_KEY in npz_keys(path):
        return _positions(path)
    content = read_npz(path, _POSE_KEYS)
    place, turns = _numbers(content, "trans", 3, path), _turns(content, path)
    if len(place) != len(turns):
        raise FormatError(f"has {len(place)} frames of 'trans' and {len(turns)} of rotations.", path)
    betas = np.asarray(content.get("betas", np.zeros(0)), dtype=np.float64).reshape(-1)
    bones = average_bones() if body_model is None else model_bones(body_model, betas)
    return _turning_clip(path, bones, place + bones["pelvis"], turns, _rate(content, None, path))


def read_gvhmr_clip(path: Path, body_model: str | Path | None = None, rate: float = VIDEO_RATE) -> Clip:
    """Read the motion in the world of a result of GVHMR.

    Args:
        path: The file, `hmr4d_results.pt`.
        body_model: The user's own body model as NPZ, for bones of the file's shape; None for average bones.
        rate: Frames per second of the video.
    """
    content = read_torch(path).get("smpl_params_global")
    if not isinstance(content, dict):
        raise FormatError("has no 'smpl_params_global': it is not a result of GVHMR.", path)
    pelvis, body = _numbers(content, "global_orient", 3, path), _numbers(content, "body_pose", _BODY_WIDTH, path)
    return _video_clip(path, content, body_model, (_numbers(content, "transl", 3, path), pelvis, body), rate)


def read_wham_clip(
    path: Path, body_model: str | Path | None = None, person: str | None = None, rate: float = VIDEO_RATE
) -> Clip:
    """Read the motion in the world of a person in a result of WHAM.

    Args:
        path: The file, `wham_output.pkl`.
        body_model: The user's own body model as NPZ, for bones of the file's shape; None for average bones.
        person: The number of the person; None for the one who is seen in most frames.
        rate: Frames per second of the video.
    """
    people = {
        str(number): content
        for number, content in read_joblib(path).items()
        if isinstance(content, dict) and {"pose_world", "trans_world"} <= content.keys()
    }
    if not people:
        raise FormatError("has no person with 'pose_world' and 'trans_world': it is not a result of WHAM.", path)
    if person is not None and person not in people:
        raise FormatError(f"has no person {person!r}; its people are {', '.join(people)}.", path)
    content = people[person] if person is not None else max(people.values(), key=lambda one: np.size(one["pose_world"]))
    pose = _numbers(content, "pose_world", 3 + _BODY_WIDTH, path)
    place = _numbers(content, "trans_world", 3, path)
    return _video_clip(path, content, body_model, (place, pose[:, :3], pose[:, 3:]), rate)


def _video_clip(
    path: Path,
    content: dict[str, NDArray[np.generic]],
    body_model: str | Path | None,
    motion: tuple[FloatArray, FloatArray, FloatArray],
    rate: float,
) -> Clip:
    """A clip of places of the body, rotations of the pelvis and of the other joints, with y up, turned to z up."""
    place, pelvis, body = motion
    if not len(place) == len(pelvis) == len(body):
        raise FormatError(f"has {len(place)}, {len(pelvis)} and {len(body)} frames of its parts.", path)
    betas = np.asarray(content.get("betas", np.zeros((1, 0))), dtype=np.float64)
    bones = (
        average_bones() if body_model is None else model_bones(body_model, betas.reshape(len(betas), -1).mean(axis=0))
    )
    stands = Rotation.from_euler("x", 90.0, degrees=True)
    turns = np.concatenate([(stands * Rotation.from_rotvec(pelvis)).as_rotvec(), body[:, :_BODY_WIDTH]], axis=1)
    return _turning_clip(path, bones, stands.apply(place + bones["pelvis"]), turns.reshape(len(place), -1, 3), rate)


def _turning_clip(path: Path, bones: dict[str, FloatArray], place: FloatArray, turns: FloatArray, rate: float) -> Clip:
    """A clip of the pelvis' place (frames, 3) [m] and the rotations (frames, 22, 3) of all joints."""
    figure = turning_skeleton(bones, path.stem)
    q = np.zeros((len(place), figure.nq))
    q[:, :3] = place
    quaternions = Rotation.from_rotvec(turns.reshape(-1, 3)).as_quat(scalar_first=True).reshape(len(turns), -1, 4)
    q[:, figure.q_slice("base").start + 3 : figure.q_slice("base").stop] = quaternions[:, 0]
    for row, joint in enumerate(PARENTS):
        if row:
            q[:, figure.q_slice(f"{joint}_turn")] = quaternions[:, row]
    return _clip(figure, q, rate, path)


def _turns(content: dict[str, NDArray[np.generic]], path: Path) -> FloatArray:
    """(frames, 22, 3) rotations of the joints, as axis times angle."""
    count = len(PARENTS)
    if "pose_body" in content and "root_orient" in content:
        parts = [_numbers(content, "root_orient", 3, path), _numbers(content, "pose_body", 3 * (count - 1), path)]
        if len(parts[0]) != len(parts[1]):
            raise FormatError(f"has {len(parts[0])} frames of 'root_orient' and {len(parts[1])} of 'pose_body'.", path)
        return np.concatenate(parts, axis=1).reshape(-1, count, 3)
    whole = _numbers(content, "poses", 3 * count, path)
    return whole[:, : 3 * count].reshape(-1, count, 3)


def _positions(path: Path) -> Clip:
    content = read_npz(path, (POSITION_KEY, *RATE_KEYS))
    places = np.asarray(content[POSITION_KEY], dtype=np.float64)
    if places.ndim != 3 or places.shape[1] < len(PARENTS) or places.shape[2] != 3 or not np.isfinite(places).all():
        raise FormatError(
            f"has {POSITION_KEY!r} of the shape {places.shape}; poise reads (frames, {len(PARENTS)} or more, 3) finite "
            "numbers in the order of SMPL.",
            path,
        )
    rows = {joint: row for row, joint in enumerate(PARENTS)}
    figure = sliding_skeleton(path.stem, "z")
    q = np.zeros((len(places), figure.nq))
    for joint, parent in PARENTS.items():
        arm = places[:, rows[joint]] - (places[:, rows[parent]] if parent else 0.0)
        q[:, figure.q_slice(f"{joint}_place")] = arm
    return _clip(figure, q, _rate(content, POSITION_RATE, path), path)


def _clip(figure: Figure, q: FloatArray, rate: float, path: Path) -> Clip:
    try:
        return Clip(figure, q, rate, path.stem)
    except FigureError as problem:
        raise FormatError(str(problem), path) from None


def _numbers(content: dict[str, NDArray[np.generic]], key: str, width: int, path: Path) -> FloatArray:
    """A finite array (frames, at least `width`) of a file."""
    if key not in content:
        raise FormatError(f"has no {key!r}; an AMASS motion has trans, and root_orient with pose_body, or poses.", path)
    try:
        array = np.asarray(content[key], dtype=np.float64)
    except (TypeError, ValueError):
        raise FormatError(f"has a {key!r} that is not numbers.", path) from None
    if array.ndim != 2 or array.shape[1] < width or not len(array) or not np.isfinite(array).all():
        raise FormatError(f"has {key!r} of the shape {array.shape}, not (frames, {width}) finite numbers.", path)
    return array


def _rate(content: dict[str, NDArray[np.generic]], otherwise: float | None, path: Path) -> float:
    found = next((content[key] for key in RATE_KEYS if key in content), None)
    if found is None and otherwise is None:
        raise FormatError(f"states no rate: it needs one of {', '.join(RATE_KEYS)}.", path)
    try:
        rate = float(np.asarray(otherwise if found is None else found, dtype=np.float64).reshape(-1)[0])
    except (TypeError, ValueError, IndexError):
        raise FormatError("has a rate that is not a number.", path) from None
    if not (np.isfinite(rate) and rate > 0.0):
        raise FormatError(f"has the rate {rate:g}; it must be positive.", path)
    return rate
