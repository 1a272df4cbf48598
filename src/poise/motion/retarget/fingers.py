"""Bends the fingers of a figure as those of the clip are bent, where both have fingers.

A robot's finger has other hinges than a person's, and rarely as many. What both have is how far a finger is closed: 0
when it is straight, 1 when it is curled into the palm. In the clip that is the sum of the angles by which its joints
are turned from the neutral posture. In the figure every hinge of the finger goes from neutral towards its farther limit
by the same share. Fingers have their names in common; a finger without its like follows the others of its hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter1d

from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Clip, Source
from poise.motion.clip.contacts import BoolArray
from poise.motion.mapping.mapping import clip_roles
from poise.motion.retarget.smoothing import eased_window

_WORDS = {"thumb": "thumb", "index": "index", "middle": "middle", "ring": "ring", "little": "little", "pinky": "little"}
CLOSED_ANGLES = (np.radians(80.0), np.radians(170.0), np.radians(240.0))
"""Sums of the angles of a closed finger of one, two, and three or more joints [rad]."""
SIDEWAYS = 0.7
"""A hinge does not bend a finger if its range to one side of neutral is at least this share of the other one's."""
FINGER_SMOOTHING = 0.03
"""Standard deviation in time of the Gaussian that smooths the bend of fingers [s]."""
OPENING_TIME = 0.25
"""Time in which fingers open before, and close after, frames in which they would be in another part [s]."""
FINGER_SPEED_SHARE = 0.9
"""Share of the speed limit of a hinge that is used."""

Collides = Callable[[FloatArray], BoolArray]
"""The frames (frames,) of a motion (frames, nq) in which parts of the figure are in each other."""


def with_fingers(source: Source, figure: Figure, q: FloatArray, rate: float, collides: Collides) -> FloatArray:
    """(frames, nq) the motion with bent fingers; the same array if the figure or the clip has none.

    Args:
        source: The clip.
        figure: The figure.
        q: (frames, nq) its motion.
        rate: Frames per second of the motion.
        collides: Finds the frames in which parts are in each other; fingers are open where they would be.
    """
    hinges = {side: _hinges(figure, side) for side in ("left", "right")}
    if not any(hinges.values()):
        return q
    bent, moved = q.copy(), []
    for side, digits in hinges.items():
        closed = _closed(source, side)
        others = [share for digit, share in closed.items() if digit != "thumb"] or list(closed.values())
        for digit, joints in digits.items() if closed else ():
            share = closed[digit] if digit in closed else np.mean(others, axis=0)
            share = gaussian_filter1d(share, max(FINGER_SMOOTHING * rate, 0.3))
            for joint in joints:
                at = figure.q_slice(joint.name).start
                rest = float(figure.neutral().q[at])
                bent[:, at] = rest + share * (_goal(joint, rest) - rest)
                moved.append((at, FINGER_SPEED_SHARE * joint.speed / rate))
    opened = eased_window(collides(bent) & ~collides(q), OPENING_TIME * rate)
    for at, most in moved:
        angle = bent[:, at] + opened * (q[:, at] - bent[:, at])
        for t in range(1, len(angle)):
            angle[t] = min(max(angle[t], angle[t - 1] - most), angle[t - 1] + most)
        bent[:, at] = angle
    return bent


def _hinges(figure: Figure, side: str) -> dict[str, list[Joint]]:
    """The hinges that bend each finger of a hand, by digit."""
    hand = figure.roles.get(f"{side}_wrist")
    out: dict[str, list[Joint]] = {}
    if hand is None or len(figure.loops):
        return {}
    dependent = {term.joint for coupling in figure.couplings for term in coupling.terms}
    for joint in _below(figure, hand.part):
        digit = _digit(joint.child)
        if digit and joint.kind == "revolute" and joint.name not in dependent and _bends(figure, joint):
            out.setdefault(digit, []).append(joint)
    return out


def _bends(figure: Figure, joint: Joint) -> bool:
    """Whether a hinge bends its finger and does not spread it."""
    rest = float(figure.neutral().q[figure.q_slice(joint.name).start])
    ways = sorted((abs(float(joint.lower[0]) - rest), abs(float(joint.upper[0]) - rest)))
    return bool(np.isfinite(ways).all()) and ways[0] < SIDEWAYS * ways[1]


def _goal(joint: Joint, rest: float) -> float:
    """The limit of a hinge that closes its finger [rad]."""
    return max(float(joint.lower[0]), float(joint.upper[0]), key=lambda limit: abs(limit - rest))


def _below(figure: Figure, body: str) -> list[Joint]:
    """The joints below a body, from the base to the tips."""
    out, reached = [], {body}
    for joint in figure.joints:
        if joint.parent in reached:
            reached.add(joint.child)
            out.append(joint)
    return out


def _digit(name: str) -> str | None:
    """The digit that a body belongs to by its name, "fingers" for one that is not named."""
    plain = name.lower()
    if "base" in plain:
        return None  # the palm
    found = next((digit for word, digit in _WORDS.items() if word in plain), None)
    return found or ("fingers" if re.search("finger", plain) else None)


def _closed(source: Source, side: str) -> dict[str, FloatArray]:
    """(frames,) how far each finger of a hand is closed in the clip, 0 … 1, by digit."""
    roles, skeleton = clip_roles(source.clip), source.clip.figure
    hand = roles.get(f"{side}_wrist")
    if hand is None:
        return {}
    neutral = Source(Clip(skeleton, skeleton.neutral().q[None], 1.0))
    chains: dict[str, list[FloatArray]] = {}
    for joint in _below(skeleton, hand.part):
        digit = _digit(joint.child)
        if digit and joint.parent is not None and joint.nv > 0:
            here, rest = (s.rotation_of(joint.parent).inv() * s.rotation_of(joint.child) for s in (source, neutral))
            chains.setdefault(digit, []).append(np.atleast_1d((rest.inv() * here).magnitude()))
    return {
        digit: np.clip(np.sum(angles, axis=0) / CLOSED_ANGLES[min(len(angles), 3) - 1], 0.0, 1.0)
        for digit, angles in chains.items()
    }
