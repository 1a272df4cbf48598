"""Finds the legs and the arms of a skeleton: pairs of chains with three joints each, by names, structure and geometry.

A limb is a choice of three joints on a path from the root to an end: hip, knee and ankle, or shoulder, elbow and wrist.
Every choice gets a score: what the names say, how well the two long bones agree in length, how much of the path they
cover, whether a knee's hinge bends the limb rather than twists it, and for legs, how low the foot is. Two limbs make a
pair if they are mirror images: equal bones, equal places in the tree, names that differ by their side. The pair with
the highest score is found by trying all choices; paths have at most a few dozen joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log
from typing import NamedTuple

import numpy as np

from poise.figure.anatomy.centers import FAR_AXIS, distance_to_axis
from poise.figure.anatomy.skeleton import Skeleton
from poise.figure.anatomy.words import Evidence, end_of, left_of_twins, side_of, strongest
from poise.figure.model.pose import FloatArray

TIP = -1
"""Index of the lower joint of a limb that ends without one: at the tip of its last segment."""
WRONG_NAME = 0.6
"""Loss of score for a joint whose name says that it is another one."""
TIP_LOSS = 1.0
"""Loss of score for a limb without a lower joint."""
TIP_NAMES = 0.6
"""Weight of the names of sites and rigid parts at the tip of a limb."""
LENGTH_RATIO_LOSS = 2.0
"""Loss of score for bones of unequal length, times the squared logarithm of their ratio."""
TWIN_LENGTH_LOSS = 2.0
"""Loss of score for unequal lengths of a left and a right bone, times the logarithm of their ratio."""
TWIST_LOSS = 1.0
"""Loss of score for a middle joint that twists the limb instead of bending it."""
HEIGHT_LOSS = 2.0
"""Loss of score for a foot above the ground, times its height as a share of the figure's."""
FOOT_GAIN = 0.5
"""Gain of score for an ankle after which the limb goes on as a foot."""
LONGEST_FOOT = 0.7
"""Greatest length of a foot, as a share of the shank."""
FOOT_COSINE = 0.8
"""Greatest cosine of the angle between shank and foot."""
AT_PARENT_LOSS = 0.3
"""Loss of score for an upper joint at the position of its parent joint, as helper joints of recordings have."""
SHORTEST_BONE = 0.03
"""Least length of a bone of a limb, as a share of the figure's size."""
LEAST_PAIR_SCORE = 1.5
"""Least score of two limbs that are accepted as a pair."""
LEAST_NAMED_SCORE = 0.6
"""Least score that names must contribute to arms that are found without legs."""
LONGEST_PATH = 60
"""Most segments on a path from the root to the end of a limb: of longer ones, as in a snake, none is a leg or an arm,
and looking for one would take minutes."""
TIE = 1e-3
"""Preference among joints at one place: the last for hips and ankles, the first for knees."""


@dataclass(frozen=True)
class Plan:
    """What is common to legs, or to arms."""

    parts: tuple[str, str, str]
    """Roles of the upper, middle and lower joint, without side."""
    girdle: str
    """Role of a joint between the trunk and the upper joint, "" if there is none."""
    end: str
    """Role of what follows the lower joint."""
    stands: bool
    """Whether it ends on the ground."""


LEG = Plan(("hip", "knee", "ankle"), "", "toe", stands=True)
ARM = Plan(("shoulder", "elbow", "wrist"), "clavicle", "fingers", stands=False)


class Limb(NamedTuple):
    """Three joints on a path from the root to an end of a skeleton, as indices of segments."""

    upper: int
    middle: int
    lower: int
    """`TIP` if the limb ends without a lower joint."""
    path: tuple[int, ...]
    """Segments from the root to the end."""
    score: float
    named: tuple[float, float, float]
    """What names contribute to the score of each joint."""

    @property
    def joints(self) -> tuple[int, int, int]:
        """Upper, middle and lower joint."""
        return self.upper, self.middle, self.lower


class Pair(NamedTuple):
    """Two limbs that mirror each other."""

    left: Limb
    right: Limb
    score: float
    sides_known: bool
    """Whether names tell the left limb from the right one."""


def find_pairs(skeleton: Skeleton, plan: Plan, taken: set[int]) -> list[Pair]:
    """All pairs of limbs of a skeleton, the best first.

    Args:
        skeleton: The skeleton.
        plan: `LEG` or `ARM`.
        taken: Segments that other limbs have.
    """
    away = taken | skeleton.looped
    paths = [p for p in _paths_without_fingers(skeleton) if len(p) <= LONGEST_PATH and not away & set(p)]
    limbs = {path: some for path in paths if (some := _limbs_on(skeleton, plan, path))}
    found: dict[tuple[int, ...], Pair] = {}
    for one, other in combinations(limbs, 2):
        shared = len(set(one) & set(other))
        mine, theirs = (_best_after(limbs[path], shared) for path in (one, other))
        pair = None if mine is None or theirs is None else _paired(skeleton, plan, mine, theirs)
        if pair is not None:
            key = (*pair.left.joints, *pair.right.joints)
            if key not in found or found[key].score < pair.score:
                found[key] = pair
    return sorted(found.values(), key=lambda pair: -pair.score)


