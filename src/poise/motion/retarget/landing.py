"""Foot targets for the final solve: exact in stance, and blended into the draft's own path in swing.

A draft follows the clip as well as the figure can, so its swinging feet are within reach. In stance a foot must be
exactly at its planned place; the error of the draft there fades to zero over the swing before and after.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_frames
from poise.motion.retarget.feet import faded_into_swing, ground_clearance, raised_above_ground
from poise.motion.retarget.task_tracks import TaskTrack, TaskTracks, balance_task, foot_tasks, toe_tips

SWING_PRIORITY = 3
"""Priority of swinging feet."""
CORRECTION_FADE_TIME = 0.25
"""Time over which the correction of a stance fades in swing [s]."""
DRAFT_CLEARANCE_SHARE = 0.3
"""Share of the ground clearance that is applied again to the draft's feet; their plan had all of it."""


def final_tracks(tracks: TaskTracks, draft: FloatArray) -> list[TaskTrack]:
    """Tasks of the final solve by priority: 1 standing feet, 2 the centre of mass, 3 swinging feet.

    Args:
        tracks: Tasks and targets of the draft.
        draft: (frames, nq) postures of the draft.
    """
    plan, out = tracks.plan, list(tracks.first_priority)
    if tracks.center is not None:
        out.append(TaskTrack(balance_task(plan, tracks.center, 2), tracks.center))
    for side in plan.feet:
        stands = plan.contacts.standing(side)
        out += [track._replace(weights=stands.astype(np.float64)) for track in _stance_tracks(tracks, side)]
        out += [track._replace(weights=(~stands).astype(np.float64)) for track in _swing_tracks(tracks, side, draft)]
    return out


def frames_over_clip(figure: Figure, clip: FloatArray, names: list[str]) -> tuple[FloatArray, FloatArray]:
    """World positions (frames, m, 3) and rotations (frames, m, 4) of sites or bodies over a clip (frames, nq)."""
    ride, rows = figure.compiled.attached, [figure.frame_row(name) for name in names]
    place, turn = np.empty((len(clip), len(rows), 3)), np.empty((len(clip), len(rows), 4))
    clip_frames(figure.compiled.tree, clip, ride.node[rows], ride.position[rows], ride.rotation[rows], place, turn)
    return place, turn


def sole_motion(tracks: TaskTracks, side: str, clip: FloatArray) -> tuple[FloatArray, Rotation]:
    """Centre (frames, 3) and rotation of a sole over postures `clip` (frames, nq), in standing axes."""
    build = tracks.plan.build
    foot = build.feet[side]
    place, turn = frames_over_clip(tracks.figure, clip, [foot.site])
    world = Rotation.from_quat(np.roll(turn[:, 0], -1, axis=1))
    at = (place[:, 0] + world.apply(np.array(foot.sole.position))) @ build.axes.T - np.array([0.0, build.ground, 0.0])
    sole = Rotation.from_quat(np.roll(np.array(foot.sole.rotation), -1))
    return at, Rotation.from_matrix(build.axes) * world * sole


def contact_errors(tracks: TaskTracks, side: str, clip: FloatArray) -> FloatArray:
    """(frames,) greatest distance of a foot's ball or heel in contact from its planned position, 0 in swing [m]."""
    plan = tracks.plan
    foot, path, contacts = plan.build.feet[side], plan.feet[side], plan.contacts
    at, turn = sole_motion(tracks, side, clip)
    out = np.zeros(len(clip))
    for point, stands in ((foot.ball, contacts.ball[side]), (foot.heel, contacts.heel[side])):
        off = np.linalg.norm(at + turn.apply(point) - path.place - path.turn.apply(point), axis=1)
        out = np.maximum(out, np.where(stands, off, 0.0))
    return out


def _stance_tracks(tracks: TaskTracks, side: str) -> list[TaskTrack]:
    plan = tracks.plan
    path = plan.feet[side]
    tip = toe_tips(plan, side) if plan.build.feet[side].tip else None
    return foot_tasks(plan, side, path.place, path.turn, tip, 1)


def _swing_tracks(tracks: TaskTracks, side: str, draft: FloatArray) -> list[TaskTrack]:
    """Tasks of a swinging foot: the draft's path, corrected near stances and raised above the ground."""
    plan, path, rate = tracks.plan, tracks.plan.feet[side], tracks.plan.rate
    foot, stands = plan.build.feet[side], plan.contacts.standing(side)
    at, turn = sole_motion(tracks, side, draft)
    window = max(CORRECTION_FADE_TIME * rate, 1.0)
    change = faded_into_swing(np.hstack([path.place - at, (path.turn * turn.inv()).as_rotvec()]), stands, window)
    turned = Rotation.from_rotvec(change[:, 3:]) * turn
    soft = DRAFT_CLEARANCE_SHARE * ground_clearance(stands, rate, plan.calibration.leg)
    place = raised_above_ground(foot, at + change[:, :3], turned, stands, soft)
    if not foot.tip:
        return foot_tasks(plan, side, place, turned, None, SWING_PRIORITY)
    tip, _ = frames_over_clip(tracks.figure, draft, [foot.tip])
    up = plan.build.axes[1]
    wanted = faded_into_swing(((toe_tips(plan, side) - tip[:, 0]) @ up)[:, None], stands, window)[:, 0]
    height = tip[:, 0] @ up + wanted - plan.build.ground
    raised = 0.5 * (height + np.hypot(height, soft)) - height
    tips = tip[:, 0] + (wanted + raised)[:, None] * up
    return foot_tasks(plan, side, place, turned, np.ascontiguousarray(tips), SWING_PRIORITY)
