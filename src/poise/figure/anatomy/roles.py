"""Anatomical roles: which body or site of a figure, or joint of a clip, is the pelvis, the left knee, the right hand.

A role is a word such as "head", or a part with its side, "left_knee". Roles that are joints belong to the segment that
the joint moves: the part of "left_hip" is the thigh, that of "left_knee" the shank, that of "left_ankle" the foot, that
of "left_wrist" the hand. Names, structure and geometry are used together: the legs and arms are found as pairs of
chains (`limbs`), the pelvis is what carries both legs, the chest what carries both arms. What has no structure, such as
the two feet of a figure without knees, is found by its name alone, with less certainty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.figure.anatomy.centers import bending_hinge, meeting_point, nearest_on_axis
from poise.figure.anatomy.limbs import (
    ARM,
    LEAST_NAMED_SCORE,
    LEAST_PAIR_SCORE,
    LEG,
    TIP,
    Limb,
    Pair,
    Plan,
    find_pairs,
)
from poise.figure.anatomy.skeleton import Segment, Skeleton
from poise.figure.anatomy.words import evidence_of, side_of
from poise.figure.model.pose import FloatArray

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

SIDED_PARTS = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist", "fingers")
"""Parts that exist once on the left and once on the right."""
SINGLE_PARTS = ("pelvis", "chest", "neck", "head")
"""Parts that exist once."""
ROLES = (*SINGLE_PARTS, *(f"{side}_{part}" for part in SIDED_PARTS for side in ("left", "right")))
"""All roles."""
LEAST_NAME = {"toe": 0.8, "pelvis": 0.8, "chest": 0.7, "neck": 0.7, "head": 0.7}
"""Least strength of a name that gives a role without structure, by part."""
LEAST_SIDED_NAME = 0.3
"""The same for other parts, which have a side."""
FOUND_IN_PAIR, NAMED, MIRRORED = 0.45, 0.4, 0.1
"""Certainty that structure, an unambiguous name and the mirrored part on the other side contribute."""
BY_NAME = 0.6
"""Certainty of a role that a name alone gives."""
SAME_POINT = 1e-3
"""Distance from the centre of a body's joint within which no other point is given [m]."""


@dataclass(frozen=True)
class Role:
    """A part of a figure that has a role, and how it was found."""

    part: str
    """Name of the body or site."""
    point: tuple[float, float, float] | None = None
    """The point that has the role, in the frame of the part [m]; None for the centre of the joint that moves it."""
    certainty: float = 1.0
    """How sure it is, from 0 to 1."""
    reason: str = ""
    """What it was found by: "name", "structure", or both."""


def figure_roles(figure: Figure) -> dict[str, Role]:
    """Roles of a figure in its neutral posture."""
    return find_roles(Skeleton(figure, figure.frames(figure.neutral())))


def moving_roles(figure: Figure, places: FloatArray) -> dict[str, Role]:
    """Roles of a skeleton that moves.

    Args:
        figure: The skeleton.
        places: (frames, bodies, 3) positions of its bodies.
    """
    return find_roles(Skeleton(figure, figure.frames(figure.neutral()), places))


def find_roles(skeleton: Skeleton) -> dict[str, Role]:
    """All roles of a skeleton, in the order of `SINGLE_PARTS` and `SIDED_PARTS`, left before right."""
    found: dict[str, Role] = {}
    legs = _legs(skeleton)
    arms = _arms(skeleton, legs)
    for plan, pair in ((LEG, legs), (ARM, arms)):
        if pair is not None:
            found |= _limb_roles(skeleton, plan, pair, left=_left_of(skeleton, legs or pair))
    found |= _trunk_roles(skeleton, legs, arms)
    found |= _named_roles(skeleton, found, legs, arms)
    found |= _hand_ends(skeleton, found, arms)
    order = [*SINGLE_PARTS, *(f"{side}_{part}" for part in SIDED_PARTS for side in ("left", "right"))]
    return {role: found[role] for role in order if role in found}


def _legs(skeleton: Skeleton) -> Pair | None:
    pairs = find_pairs(skeleton, LEG, set())
    return pairs[0] if pairs and pairs[0].score > LEAST_PAIR_SCORE else None


def _arms(skeleton: Skeleton, legs: Pair | None) -> Pair | None:
    """The best pair of arms; without legs, names must say that they are arms."""
    taken = set() if legs is None else {i for limb in legs[:2] for i in limb.path[limb.path.index(limb.upper) :]}
    for pair in find_pairs(skeleton, ARM, taken):
        named = sum(pair.left.named) + sum(pair.right.named)
        if pair.score > LEAST_PAIR_SCORE and (legs is not None or named > LEAST_NAMED_SCORE):
            return pair
    return None