def _best_after(limbs: list[Limb], shared: int) -> Limb | None:
    """The best of the limbs on a path that begins after its first `shared` segments."""
    return max(
        (limb for limb in limbs if limb.path.index(limb.upper) >= shared), key=lambda limb: limb.score, default=None
    )


def _with_last_joint(skeleton: Skeleton, plan: Plan, limb: Limb) -> Limb:
    """The limb with the last of the hinges that make up its ankle or wrist as its lower joint."""
    lower = limb.lower
    while lower != TIP and len(skeleton.children[lower]) == 1:
        after = skeleton.children[lower][0]
        segment, says = skeleton.segments[after], skeleton.segments[after].evidence
        if after not in limb.path or segment.axis is None or says.get(plan.parts[2], 0.0 if says else 0.1) <= 0.0:
            break
        if says.get(plan.end, 0.0) >= says.get(plan.parts[2], 0.0) > 0.0:
            break
        if distance_to_axis(skeleton.place(lower), segment) > FAR_AXIS * skeleton.bone(limb.middle, limb.lower):
            break
        lower = after
    return limb._replace(lower=lower)


def _paths_without_fingers(skeleton: Skeleton) -> list[tuple[int, ...]]:
    """The paths from the root to all ends of a skeleton, each cut before the first finger."""
    paths: dict[tuple[int, ...], None] = {}
    for end in (i for i, children in enumerate(skeleton.children) if not children):
        path = skeleton.path(end)
        fingers = (k for k, i in enumerate(path) if skeleton.segments[i].evidence.get("finger", 0.0) >= 1.0)
        paths[tuple(path[: next(fingers, len(path))])] = None
    return [path for path in paths if path]


def _limbs_on(skeleton: Skeleton, plan: Plan, path: tuple[int, ...]) -> list[Limb]:
    """The best limb on a path from the root to an end, for every upper joint."""
    chain = path[1:]
    end, tip = path[-1], skeleton.tip(path[-1])
    places = [skeleton.place(i) for i in chain]
    total = sum(skeleton.bone(a, b) for a, b in pairwise(path))
    if tip is not None:
        places.append(tip)
        total += float(np.linalg.norm(tip - skeleton.place(end)))
    says = [_evidence(skeleton, plan, i) for i in chain]
    if tip is not None:
        segment = skeleton.segments[end]
        says.append({k: TIP_NAMES * v for k, v in strongest([*segment.bodies[1:], *segment.sites]).items()})
    best: dict[int, Limb] = {}
    for choice in combinations(range(len(places)), 3):
        limb = _scored(skeleton, plan, path, choice, places, says, total)
        if limb is not None and (limb.upper not in best or best[limb.upper].score < limb.score):
            best[limb.upper] = limb
    return [_with_last_joint(skeleton, plan, limb) for limb in best.values()]


def _scored(  # noqa: PLR0917
    skeleton: Skeleton,
    plan: Plan,
    path: tuple[int, ...],
    choice: tuple[int, int, int],
    places: list[FloatArray],
    says: list[Evidence],
    total: float,
) -> Limb | None:
    """A limb with its score; None if a bone is too short.

    Args:
        skeleton: The skeleton.
        plan: `LEG` or `ARM`.
        path: Segments from the root to an end.
        choice: Which of `places` are the upper, middle and lower joint.
        places: (3,) places of the joints on the path after the root, and of its tip if it has one.
        says: What names say about them.
        total: Length of the path.
    """
    chain = path[1:]
    upper, middle, lower = choice
    at_tip = lower == len(chain)
    start, bend = chain[upper], chain[middle]
    below = float(np.linalg.norm(places[lower] - places[middle])) if at_tip else skeleton.bone(bend, chain[lower])
    bones = (skeleton.bone(start, bend), below)
    if min(bones) < SHORTEST_BONE * skeleton.size:
        return None
    a, b, c = (_name_score(says[i], part) for i, part in zip(choice, plan.parts, strict=True))
    score = a + b + c - LENGTH_RATIO_LOSS * log(bones[0] / bones[1]) ** 2 + sum(bones) / max(total, 1e-9)
    score += TIE * (upper - middle + lower) - (TIP_LOSS if at_tip else 0.0)
    score -= TWIST_LOSS * _twist(skeleton, bend, places[upper], places[lower])
    score -= AT_PARENT_LOSS if skeleton.is_at_parent(start) else 0.0
    if not at_tip:
        score += max((says[i].get(plan.end, 0.0) for i in range(lower + 1, len(chain))), default=0.0)
    if plan.girdle:
        score += max((says[i].get(plan.girdle, 0.0) for i in range(upper)), default=0.0)
    if plan.stands:
        score -= HEIGHT_LOSS * skeleton.height(places[lower])
        if not at_tip and lower + 1 < len(places):
            score += FOOT_GAIN * _is_foot(places[middle], places[lower], places[lower + 1])
    return Limb(start, bend, TIP if at_tip else chain[lower], path, score, (a, b, c))


