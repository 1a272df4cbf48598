"""What the parts of a skeleton are for, told by its shape: for names that say nothing.

Two pairs of branches of equal length hang on a body: legs on the root, arms further up. Legs end lower than arms over
the whole clip; the one branch without a twin that ends highest carries the head. Which side is left is told by the
toes, which point forward; without toes, by knees and elbows no more: sides are then kept as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray

ALIKE = 0.08
"""Difference in length of twin branches, as a share."""
LEG = ("hip", "knee", "ankle", "toe")
ARM = ("shoulder", "elbow", "wrist", "fingers")


class Branch(NamedTuple):
    """A path of bodies from where a skeleton forks to one of its ends."""

    bodies: tuple[str, ...]
    lengths: tuple[float, ...]
    """Of the bones between them [units of the clip]."""
    height: float
    """Of its end, on average."""

    @property
    def length(self) -> float:
        """Of all bones."""
        return sum(self.lengths)


def roles_by_shape(skeleton: Figure, places: FloatArray, up: FloatArray) -> dict[str, str]:
    """Roles of bodies by topology and proportions, for a skeleton whose names say nothing.

    Args:
        skeleton: The clip's figure.
        places: (frames, bodies, 3) where its bodies are.
        up: (3,) away from the ground.
    """
    names = list(skeleton.bodies.names)
    at = {name: places[:, i] for i, name in enumerate(names)}
    branches = [_branch(path, at, up) for path in _paths(skeleton)]
    twins = [pair for pair in combinations(branches, 2) if _are_twins(*pair)]
    twins.sort(key=lambda pair: pair[0].height + pair[1].height)
    if not twins:
        return {}
    root = skeleton.tree_order[0][0]
    found = {"pelvis": root} | _limbs(twins[0], LEG, at, up)
    used = set(twins[0])
    arms = [pair for pair in twins[1:] if not used & set(pair)]
    if arms:
        arms.sort(key=lambda pair: -pair[0].length)
        found |= _limbs(arms[0], ARM, at, up, like=found)
        used |= set(arms[0])
    rest = [branch for branch in branches if branch not in used]
    if rest:
        top = max(rest, key=lambda branch: branch.height).bodies
        found |= dict(zip(("head", "neck"), reversed(top[-2:]), strict=False))
    return found


def _paths(skeleton: Figure) -> list[tuple[str, ...]]:
    """From each end of a skeleton up to the body where its branch starts."""
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
    return abs(one.length - other.length) <= ALIKE * max(one.length, other.length)


def _limbs(
    pair: tuple[Branch, Branch],
    parts: Sequence[str],
    at: dict[str, FloatArray],
    up: FloatArray,
    like: dict[str, str] | None = None,
) -> dict[str, str]:
    """Roles of a pair of limbs: the two longest bones are the limb, what follows is its end."""
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
    """Towards the left, from where the ends of the legs point."""
    forward = sum(np.mean(at[b.bodies[-1]] - at[b.bodies[-2]], axis=0) for b in pair)
    return np.cross(up, np.asarray(forward, dtype=np.float64))