# Left and right


def _left_of(skeleton: Skeleton, pair: Pair) -> FloatArray:
    """(3,) direction to the left: by names, else up × forward, with forward the way the feet point or the knees do."""
    across = skeleton.place(pair.left.upper) - skeleton.place(pair.right.upper)
    if np.linalg.norm(across) < 1e-9:
        across = _end(skeleton, pair.left) - _end(skeleton, pair.right)
    if pair.sides_known:
        return across
    up = skeleton.figure.up_vector
    forward = sum((_forward(skeleton, limb, up) for limb in pair[:2]), np.zeros(3))
    left = np.cross(up, forward)
    return across if float(across @ left) >= 0.0 else -across


def _end(skeleton: Skeleton, limb: Limb) -> FloatArray:
    tip = skeleton.tip(limb.path[-1]) if limb.lower == TIP else None
    return skeleton.place(limb.path[-1] if limb.lower == TIP else limb.lower) if tip is None else tip


def _forward(skeleton: Skeleton, limb: Limb, up: FloatArray) -> FloatArray:
    """(3,) the way a foot points: along its last bone, else away from the side to which the knee bends."""
    ankle = _end(skeleton, limb)
    last = skeleton.place(limb.path[-1]) - ankle
    if np.linalg.norm(last - (last @ up) * up) > SAME_POINT * skeleton.size:
        return last
    hinge = skeleton.segments[limb.middle]
    if hinge.joint is None or hinge.axis is None or not np.isfinite([*hinge.joint.lower, *hinge.joint.upper]).all():
        return np.zeros(3)
    bend = 0.5 * (hinge.joint.lower[0] + hinge.joint.upper[0])
    backward = np.cross(hinge.axis, ankle - skeleton.place(limb.middle)) * np.sign(bend)
    return np.asarray(-backward, dtype=np.float64)


# Limbs


def _limb_roles(skeleton: Skeleton, plan: Plan, pair: Pair, left: FloatArray) -> dict[str, Role]:
    across = skeleton.place(pair.left.upper) - skeleton.place(pair.right.upper)
    agrees = pair.sides_known or float(across @ left) >= 0.0
    sides = (pair.left, pair.right) if agrees else (pair.right, pair.left)
    out = {}
    for side, limb in zip(("left", "right"), sides, strict=True):
        trunk = skeleton.common(pair.left.upper, pair.right.upper)
        for part, role in _parts_of(skeleton, plan, limb, trunk).items():
            out[f"{side}_{part}"] = role
    return out


def _parts_of(skeleton: Skeleton, plan: Plan, limb: Limb, trunk: int) -> dict[str, Role]:
    """Roles of one limb on the segment `trunk`, without its side."""
    upper, middle, lower = plan.parts
    segments = skeleton.segments
    points = _centers(skeleton, plan, limb, trunk)
    bodies = {upper: _upper_body(skeleton, limb), middle: limb.middle, lower: limb.lower}
    out = {}
    for k, part in enumerate(plan.parts):
        if bodies[part] == TIP and (tip := _named_tip(skeleton, limb.path[-1], part)) is not None:
            out[part] = tip
            continue
        segment = segments[limb.path[-1] if bodies[part] == TIP else bodies[part]]
        sure = min(1.0, FOUND_IN_PAIR + MIRRORED + NAMED * limb.named[k] + (0.05 if limb.named[k] > 0.0 else 0.0))
        reason = "name and structure" if limb.named[k] > 0.0 else "structure"
        out[part] = Role(segment.body, _point_in(skeleton, segment, points[part]), round(max(sure, 0.05), 2), reason)
    end = _next_segment(skeleton, plan, limb)
    if end is not None:
        named = segments[end].evidence.get(plan.end, 0.0)
        sure = FOUND_IN_PAIR + MIRRORED + NAMED * named
        reason = "name and structure" if named else "structure"
        out[plan.end] = Role(segments[end].body, None, round(sure, 2), reason)
    return out


def _named_tip(skeleton: Skeleton, end: int, part: str) -> Role | None:
    """The rigid body or site at the end of a limb that is named as its hand or foot."""
    segment = skeleton.segments[end]
    strengths = [(evidence_of(name).get(part, 0.0), name) for name in (*segment.bodies[1:], *segment.sites)]
    strength, name = max(strengths, key=lambda pair: pair[0], default=(0.0, ""))
    if strength <= 0.0:
        return None
    return Role(name, None, round(FOUND_IN_PAIR + MIRRORED + NAMED * strength, 2), "name and structure")