def _evidence(skeleton: Skeleton, plan: Plan, i: int) -> Evidence:
    """What the names of a segment say; the front legs of an animal, which have the names of legs, count as arms."""
    says = skeleton.segments[i].evidence
    if plan.stands or end_of(skeleton.segments[i].body) != "front":
        return says
    pairs = zip(ARM.parts, LEG.parts, strict=True)
    return says | {arm: strength for arm, leg in pairs if (strength := max(says.get(arm, 0.0), says.get(leg, 0.0)))}


def _is_foot(knee: FloatArray, ankle: FloatArray, toe: FloatArray) -> bool:
    """Whether the bone after an ankle is like a foot: shorter than the shank, and at an angle to it."""
    shank, foot = ankle - knee, toe - ankle
    lengths = float(np.linalg.norm(shank)), float(np.linalg.norm(foot))
    if not 0.03 * lengths[0] < lengths[1] < LONGEST_FOOT * lengths[0]:
        return False
    return float(shank @ foot) < FOOT_COSINE * lengths[0] * lengths[1]


def _name_score(says: Evidence, part: str) -> float:
    """What names say for a role, or the loss if they say that it is another one."""
    return says.get(part, -WRONG_NAME if says else 0.0)


def _twist(skeleton: Skeleton, middle: int, upper: FloatArray, lower: FloatArray) -> float:
    """How much a hinge twists a limb: |cosine| of the angle between its axis and the bone at its side."""
    axis = skeleton.segments[middle].axis
    if axis is None:
        return 0.0
    at = skeleton.place(middle)
    bones = [at - upper, lower - at]
    return float(np.mean([abs(bone @ axis) / max(float(np.linalg.norm(bone)), 1e-9) for bone in bones]))


def _paired(skeleton: Skeleton, plan: Plan, one: Limb, other: Limb) -> Pair | None:
    """Two limbs as a pair; None if one is part of the other, or names say that they are on one side or other limbs."""
    if set(one.path[one.path.index(one.upper) :]) & set(other.path) or set(
        other.path[other.path.index(other.upper) :]
    ) & set(one.path):
        return None
    if min(sum(one.named), sum(other.named)) < -WRONG_NAME:
        return None
    score = one.score + other.score
    for start, end in ((0, 1), (1, 2)):
        lengths = [_length(skeleton, limb, start, end) for limb in (one, other)]
        score -= TWIN_LENGTH_LOSS * abs(log(lengths[0] / lengths[1]))
    places = [[limb.path.index(i) if i != TIP else TIP for i in limb.joints] for limb in (one, other)]
    score += 0.5 if places[0] == places[1] else -0.5
    apart = float(np.linalg.norm(skeleton.place(one.upper) - skeleton.place(other.upper)))
    score += 0.3 if apart > 0.02 * skeleton.size else 0.0
    side = _named_side(skeleton, one, other)
    if side is None:
        return None
    score += 1.0 if side else 0.0
    ends = [end_of(skeleton.segments[limb.upper].body) for limb in (one, other)]
    if plan.stands and any(ends):
        score += 0.5 * sum({"rear": 1, "front": -1, "": 0}[end] for end in ends)
    left, right = (one, other) if side >= 0 else (other, one)
    return Pair(left, right, score, sides_known=side != 0)


def _length(skeleton: Skeleton, limb: Limb, start: int, end: int) -> float:
    """Length of a bone of a limb."""
    a, b = limb.joints[start], limb.joints[end]
    if b != TIP:
        return skeleton.bone(a, b)
    tip = skeleton.tip(limb.path[-1])
    return float(np.linalg.norm(tip - skeleton.place(a))) if tip is not None else 1.0


def _named_side(skeleton: Skeleton, one: Limb, other: Limb) -> int | None:
    """1 if names say that `one` is the left limb, -1 if `other` is, 0 if they do not say, None if they contradict."""
    votes = 0
    for a, b in zip(one.joints, other.joints, strict=True):
        if TIP in (a, b):
            continue
        first, second = skeleton.segments[a], skeleton.segments[b]
        names = [(first.body, second.body)]
        if first.joint is not None and second.joint is not None:
            names.append((first.joint.name, second.joint.name))
        for x, y in names:
            sides = side_of(x), side_of(y)
            if sides[0] and sides[0] == sides[1] and not left_of_twins(x, y):
                return None
            votes += left_of_twins(x, y) or {("left", "right"): 1, ("right", "left"): -1}.get(sides, 0)
    return (votes > 0) - (votes < 0)
