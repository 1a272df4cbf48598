"""Pictures of a clip and of the motion made from it, posture by posture, with the same orientation and scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Frames
from poise.motion.clip.clip import Clip, Source
from poise.motion.clip.motion import Motion, Track
from poise.pictures.camera import framing
from poise.pictures.draw import render_picture
from poise.pictures.parts import appearance
from poise.pictures.picture import Picture
from poise.pictures.sheets import contact_sheet

POSE_PIXELS = (190, 260)
"""Size of the picture of each posture [pixels]."""
PICTURES = 8
"""Largest number of postures shown."""


def shown_frames(count: int, poses: int = PICTURES) -> list[int]:
    """Frames spread evenly over a motion, including its first and last."""
    return sorted({round(x) for x in np.linspace(0, count - 1, min(poses, count))})


def drawn_poses(clip: Clip, motion: Motion, frames: Sequence[int]) -> tuple[Picture, Picture]:
    """A strip of the clip and one of the motion, at the same times."""
    moments = [frame / max(len(motion) - 1, 1) * clip.duration for frame in frames]
    turn = _turned_like(clip, motion)
    skeleton = clip.figure.replaced(up=motion.figure.up)
    theirs = [_turned(clip.figure.frames(clip.at(moment)), turn) for moment in moments]
    ours = [motion.figure.frames(motion[frame]) for frame in frames]
    titles = [f"frame {frame}" for frame in frames]
    seconds = [f"{moment:.2f} s" for moment in moments]
    return _strip(skeleton, theirs, seconds, skeleton=True), _strip(motion.figure, ours, titles, skeleton=False)


def _strip(figure: Figure, frames: list[Frames], titles: list[str], *, skeleton: bool) -> Picture:
    """Postures in a row, each centred in its own picture, all at one scale."""
    look = appearance(figure, skeleton=skeleton)
    centered = [_centered(figure, pose, look.vertices(pose)) for pose in frames]
    points = np.concatenate([look.vertices(pose) for pose in centered])
    camera = framing(points, figure.up, "three-quarter", POSE_PIXELS)
    shots = [render_picture(figure, look, pose, camera, joints=not skeleton) for pose in centered]
    return contact_sheet(list(zip(titles, shots, strict=True)), columns=len(shots))


def _centered(figure: Figure, frames: Frames, points: FloatArray) -> Frames:
    """The same posture, moved horizontally to the origin."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    middle -= (middle @ figure.up_vector) * figure.up_vector
    return Frames(frames.position - middle, frames.rotation, frames.index, frames.owner)


def _turned(frames: Frames, turn: Rotation) -> Frames:
    rotation = turn * Rotation.from_quat(frames.rotation, scalar_first=True)
    return Frames(turn.apply(frames.position), rotation.as_quat(scalar_first=True), frames.index, frames.owner)


def _turned_like(clip: Clip, motion: Motion) -> Rotation:
    """The rotation that gives a clip the up axis and the heading of the motion."""
    up = motion.figure.up_vector
    if motion.track is None:
        return _between(clip.figure.up_vector, up)
    _check_origin(clip, motion, motion.track)
    source = Source(clip)
    roles = {role: link.joint for role, link in motion.track.mapping.by_role().items()}
    upright = _between(source.up(roles), up)
    moments = np.linspace(0, len(clip) - 1, len(motion))
    theirs, ours = [], []
    for joint, target in motion.track.targets.items():
        path = upright.apply(source.path_of(joint)[np.rint(moments).astype(np.int64)])
        theirs.append(path)
        ours.append(target)
    return _heading(np.array(theirs), np.array(ours), up) * upright if theirs else upright


def _check_origin(clip: Clip, motion: Motion, track: Track) -> None:
    for joint in track.targets:
        if joint not in clip.figure.compiled.frame_index:
            raise TaskError(
                f"the motion {motion.name!r} was not made from clip {clip.name!r}, which has no joint {joint!r}."
            )


def _between(start: FloatArray, end: FloatArray) -> Rotation:
    """The smallest rotation from one unit vector to another."""
    found, _ = Rotation.align_vectors(end[None], start[None])
    return found


def _heading(theirs: FloatArray, ours: FloatArray, up: FloatArray) -> Rotation:
    """The turn about `up` that best aligns points (joints, frames, 3) with others, each set about its own mean."""
    a = theirs - theirs.mean(axis=(0, 1))
    b = ours - ours.mean(axis=(0, 1))
    along = float(np.sum(a * b) - np.sum((a @ up) * (b @ up)))
    across = float(np.sum(np.cross(a, b) @ up))
    return Rotation.from_rotvec(np.arctan2(across, along) * up)