def _upper_body(skeleton: Skeleton, limb: Limb) -> int:
    """The segment between the upper and the middle joint: the last of a series of hinges, else what the joint moves."""
    before = limb.path[limb.path.index(limb.middle) - 1]
    return before if skeleton.segments[before].axis is not None else limb.upper


def _next_segment(skeleton: Skeleton, plan: Plan, limb: Limb) -> int | None:
    """The segment after a foot or hand: on the path, at some distance, and not named as something else."""
    if limb.lower == TIP or len(skeleton.children[limb.lower]) > 1:
        return None
    for i in limb.path[limb.path.index(limb.lower) + 1 :]:
        says = skeleton.segments[i].evidence
        if skeleton.bone(limb.lower, i) > SAME_POINT * skeleton.size and (plan.end in says or not says):
            return i
    return None


def _centers(skeleton: Skeleton, plan: Plan, limb: Limb, trunk: int) -> dict[str, FloatArray]:
    """(3,) places of the three joints of a limb on the segment `trunk`, by part."""
    upper, middle, lower = plan.parts
    segments, path = skeleton.segments, limb.path
    knee = segments[limb.middle]
    first = path.index(trunk) + 1 if trunk in path else 0
    before = [segments[i] for i in path[first : path.index(limb.middle)]]
    end = _end(skeleton, limb)
    if plan.stands and limb.lower != TIP:
        after = [segments[i] for i in path[path.index(limb.middle) + 1 : path.index(limb.lower) + 1]]
        meeting = meeting_point(after, skeleton.bone(limb.middle, limb.lower)) if len(after) > 1 else None
        end = end if meeting is None else meeting
    bent = nearest_on_axis(end, knee)
    top = meeting_point(before, skeleton.bone(limb.upper, limb.middle))
    if plan.stands:
        hinge = bending_hinge(before, knee)
        top = top if hinge is None else nearest_on_axis(bent, hinge)
    return {upper: skeleton.place(limb.upper) if top is None else top, middle: bent, lower: end}


def _point_in(skeleton: Skeleton, segment: Segment, place: FloatArray) -> tuple[float, float, float] | None:
    """A place in the frame of a segment's body; None if it is the centre of the joint that moves the body."""
    if np.linalg.norm(place - segment.places.mean(axis=0)) < SAME_POINT * min(skeleton.size, 1.0):
        return None
    x, y, z = np.round(skeleton.pose_of(segment.body).inverse().apply(place), 6).tolist()
    return (x, y, z)


# Trunk


def _trunk_roles(skeleton: Skeleton, legs: Pair | None, arms: Pair | None) -> dict[str, Role]:
    """Pelvis, chest, neck and head, from what carries the legs and the arms."""
    out: dict[str, Role] = {}
    pelvis = chest = -1
    if legs is not None:
        pelvis = skeleton.common(legs.left.upper, legs.right.upper)
        if pelvis >= 0:
            out["pelvis"] = _in_segment(skeleton, pelvis, "pelvis")
    if arms is not None:
        chest = skeleton.common(arms.left.upper, arms.right.upper)
        if chest >= 0 and chest != pelvis:
            out["chest"] = _in_segment(skeleton, chest, "chest")
    top = chest if chest >= 0 else pelvis
    if top >= 0:
        limbs = {i for pair in (legs, arms) if pair is not None for limb in pair[:2] for i in limb.path[1:]}
        limbs -= set(skeleton.path(top))
        out |= _head_roles(skeleton, top, limbs)
    return out


def _in_segment(skeleton: Skeleton, i: int, part: str) -> Role:
    """The body of a segment that its name fits best to a role that structure gives to the segment."""
    segment = skeleton.segments[i]
    strength = [evidence_of(body).get(part, 0.0) for body in segment.bodies]
    best = int(np.argmax(strength))
    named = max(strength[best], segment.evidence.get(part, 0.0))
    sure = min(1.0, FOUND_IN_PAIR + MIRRORED + NAMED * named + (0.05 if named else 0.0))
    return Role(segment.bodies[best], None, round(sure, 2), "name and structure" if named else "structure")


