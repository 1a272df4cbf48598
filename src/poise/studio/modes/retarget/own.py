"""Clips shown without retargeting: motions of the figure itself, and clips without a joint that it is paired with."""

from __future__ import annotations

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Clip
from poise.motion.clip.contacts import Contacts
from poise.motion.clip.motion import Motion, Track
from poise.motion.mapping.mapping import JointMap
from poise.pictures.camera import world_axes


def is_own(clip: Clip, figure: Figure) -> bool:
    """Whether a clip is a motion of this figure that keeps its limits, so that it can be played as it is."""
    if clip.figure != figure:
        return False
    return not any(figure.violations(figure.posture(row)) for row in clip.q)


def own_motion(clip: Clip, figure: Figure, mapping: JointMap, tempo: float) -> Motion:
    """The clip as a motion of its own figure; the targets are the places where its parts are."""
    frames = [figure.frames(figure.posture(row)) for row in clip.q]
    targets = {link.joint: np.array([frame[link.site].position for frame in frames]) for link in mapping.links}
    points = {link.joint: (link.site, np.zeros(3)) for link in mapping.links}
    track = Track(mapping, Contacts({}, {}), points, targets, {}, {}, 0.0, None)
    return Motion(figure, clip.q, clip.rate * tempo, clip.name, track=track)


def beside(clip: Clip, figure: Figure, ours: FloatArray) -> FloatArray:
    """(1, bodies, 3) the clip's bodies in its first frame, turned and scaled to a figure's axes and height [m].

    Args:
        clip: The clip.
        figure: The figure.
        ours: (k, 3) points of the figure's surface [m].
    """
    rows = clip[:1].positions([body.name for body in clip.figure.bodies])
    turn = np.array(world_axes(figure.up)).T @ np.array(world_axes(clip.figure.up))
    turned: FloatArray = rows @ turn.T
    up = figure.up_vector
    scale = float(np.ptp(ours @ up)) / max(float(np.ptp(turned[0] @ up)), 1e-9)
    turned = scale * (turned - turned[0, 0]) + ours.mean(axis=0)
    found: FloatArray = turned + (float((ours @ up).min()) - float((turned[0] @ up).min())) * up
    return found
