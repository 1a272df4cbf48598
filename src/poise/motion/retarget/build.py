"""Proportions of a figure that retargeting needs: rest positions of its joints, its forward direction and its soles.

All positions are in *standing axes*: x to the figure's left, y up, z forward, with the ground at height 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poise.figure.collision.soles import sole_corners
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.motion.mapping.mapping import JointMap, Link

UPRIGHT_AXIS = 0.8
"""Least |cosine| of the angle from the vertical of a hinge that turns a foot about the vertical."""
FLAT_FOOT_FREEDOM = 6
"""Degrees of freedom of a leg that can keep its foot flat at any place."""
_SIDE_PAIRS = ("hip", "ankle", "shoulder", "wrist")
"""Roles whose left and right parts define the figure's left, in order of preference."""


class Anchor(NamedTuple):
    """A point of a figure that follows a joint of a clip."""

    site: str
    offset: FloatArray
    """(3,) the point in the site's frame [m]."""
    rest: FloatArray
    """(3,) the point in the neutral posture, in standing axes [m]."""


class Foot(NamedTuple):
    """A foot of a figure, flat on the ground; points are relative to the centre of its sole, in standing axes."""

    site: str
    """Site of the figure that is mapped to the ankle."""
    ankle: FloatArray
    """(3,) centre of the ankle joint [m]."""
    heel: FloatArray
    """(3,) middle of the sole's rear edge [m]."""
    ball: FloatArray
    """(3,) middle of the sole's front edge, about which the foot rolls when the heel lifts [m]."""
    tip: str
    """Site at the end of the toes, "" for a foot without toes."""
    tip_at: FloatArray
    """(3,) position of that site [m]."""
    sole: Pose
    """Pose of the sole in the frame of the site: its centre, with standing axes of the neutral posture."""
    breadth: float
    """Distance from the inner to the outer edge of the sole [m]."""
    lifts_flat: bool
    """Whether it has no toes to roll over, on a leg whose hip is mapped: it then leaves the ground flat."""
    rolls: bool
    """Whether its leg has the six degrees of freedom that keep it flat anywhere; else it may tilt sideways."""
    turns: tuple[float, float]
    """How far its leg turns it to the right (negative) and to the left against the pelvis, by upright hinges [rad]."""


@dataclass(frozen=True)
class Build:
    """Proportions of a figure: its standing axes, mapped points and feet."""

    axes: FloatArray
    """(3, 3) unit vectors as rows: left, up and forward in the world of the figure."""
    ground: float
    """Height of the ground in the world of the figure [m]."""
    anchors: dict[str, Anchor]
    """Mapped points by joint of the clip."""
    feet: dict[str, Foot]
    """Feet by side."""
    turned: dict[str, FloatArray]
    """(3, 3) rotations of the mapped sites in the neutral posture, in standing axes, by site."""

    @staticmethod
    @lru_cache(maxsize=16)
    def of(figure: Figure, mapping: JointMap) -> Build:
        """Measure a figure in its neutral posture; the result is cached, so callers must not modify it."""
        frames = figure.frames(figure.neutral())
        by_role = mapping.by_role()
        axes = _axes(figure, by_role)
        feet_sites = {s: by_role[f"{s}_ankle"].site for s in ("left", "right") if f"{s}_ankle" in by_role}
        soles = {side: _sole_points(figure, site) for side, site in feet_sites.items()}
        heights = [float((points @ axes[1]).min()) for points in soles.values()]
        ground = min(heights) if heights else 0.0
        anchors = {}
        for link in mapping.links:
            if link.point is None:
                point = _joint_center(figure, link.site)
                offset = frames[link.site].inverse().apply(point)
            else:
                offset = np.array(link.point)
                point = np.array(frames[link.site].apply(offset))
            anchors[link.joint] = Anchor(link.site, offset, axes @ point - np.array([0.0, ground, 0.0]))
        turned = {link.site: axes @ frames[link.site].matrix[:3, :3] for link in mapping.links}
        feet = {
            side: _foot(figure, side, site, soles[side], axes, anchors[by_role[f"{side}_ankle"].joint].rest, ground)
            for side, site in feet_sites.items()
        }
        feet = {
            side: foot._replace(lifts_flat=not foot.tip and f"{side}_hip" in by_role) for side, foot in feet.items()
        }
        return Build(axes, ground, anchors, feet, turned)

    def world(self, points: FloatArray) -> FloatArray:
        """Points (…, 3) given in standing axes, in the world of the figure [m]."""
        raised = points + np.array([0.0, self.ground, 0.0])
        out: FloatArray = raised @ self.axes
        return out


