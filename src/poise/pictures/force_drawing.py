"""Draws the forces of a scene over a picture: arrows of loads, weight and ground, and arcs of joint torques."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Color
from poise.forces.acting import acting_on
from poise.forces.equilibrium import support_forces
from poise.forces.loads import Load
from poise.forces.reactions import find_reactions
from poise.forces.torques import joint_torques
from poise.pictures.bones import joint_places
from poise.pictures.camera import Camera
from poise.pictures.canvas import color_bytes
from poise.pictures.force_marks import (
    ARC_RADIUS,
    Arc,
    Arrow,
    GroundForce,
    JointAnchor,
    arrow_scales,
    ground_forces,
    load_arrows,
    longest_arc_torque,
    torque_arcs,
)
from poise.pictures.marks import screen_point
from poise.pictures.pillow import Image, ImageDraw
from poise.pictures.theme import Theme
from poise.tasks.equilibrium import finds_reactions

NEGLIGIBLE_REST = 1e-6
"""Share of the load that the ground may leave unbalanced, on the edge of what it can balance."""
SHORTEST_DRAWN_ARC = 0.15
"""Angle up to which an arc is too short to be seen in a picture [rad]."""
ARC_POINTS = 32
"""Points of the line that an arc is drawn with."""
LINE_WIDTH = 0.006
"""Width of arrows and arcs, as a share of the picture."""
HEAD_LENGTH = 3.2
"""Length of an arrowhead, in widths of its line."""
Spot = tuple[float, float]


@dataclass
class ForceMarks:
    """World points of the forces to draw over a picture [m]."""

    arrows: list[Arrow] = field(default_factory=list)
    weight: FloatArray | None = None
    """(2, 3) the centre of mass and the tip of the arrow of the weight."""
    arcs: list[Arc] = field(default_factory=list)
    holds: bool = True
    """Whether the ground can hold the figure."""

    def points(self) -> FloatArray:
        """(k, 3) world points that a picture must show."""
        lines = [np.stack([arrow.tail, arrow.tip]) for arrow in self.arrows]
        lines += [] if self.weight is None else [self.weight]
        return np.concatenate([np.empty((0, 3)), *lines, *(arc_line(arc) for arc in self.arcs)])


def force_marks(posture: Posture, loads: Sequence[Load], extent: float, *, torques: bool | float) -> ForceMarks:
    """The marks of loads on a figure.

    Args:
        posture: The posture.
        loads: The loads.
        extent: Size of the figure [m].
        torques: Whether to mark joint torques, or the torque that is drawn as the longest arc [N m].
    """
    figure, marks = posture.figure, ForceMarks()
    if figure.mass == 0.0 or not (loads or torques):
        return marks
    acting = acting_on(figure, loads)
    found = find_reactions(figure, posture, loads) if finds_reactions(acting) else None
    marks.holds = found is None or found.rest <= NEGLIGIBLE_REST
    ground = _shared(posture, loads) if found is None else ground_forces(found)
    marks.arrows = list(load_arrows(posture, loads, ground, extent))
    center, newton = figure.center_of_mass(posture), arrow_scales(figure, extent)[0]
    marks.weight = np.stack([center, center + newton * acting.weight])
    if torques:
        torque, anchors = joint_torques(figure, posture, loads, reactions=found), joint_anchors(posture)
        longest = longest_arc_torque(figure, extent) if torques is True else float(torques)
        arcs = torque_arcs(posture, torque, anchors, radius=ARC_RADIUS * extent, longest=longest)
        marks.arcs = [arc for arc in arcs if arc.angle > SHORTEST_DRAWN_ARC]
    return marks


def _shared(posture: Posture, loads: Sequence[Load]) -> dict[str, GroundForce]:
    """Forces on supports that carry shares, by site."""
    carried = support_forces(posture.figure, posture, loads)
    return {site: GroundForce(posture.figure.pose_of(site, posture).position, f) for site, f in carried.items()}


def joint_anchors(posture: Posture) -> list[JointAnchor]:
    """The joints that move a limb, all but fixed and free ones."""
    figure, found = posture.figure, []
    for place in joint_places(figure, figure.frames(posture)):
        if place.joint.kind in ("fixed", "free"):
            continue
        limb = place.on_child.matrix @ (
            place.joint.child_frame.inverse().apply(figure.bodies[place.joint.child].mass.center)
        )
        size = float(np.linalg.norm(limb))
        center = place.on_child.position
        found.append(JointAnchor(place.joint, center, limb / size if size > 1e-9 else figure.up_vector))
    return found


def arc_line(arc: Arc) -> FloatArray:
    """(k, 3) points along an arc [m]."""
    angles = np.linspace(0.0, arc.angle, ARC_POINTS)[:, None]
    side = np.cross(arc.axis, arc.start)
    return np.asarray(arc.center + arc.radius * (np.cos(angles) * arc.start + np.sin(angles) * side))


def draw_forces(image: Image.Image, marks: ForceMarks, camera: Camera, theme: Theme) -> None:
    """Draw arcs, then arrows: torques that a joint has no strength for and ground that gives way are red."""
    pen = ImageDraw.Draw(image)
    for arc in marks.arcs:
        color = theme.gap if arc.used > 1.0 else theme.loop
        _line(pen, [screen_point(camera, point) for point in arc_line(arc)], color, camera, theme)
    ground = theme.target if marks.holds else theme.gap
    colors = {"force": theme.active, "torque": theme.loop, "ground": ground}
    lines = [(np.stack([arrow.tail, arrow.tip]), colors[arrow.kind]) for arrow in marks.arrows]
    if marks.weight is not None:
        lines.append((marks.weight, theme.balance))
    for line, color in lines:
        _line(pen, [screen_point(camera, point) for point in line], color, camera, theme)


def _line(pen: ImageDraw.ImageDraw, spots: list[Spot], color: Color, camera: Camera, theme: Theme) -> None:
    """Draw a line with an arrowhead at its end, with a border that is visible on any background."""
    width = LINE_WIDTH * min(camera.size)
    shaft, head = _with_head(spots, HEAD_LENGTH * width)
    for ink, border in ((theme.ring, 0.5 * width), (color, 0.0)):
        if len(shaft) > 1:
            pen.line(shaft, fill=color_bytes(ink), width=round(width + 2.0 * border), joint="curve")
        pen.polygon(_grown(head, border), fill=color_bytes(ink))


def _with_head(spots: list[Spot], length: float) -> tuple[list[Spot], list[Spot]]:
    """A line up to the head of its arrow, and the three corners of the head, which is at most half the line long."""
    points = np.array(spots)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    total = float(steps.sum())
    far = np.concatenate([[0.0], np.cumsum(steps)])
    neck = max(0.5 * total, total - length)
    at = np.array([np.interp(neck, far, points[:, k]) for k in range(2)])
    along = points[-1] - at
    size = float(np.linalg.norm(along))
    if size < 1e-9:
        return spots, [spots[-1]] * 3
    across = 0.5 * np.array([-along[1], along[0]])
    shaft = [spot for spot, s in zip(spots, far, strict=True) if s < neck]
    corners = [tuple(p) for p in (points[-1], at + across, at - across)]
    return [*shaft, tuple((at + 0.2 * along).tolist())], corners


def _grown(corners: list[Spot], by: float) -> list[Spot]:
    """Corners of a polygon moved away from its middle [pixels]."""
    middle = np.mean(corners, axis=0)
    grown = []
    for corner in corners:
        x, y = np.array(corner) - middle
        size = math.hypot(x, y)
        factor = 1.0 + 2.0 * by / size if size > 1e-9 else 1.0
        grown.append((middle[0] + factor * x, middle[1] + factor * y))
    return grown
