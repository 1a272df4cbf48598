"""Brings a clip into a figure's standing axes: up, heading, scale and ground, all told by the whole clip.

No frame is special, least of all the first. Medians and means over all frames do not change when frames are shuffled;
lengths are ratios, so units cancel; the heading is the mean direction faced, so a clip that was turned gives the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.motion.clip.source import Source
from poise.motion.retarget.build import Build

LOW = 5.0
"""Percentile of heights that is the ground: lower ones are noise."""
BENT = 0.97
"""Share of its neutral height at which a figure with unknown legs stands."""
STILL = 40.0
"""Percentile of speeds up to which an ankle may be standing."""
FITS = 6
"""Rounds of fitting the floor, each without what lies far from it."""
STEEP = 0.1
"""Rise of a floor that is no error any more but a hill."""
ROOM = 0.3
"""Share of its distance from the ground that a single point moves about its neutral place."""
LEG = ("hip", "knee", "ankle")


@dataclass(frozen=True)
class Calibration:
    """From the world of a clip to standing axes."""

    turn: FloatArray
    """(3, 3)"""
    center: FloatArray
    """(3,) taken off after turning [units of the clip]."""
    slope: FloatArray
    """(2,) rise of the clip's floor along x and z, taken off: floors of studios are level, their calibrations not."""
    scale: float
    """[m per unit]"""
    offset: FloatArray
    """(3,) added last: where the figure's hips stand, and how high its ankles are on flat feet [m]."""
    leg: float
    """Length of the figure's legs [m]."""

    @staticmethod
    def of(source: Source, roles: Mapping[str, str], build: Build, stride: float = 1.0) -> Calibration:
        """Calibrate on all frames.

        Args:
            source: The clip.
            roles: Joints of the clip by what they are, those the figure has no part for among them.
            build: The figure's proportions.
            stride: Share of the scale to use.
        """
        turn = _upright(source.up(roles))
        turn = _faced(source, roles, turn) @ turn
        places = {joint: source.path_of(joint) @ turn.T for joint in {*roles.values(), *build.anchors}}
        ankles = [roles[f"{side}_ankle"] for side in ("left", "right") if f"{side}_ankle" in roles]
        slope = floor_slope([places[a] for a in ankles], source.clip.rate) if ankles else np.zeros(2)
        bones = places
        places = {joint: _level(path, slope) for joint, path in places.items()}
        ours = {role: joint for role, joint in roles.items() if joint in build.anchors}
        root = middle(places, ours)
        low = np.min([places[a][:, 1] for a in ankles], axis=0) if ankles else np.zeros(1)
        ground = float(np.percentile(low, LOW))
        stood = [build.anchors[a].rest[1] for a in ankles if a in build.anchors]
        height = float(np.mean(stood)) if stood else 0.0
        rest = middle({joint: anchor.rest[None] for joint, anchor in build.anchors.items()}, ours)[0]
        scale, leg = _scale(bones, roles, build, root[:, 1] - ground, float(rest[1]) - height)
        mean = root.mean(axis=0)
        at = np.array([mean[0], ground if stood else mean[1], mean[2]])
        offset = np.array([rest[0], height if stood else rest[1], rest[2]])
        return Calibration(turn, at, slope, stride * scale, offset, leg)

    def apply(self, places: FloatArray) -> FloatArray:
        """Places (…, 3) of the clip in standing axes [m]."""
        out: FloatArray = self.scale * (_level(places @ self.turn.T, self.slope) - self.center) + self.offset
        return out


def floor_slope(ankles: list[FloatArray], rate: float) -> FloatArray:
    """(2,) rise of the floor along x and z, by a plane through ankles that stand still; 0 where they tell too little.

    Args:
        ankles: (frames, 3) paths, y up, in any unit.
        rate: Frames per second.
    """
    walked = np.concatenate(ankles)
    size = float(np.ptp(walked[:, 1]))
    if len(ankles[0]) < 2 or size <= 0.0:
        return np.zeros(2)
    speed = np.concatenate([np.linalg.norm(np.gradient(path, axis=0), axis=1) * rate for path in ankles])
    still = walked[speed < np.percentile(speed, STILL)]
    at = still - still.mean(axis=0)
    kept = np.ones(len(at), dtype=np.bool_)
    slope = np.zeros(2)
    for _ in range(FITS if len(at) else 0):
        flat, rise = at[kept][:, [0, 2]], at[kept][:, 1]
        ridge = kept.sum() * size**2 * np.eye(2)
        slope = np.linalg.solve((flat - flat.mean(axis=0)).T @ flat + ridge, (flat - flat.mean(axis=0)).T @ rise)
        left = at[:, 1] - at[:, [0, 2]] @ slope
        kept = np.abs(left - np.median(left)) <= 2.5 * np.median(np.abs(left - np.median(left))) + 1e-3 * size
    return slope if float(np.linalg.norm(slope)) < STEEP else np.zeros(2)