def _axes(figure: Figure, by_role: dict[str, Link]) -> FloatArray:
    """(3, 3) left, up and forward of a figure; left points from its right to its left parts."""
    up = np.asarray(figure.up_vector, dtype=np.float64)
    for part in _SIDE_PAIRS:
        if f"left_{part}" in by_role and f"right_{part}" in by_role:
            across = _joint_center(figure, by_role[f"left_{part}"].site) - _joint_center(
                figure, by_role[f"right_{part}"].site
            )
            across -= (across @ up) * up
            if np.linalg.norm(across) > 1e-6:
                left = across / np.linalg.norm(across)
                return np.array([left, up, np.cross(left, up)])
    forward = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 0.5 else np.array([1.0, 0.0, 0.0])
    return np.array([np.cross(up, forward), up, forward])


def _joint_center(figure: Figure, name: str) -> FloatArray:
    """(3,) world position in the neutral posture of a site, or of the joint that moves a body [m]."""
    frames = figure.frames(figure.neutral())
    if name not in figure.bodies.names:
        return np.array(frames[name].position)
    row = figure.bodies.index(name)
    pose = Pose(frames.position[row], frames.rotation[row])
    joint = next((j for body, j in figure.tree_order if body == name), None)
    if joint is None or joint.kind == "free":
        return np.array(frames[name].position if name in figure.sites.names else pose.position)
    return np.array(pose.apply(joint.child_frame.position))


def _sole_points(figure: Figure, site: str) -> FloatArray:
    """(k, 3) world positions of a sole's corners in the neutral posture [m].

    The corners are sites whose names begin with the foot's, else the corners of the foot's shapes.
    """
    frames = figure.frames(figure.neutral())
    body = figure.body_of(site)
    marked = [s.name for s in figure.sites if s.name.startswith(f"{site}_") and s.body == body]
    if len(marked) >= 3:
        return np.array([frames[name].position for name in marked])
    return np.array([frames[site].apply(corner) for corner in sole_corners(figure, site)])


def _foot(  # noqa: PLR0917
    figure: Figure, side: str, site: str, sole: FloatArray, axes: FloatArray, ankle: FloatArray, ground: float
) -> Foot:
    frames = figure.frames(figure.neutral())
    points = sole @ axes.T - np.array([0.0, ground, 0.0])
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    center[1] = 0.0
    half = 0.5 * float(np.ptp(points[:, 2]))
    world = axes.T @ (center + np.array([0.0, ground, 0.0]))
    rotation = frames[site].inverse().matrix[:3, :3] @ axes.T
    inverse = frames[site].inverse()
    tip = f"{side}_toes" if f"{side}_toes" in figure.sites.names else ""
    front = np.array([0.0, 0.0, half])
    sole_pose = Pose(inverse.apply(world), _quaternion(rotation))
    tip_at = np.array((frames[site] @ sole_pose).inverse().apply(frames[tip].position)) if tip else np.zeros(3)
    breadth, rolls = float(np.ptp(points[:, 0])), _leg_freedom(figure, site) >= FLAT_FOOT_FREEDOM
    turns = _leg_turns(figure, site)
    return Foot(site, ankle - center, -front, front, tip, tip_at, sole_pose, breadth, False, rolls, turns)


def _leg_turns(figure: Figure, site: str) -> tuple[float, float]:
    """How far the upright hinges of a leg turn its foot; without limits if there is another kind of joint."""
    above = {joint.child: joint for joint in figure.joints}
    frames, neutral = figure.frames(figure.neutral()), figure.neutral()
    body: str | None = figure.body_of(site)
    low = high = 0.0
    while body is not None and body in above and above[body].kind != "free":
        joint, row = above[body], figure.bodies.index(body)
        if joint.nv and (joint.kind != "revolute" or len(figure.loops)):
            return -np.inf, np.inf
        if joint.nv:
            turn = Pose(frames.position[row], frames.rotation[row]).matrix[:3, :3] @ joint.child_frame.matrix[:3, :3]
            upright = float((turn @ np.asarray(joint.axes[0])) @ figure.up_vector)
            at = float(neutral[joint.name])
            if abs(upright) > UPRIGHT_AXIS:
                ends = sorted(np.sign(upright) * (limit - at) for limit in (joint.lower[0], joint.upper[0]))
                low, high = low + float(ends[0]), high + float(ends[1])
        body = joint.parent
    return low, high


def _leg_freedom(figure: Figure, site: str) -> int:
    """Degrees of freedom between the floating base, or the world, and a foot; many if there are loops."""
    above = {joint.child: joint for joint in figure.joints}
    body: str | None = figure.body_of(site)
    total = FLAT_FOOT_FREEDOM if len(figure.loops) else 0
    while body in above and above[body].kind != "free":
        total += above[body].nv
        body = above[body].parent
    return total


def _quaternion(matrix: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(matrix).as_quat(), 1)
