"""How a figure is built, as far as retargeting asks: where its joints are at rest, which way it faces, its soles.

Everything here is in *standing axes*: x to the figure's left, y up, z forward, the ground at height 0.
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

_PAIRS = ("hip", "ankle", "shoulder", "wrist")


class Anchor(NamedTuple):
    """A point of a figure that follows a joint of a clip."""

    site: str
    offset: FloatArray
    """(3,) the point, in the site's axes [m]."""
    rest: FloatArray
    """(3,) where it is in the neutral posture, in standing axes [m]."""


class Foot(NamedTuple):
    """A foot of a figure, flat on the ground, seen from the centre of its sole in standing axes."""

    site: str
    ankle: FloatArray
    """(3,) [m]"""
    heel: FloatArray
    """(3,) middle of its rear edge."""
    ball: FloatArray
    """(3,) about what it rolls when the heel lifts: its front edge, or where its toes begin."""
    tip: str
    """Site at the end of the toes, "" for a foot in one piece."""
    tip_at: FloatArray
    """(3,) where that is."""
    sole: Pose
    """The centre of the sole in the frame of the site, turned as standing axes are in the neutral posture."""
    breadth: float
    """From its inner to its outer edge [m]."""


@dataclass(frozen=True)
class Build:
    """A figure's proportions."""

    axes: FloatArray
    """(3, 3) rows: left, up and forward in the world of the figure."""
    ground: float
    """Height of the ground in that world [m]."""
    anchors: dict[str, Anchor]
    """By joint of the clip."""
    feet: dict[str, Foot]
    """By side."""
    turned: dict[str, FloatArray]
    """(3, 3) neutral rotations of the sites, in standing axes."""

    @staticmethod
    @lru_cache(maxsize=16)
    def of(figure: Figure, mapping: JointMap) -> Build:
        """Measure a figure in its neutral posture; nobody may change what this returns."""
        frames = figure.frames(figure.neutral())
        by_role = mapping.by_role()
        axes = _axes(figure, by_role)
        feet_sites = {s: by_role[f"{s}_ankle"].site for s in ("left", "right") if f"{s}_ankle" in by_role}
        soles = {side: _sole_points(figure, site) for side, site in feet_sites.items()}
        heights = [float((points @ axes[1]).min()) for points in soles.values()]
        ground = min(heights) if heights else 0.0
        anchors = {}
        for link in mapping.links:
            point = _joint_center(figure, link.site)
            offset = frames[link.site].inverse().apply(point)
            anchors[link.joint] = Anchor(link.site, offset, axes @ point - np.array([0.0, ground, 0.0]))
        turned = {link.site: axes @ frames[link.site].matrix[:3, :3] for link in mapping.links}
        feet = {
            side: _foot(figure, side, site, soles[side], axes, anchors[by_role[f"{side}_ankle"].joint].rest, ground)
            for side, site in feet_sites.items()
        }
        return Build(axes, ground, anchors, feet, turned)

    def world(self, points: FloatArray) -> FloatArray:
        """Points (…, 3) of standing axes in the world of the figure."""
        raised = points + np.array([0.0, self.ground, 0.0])
        out: FloatArray = raised @ self.axes
        return out


def _axes(figure: Figure, by_role: dict[str, Link]) -> FloatArray:
    """Left, up and forward of a figure, told by where its left and right parts are."""
    up = np.asarray(figure.up_vector, dtype=np.float64)
    for part in _PAIRS:
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
    """World place, at rest, of the joint that carries a body, or of a site on a body of another name."""
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
    """(k, 3) corners of a sole at rest, in the world: marked by sites named after the foot, else found by shape."""
    frames = figure.frames(figure.neutral())
    body = figure.sites[site].body if site in figure.sites.names else site
    marked = [s.name for s in figure.sites if s.name.startswith(f"{site}_") and s.body == body]
    if len(marked) >= 3:
        return np.array([frames[name].position for name in marked])
    return np.array([frames[site].apply(corner) for corner in sole_corners(figure, site)])


def _foot(  # noqa: PLR0917
    figure: Figure, side: str, site: str, sole: FloatArray, axes: FloatArray, ankle: FloatArray, ground: float
) -> Foot:
    frames = figure.frames(figure.neutral())
    points = sole @ axes.T - np.array([0.0, ground, 0.0])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    middle[1] = 0.0
    half = 0.5 * float(np.ptp(points[:, 2]))
    world = axes.T @ (middle + np.array([0.0, ground, 0.0]))
    rotation = frames[site].inverse().matrix[:3, :3] @ axes.T
    inverse = frames[site].inverse()
    tip = f"{side}_toes" if f"{side}_toes" in figure.sites.names else ""
    fore = np.array([0.0, 0.0, half])
    sole_pose = Pose(inverse.apply(world), _quaternion(rotation))
    tip_at = np.array((frames[site] @ sole_pose).inverse().apply(frames[tip].position)) if tip else np.zeros(3)
    return Foot(site, ankle - middle, -fore, fore, tip, tip_at, sole_pose, float(np.ptp(points[:, 0])))


def _quaternion(matrix: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(matrix).as_quat(), 1)