def _level(places: FloatArray, slope: FloatArray) -> FloatArray:
    out = np.array(places)
    out[..., 1] -= places[..., [0, 2]] @ slope
    return out


def middle(places: Mapping[str, FloatArray], roles: Mapping[str, str]) -> FloatArray:
    """(frames, 3) the middle of the hips, or the best there is instead of it."""
    if "left_hip" in roles and "right_hip" in roles:
        return 0.5 * (places[roles["left_hip"]] + places[roles["right_hip"]])
    name = roles.get("pelvis") or next(iter(roles.values()), None)
    return places[name] if name is not None else next(iter(places.values()))


def _upright(up: FloatArray) -> FloatArray:
    """(3, 3) a rotation that takes `up` to y."""
    found, _ = Rotation.align_vectors(np.array([[0.0, 1.0, 0.0]]), up[None])
    return np.asarray(found.as_matrix(), dtype=np.float64)


def _faced(source: Source, roles: Mapping[str, str], turn: FloatArray) -> FloatArray:
    """(3, 3) a turn about y after which the clip faces +z on average."""
    for part in ("hip", "shoulder", "ankle", "wrist"):
        if f"left_{part}" in roles and f"right_{part}" in roles:
            across = (source.path_of(roles[f"left_{part}"]) - source.path_of(roles[f"right_{part}"])) @ turn.T
            flat = across[:, [0, 2]]
            sizes = np.linalg.norm(flat, axis=1, keepdims=True)
            mean = np.mean(flat / np.maximum(sizes, 1e-12), axis=0)
            angle = np.arctan2(mean[1], mean[0])
            return np.asarray(Rotation.from_rotvec([0.0, angle, 0.0]).as_matrix(), dtype=np.float64)
    return np.eye(3)


def _scale(
    places: dict[str, FloatArray], roles: Mapping[str, str], build: Build, heights: FloatArray, stature: float
) -> tuple[float, float]:
    """Metres per unit of the clip, and the length of a leg: by the bones of legs, else by how high the root is."""
    rest = {joint: anchor.rest for joint, anchor in build.anchors.items()}
    theirs, ours = 0.0, 0.0
    for side in ("left", "right"):
        bones = [roles.get(f"{side}_{part}", "") for part in LEG]
        for a, b in pairwise(bones):
            if a in rest and b in rest:
                theirs += float(np.median(np.linalg.norm(places[b] - places[a], axis=1)))
                ours += float(np.linalg.norm(rest[b] - rest[a]))
    if theirs > 0.0 and ours > 0.0:
        return ours / theirs, 0.5 * ours
    usual = float(np.median(heights))
    if usual > 0.0 and stature > 0.0:
        return BENT * stature / usual, stature
    return _spread_scale({joint: places[joint] for joint in rest}, rest)


def _spread_scale(places: dict[str, FloatArray], rest: dict[str, FloatArray]) -> tuple[float, float]:
    """By how far mapped points go; for parts of bodies that neither stand nor walk."""
    if len(places) > 1:
        theirs = float(np.median(np.linalg.norm(np.ptp(np.array(list(places.values())), axis=0), axis=1)))
        ours = float(np.linalg.norm(np.ptp(np.array(list(rest.values())), axis=0)))
    else:
        path = next(iter(places.values()))
        theirs = float(np.percentile(np.linalg.norm(path - path.mean(axis=0), axis=1), 95.0))
        ours = ROOM * float(np.linalg.norm(next(iter(rest.values()))))
    if not theirs > 0.0:
        raise TaskError("the mapped joints of the clip are all in one place: bones of length zero give no scale.")
    return (ours / theirs if ours > 0.0 else 1.0), max(ours, 1e-3)
