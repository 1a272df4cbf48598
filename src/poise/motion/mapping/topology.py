"""Finds the anatomical roles of a skeleton's parts by its topology, for skeletons with unknown names.

A body has two pairs of branches of equal length: the legs and the arms. The pair whose ends are lowest over the whole
clip are the legs; the branch without a twin that ends highest leads to the head. The last bones of the legs are taken
as the feet, which point forward; forward and up give the left side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray

TWIN_LENGTH_DIFFERENCE = 0.08
"""Greatest difference in length of two twin branches, as a share of the longer one."""
LEG_PARTS = ("hip", "knee", "ankle", "toe")
"""Roles along a leg, from its root to its end."""
ARM_PARTS = ("shoulder", "elbow", "wrist", "fingers")
"""Roles along an arm, from its root to its end."""


class Branch(NamedTuple):
    """A chain of bodies from a fork of the skeleton to a leaf."""

    bodies: tuple[str, ...]
    """Names of the bodies, from the fork to the leaf."""
    lengths: tuple[float, ...]
    """Lengths of the bones between consecutive bodies [units of the clip]."""
    height: float
    """Mean height of the leaf over the clip [units of the clip]."""

    @property
    def length(self) -> float:
        """Total length of the bones [units of the clip]."""
        return sum(self.lengths)


def roles_by_shape(skeleton: Figure, places: FloatArray, up: FloatArray) -> dict[str, str]:
    """Bodies by role, found by topology and proportions; empty if no two branches are twins.

    Args:
        skeleton: The clip's figure.
        places: (frames, bodies, 3) world positions of its bodies.
        up: (3,) unit vector away from the ground.
    """
    names = list(skeleton.bodies.names)
    at = {name: places[:, i] for i, name in enumerate(names)}
    branches = [_branch(path, at, up) for path in _paths(skeleton)]
    twins = [pair for pair in combinations(branches, 2) if _are_twins(*pair)]
    twins.sort(key=lambda pair: pair[0].height + pair[1].height)
    if not twins:
        return {}
    root = skeleton.tree_order[0][0]
    found = {"pelvis": root} | _limbs(twins[0], LEG_PARTS, at, up)
    used = set(twins[0])
    arms = [pair for pair in twins[1:] if not used & set(pair)]
    if arms:
        arms.sort(key=lambda pair: -pair[0].length)
        found |= _limbs(arms[0], ARM_PARTS, at, up, like=found)
        used |= set(arms[0])
    rest = [branch for branch in branches if branch not in used]
    if rest:
        top = max(rest, key=lambda branch: branch.height).bodies
        found |= dict(zip(("head", "neck"), reversed(top[-2:]), strict=False))
    return found


def _paths(skeleton: Figure) -> list[tuple[str, ...]]:
    """For each leaf of a skeleton, the chain of bodies from the last fork to the leaf."""
    parents = {body: None if joint is None else joint.parent for body, joint in skeleton.tree_order}
    children: dict[str | None, list[str]] = {}
    for body, parent in parents.items():
        children.setdefault(parent, []).append(body)
    paths = []
    for end in (body for body in parents if body not in children):
        path, above = [end], parents[end]
        while above is not None and len(children[above]) == 1:
            path.append(above)
            above = parents[above]
        paths.append(tuple(reversed(path)))
    return paths


def _branch(path: Sequence[str], at: dict[str, FloatArray], up: FloatArray) -> Branch:
    lengths = [float(np.median(np.linalg.norm(at[b] - at[a], axis=1))) for a, b in pairwise(path)]
    return Branch(tuple(path), tuple(lengths), float(np.mean(at[path[-1]] @ up)))


def _are_twins(one: Branch, other: Branch) -> bool:
    if len(one.bodies) != len(other.bodies) or len(one.bodies) < 3:
        return False
    return abs(one.length - other.length) <= TWIN_LENGTH_DIFFERENCE * max(one.length, other.length)


def _limbs(
    pair: tuple[Branch, Branch],
    parts: Sequence[str],
    at: dict[str, FloatArray],
    up: FloatArray,
    like: dict[str, str] | None = None,
) -> dict[str, str]:
    """Bodies of a pair of limbs by role: the two longest consecutive bones come first, then hand or foot.

    Args:
        pair: The two branches.
        parts: Roles along the limb without side, root first.
        at: (frames, 3) paths of all bodies, by name.
        up: (3,) unit vector away from the ground.
        like: Roles that are known already; their hips define left and right. None for legs.
    """
    one, other = pair
    across = np.mean(at[one.bodies[0]] - at[other.bodies[0]], axis=0)
    left = _left(pair, at, up) if like is None else np.mean(at[like["left_hip"]] - at[like["right_hip"]], axis=0)
    sides = (one, other) if float(across @ left) >= 0.0 else (other, one)
    found: dict[str, str] = {}
    for side, branch in zip(("left", "right"), sides, strict=True):
        sums = [a + b for a, b in pairwise(branch.lengths)]
        first = int(np.argmax(sums))
        found |= {f"{side}_{part}": body for part, body in zip(parts, branch.bodies[first:], strict=False)}
    return found


def _left(pair: tuple[Branch, Branch], at: dict[str, FloatArray], up: FloatArray) -> FloatArray:
    """(3,) direction to the left: up × forward, with forward the mean direction of the last bones of the legs."""
    forward = sum(np.mean(at[b.bodies[-1]] - at[b.bodies[-2]], axis=0) for b in pair)
    return np.cross(up, np.asarray(forward, dtype=np.float64))
