"""Last corrections before the last solving: feet from where a draft has them to where they stand, without a jerk.

A draft follows the clip as well as the figure can, so its feet in the air are where they can be. Where a foot stands it
must be exactly at its place; what the draft lacks there is eased out over the air before and after.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_frames
from poise.motion.retarget.feet import faded, lifted, softness
from poise.motion.retarget.task_tracks import Lead, Leads, balance_task, foot_tasks, toe_tips

IN_THE_AIR = 3
"""Priority of feet in the air."""
WINDOW = 0.25
"""Time over which a correction fades in the air [s]."""
AGAIN = 0.3
"""Share of the height over which feet of a draft are kept off the ground once more: their plan did that already."""


def final_leads(leads: Leads, draft: FloatArray) -> list[Lead]:
    """Tasks by levels: feet that stand, the centre of mass, feet in the air.

    Args:
        leads: What was asked of the draft.
        draft: (frames, nq) its postures.
    """
    plan, out = leads.plan, list(leads.strict)
    if leads.center is not None:
        out.append(Lead(balance_task(plan, leads.center, 2), leads.center))
    for side in plan.feet:
        stands = plan.contacts.standing(side)
        out += [lead._replace(weights=stands.astype(np.float64)) for lead in _planted(leads, side)]
        out += [lead._replace(weights=(~stands).astype(np.float64)) for lead in _flown(leads, side, draft)]
    return out


def frames_of(figure: Figure, clip: FloatArray, names: list[str]) -> tuple[FloatArray, FloatArray]:
    """World places (frames, m, 3) and rotations (frames, m, 4) of some sites or bodies over a clip (frames, nq)."""
    ride, rows = figure.compiled.attached, [figure.frame_row(name) for name in names]
    place, turn = np.empty((len(clip), len(rows), 3)), np.empty((len(clip), len(rows), 4))
    clip_frames(figure.compiled.tree, clip, ride.node[rows], ride.position[rows], ride.rotation[rows], place, turn)
    return place, turn


def soles_of(leads: Leads, side: str, clip: FloatArray) -> tuple[FloatArray, Rotation]:
    """Centre (frames, 3) of a sole over a clip (frames, nq), and how it is turned, in standing axes."""
    build = leads.plan.build
    foot = build.feet[side]
    place, turn = frames_of(leads.figure, clip, [foot.site])
    world = Rotation.from_quat(np.roll(turn[:, 0], -1, axis=1))
    at = (place[:, 0] + world.apply(np.array(foot.sole.position))) @ build.axes.T - np.array([0.0, build.ground, 0.0])
    sole = Rotation.from_quat(np.roll(np.array(foot.sole.rotation), -1))
    return at, Rotation.from_matrix(build.axes) * world * sole


def slipping(leads: Leads, side: str, clip: FloatArray) -> FloatArray:
    """(frames,) how far the standing parts of a foot are from their places over a clip (frames, nq) [m]."""
    plan = leads.plan
    foot, path, contacts = plan.build.feet[side], plan.feet[side], plan.contacts
    at, turn = soles_of(leads, side, clip)
    out = np.zeros(len(clip))
    for point, stands in ((foot.ball, contacts.ball[side]), (foot.heel, contacts.heel[side])):
        off = np.linalg.norm(at + turn.apply(point) - path.place - path.turn.apply(point), axis=1)
        out = np.maximum(out, np.where(stands, off, 0.0))
    return out


def _planted(leads: Leads, side: str) -> list[Lead]:
    plan = leads.plan
    path = plan.feet[side]
    tip = toe_tips(plan, side) if plan.build.feet[side].tip else None
    return foot_tasks(plan, side, path.place, path.turn, tip, 1)


def _flown(leads: Leads, side: str, draft: FloatArray) -> list[Lead]:
    """As the draft flies, from and to where the foot stands, above the ground."""
    plan, path, rate = leads.plan, leads.plan.feet[side], leads.plan.rate
    foot, stands = plan.build.feet[side], plan.contacts.standing(side)
    at, turn = soles_of(leads, side, draft)
    window = max(WINDOW * rate, 1.0)
    change = faded(np.hstack([path.place - at, (path.turn * turn.inv()).as_rotvec()]), stands, window)
    turned = Rotation.from_rotvec(change[:, 3:]) * turn
    soft = AGAIN * softness(stands, rate, plan.calibration.leg)
    place = lifted(foot, at + change[:, :3], turned, stands, soft)
    if not foot.tip:
        return foot_tasks(plan, side, place, turned, None, IN_THE_AIR)
    tip, _ = frames_of(leads.figure, draft, [foot.tip])
    up = plan.build.axes[1]
    wanted = faded(((toe_tips(plan, side) - tip[:, 0]) @ up)[:, None], stands, window)[:, 0]
    height = tip[:, 0] @ up + wanted - plan.build.ground
    raised = 0.5 * (height + np.hypot(height, soft)) - height
    tips = tip[:, 0] + (wanted + raised)[:, None] * up
    return foot_tasks(plan, side, place, turned, np.ascontiguousarray(tips), IN_THE_AIR)