def _head_roles(skeleton: Skeleton, chest: int, limbs: set[int]) -> dict[str, Role]:
    """Head and neck: the last and the first segment of the chain that rises from the chest between the arms."""
    up = skeleton.figure.up_vector
    base = float(skeleton.place(chest) @ up)
    chains = []
    for end in (i for i in skeleton.below(chest) if not skeleton.children[i] and i != chest):
        path = skeleton.path(end)
        chain = path[path.index(chest) + 1 :]
        says = skeleton.segments[end].evidence
        if limbs & set(chain) or any(side_of(skeleton.segments[i].body) for i in chain):
            continue
        if says and not {"head", "neck"} & set(says):
            continue
        named = sum(skeleton.segments[i].evidence.get(part, 0.0) for i in chain for part in ("head", "neck"))
        rise = (float(skeleton.place(end) @ up) - base) / skeleton.size
        if named > 0.0 or rise > 0.0:
            chains.append((named > 0.0, rise, chain))
    if not chains:
        return {}
    named, _, chain = max(chains)
    heads = [i for i in chain if skeleton.segments[i].evidence.get("head", 0.0) >= 1.0]
    necks = [i for i in chain if skeleton.segments[i].evidence.get("neck", 0.0) >= 1.0]
    head = heads[-1] if heads else chain[-1]
    sure = 0.95 if heads else 0.75 if named else 0.5
    reason = "name and structure" if named else "structure"
    out = {"head": Role(skeleton.segments[head].body, None, sure, reason)}
    below = [i for i in chain[: chain.index(head)] if i != head]
    neck = necks[0] if necks and necks[0] != head else below[-1] if below and not named else None
    if neck is not None:
        out["neck"] = Role(skeleton.segments[neck].body, None, 0.95 if necks else 0.5, reason)
    return out


# Names alone, and hands


def _named_roles(
    skeleton: Skeleton, found: Mapping[str, Role], legs: Pair | None, arms: Pair | None
) -> dict[str, Role]:
    """Roles that only names give: what is not part of a pair of limbs, such as heads that do not move and toes."""
    figure, used = skeleton.figure, {role.part for role in found.values()}
    of_limb = {
        i: plan
        for plan, pair in ((LEG, legs), (ARM, arms))
        if pair is not None
        for limb in pair[:2]
        for i in set(limb.path) - set(skeleton.path(skeleton.common(pair.left.upper, pair.right.upper)))
    }
    out: dict[str, Role] = {}
    best: dict[str, float] = {}
    for name in (*figure.bodies.names, *figure.sites.names):
        side, says = side_of(name), evidence_of(name)
        for part, strength in says.items():
            if part in (*LEG.parts, *ARM.parts) and strength < max(says.values()):
                continue
            role = f"{side}_{part}" if part in SIDED_PARTS else part
            if role in found or name in used or (part in SIDED_PARTS and not side) or (side and part in SINGLE_PARTS):
                continue
            if part not in (*SIDED_PARTS, *SINGLE_PARTS) or strength < LEAST_NAME.get(part, LEAST_SIDED_NAME):
                continue
            if (part in LEG.parts and legs is not None) or (part in ARM.parts and arms is not None):
                continue
            body = figure.body_of(name)
            plan = of_limb.get(skeleton.home[body])
            if plan is not None and part != plan.end:
                continue
            if strength > best.get(role, 0.0):
                best[role] = strength
                out[role] = Role(name, _middle(skeleton, name), round(BY_NAME * strength, 2), "name")
    both = out | dict(found)
    return {role: part for role, part in out.items() if _twin_of(role) in both or not _in_loop(skeleton, part.part)}


def _in_loop(skeleton: Skeleton, name: str) -> bool:
    """Whether a body or site is part of a loop; names say little there: its mirrored part must have the same role."""
    body = skeleton.figure.body_of(name)
    return skeleton.home[body] in skeleton.looped


def _twin_of(role: str) -> str:
    """The same role on the other side; a role without side is its own."""
    side, _, part = role.partition("_")
    return {"left": f"right_{part}", "right": f"left_{part}"}.get(side, role)


def _middle(skeleton: Skeleton, name: str) -> tuple[float, float, float] | None:
    """The centre of mass of a body that is fixed to another, whose own frame may be anywhere; else None."""
    if name in skeleton.figure.sites or skeleton.segments[skeleton.home[name]].body == name:
        return None
    mass = skeleton.figure.bodies[name].mass
    x, y, z = np.round(mass.center, 6).tolist()
    return (x, y, z) if mass.mass > 0.0 else None


def _hand_ends(skeleton: Skeleton, found: Mapping[str, Role], arms: Pair | None) -> dict[str, Role]:
    """The ends of hands without fingers: the tips of their shapes."""
    out: dict[str, Role] = {}
    for side in ("left", "right"):
        hand = found.get(f"{side}_wrist")
        if arms is None or hand is None or hand.point is not None or f"{side}_fingers" in found:
            continue
        i = skeleton.home.get(hand.part, -1)
        tip = skeleton.tip(i) if i >= 0 and not skeleton.children[i] else None
        if tip is not None:
            point = _point_in(skeleton, skeleton.segments[i], tip)
            if point is not None:
                out[f"{side}_fingers"] = Role(hand.part, point, FOUND_IN_PAIR, "structure")
    return out
