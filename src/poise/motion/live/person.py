"""The person of a stream: frames of the stream as targets for a figure, by a calibration from a sample of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import clip_frames
from poise.motion.clip.clip import Clip, Source
from poise.motion.live.foot import FootFrame
from poise.motion.live.turning import Rotated
from poise.motion.mapping.mapping import JointMap, clip_roles
from poise.motion.retarget.build import Build
from poise.motion.retarget.calibration import (
    GROUND_PERCENTILE,
    Paths,
    Skeleton,
    pelvis_alignment,
    trunk_rotation,
)
from poise.motion.retarget.feet import smootherstep
from poise.motion.retarget.plan import (
    BACKWARD_FOOT_ANGLE,
    LEAST_HORIZONTAL_SHARE,
    MOST_FOOT_YAW,
    TURN_SLACK,
    USUAL_HIP_DIFFERENCE,
    Plan,
    clip_foot_path,
    toe_out,
)


class PersonFrame(NamedTuple):
    """A frame of the stream, on the scale of the figure and in standing axes."""

    places: Paths
    """(3,) target of each mapped joint but feet [m]."""
    trunk: Rotated | None
    """Rotation of the pelvis; None if it is not known."""
    feet: dict[str, FootFrame]
    """Feet by side."""
    hips: FloatArray
    """(3,) middle of the hips [m]."""
    heading: float
    """Heading of the pelvis about the vertical [rad]."""


class Person:
    """Turns postures of a person's skeleton into targets for a figure."""

    def __init__(self, sample: Clip, links: JointMap, build: Build) -> None:
        """Calibrate.

        Args:
            sample: Some of the stream, from which scale, ground, heading and the rest of the feet are estimated.
            links: Which joint drives which site of the figure.
            build: The figure's proportions.
        """
        self._links, self._build, skeleton = links, build, sample.figure
        source = Source(sample)
        plan = Plan.of(source, links, build)
        self.plan = plan
        self.leg, self.calibration = plan.calibration.leg, plan.calibration
        mapped = {role: link.joint for role, link in links.by_role().items()}
        self._mapped = mapped
        known = {role: found.part for role, found in clip_roles(sample).items()} if build.feet else {}
        self._roles = known | mapped
        self._joints = list(dict.fromkeys([*(link.joint for link in links.links), *self._roles.values()]))
        ride, rows = skeleton.compiled.attached, [skeleton.frame_row(name) for name in self._joints]
        self._ride = ride.node[rows], ride.position[rows], ride.rotation[rows]
        self._tree = skeleton.compiled.tree
        self._position, self._rotation = np.empty((1, len(rows), 3)), np.empty((1, len(rows), 4))
        paths = {joint: self.calibration.apply(source.path_of(joint)) for joint in self._joints}
        self._alignment = pelvis_alignment(source, self.calibration, paths, self._roles)
        self._pelvis = self._joints.index(self._roles["pelvis"]) if self._alignment is not None else -1
        self._toe_out, self._rest_pitch, self._low = self._rest_of_feet(plan, paths)
        self._outward = self._widening(paths)
        self._world = Rotated(self.calibration.turn)
        self._aligned = None if self._alignment is None else Rotated(self._alignment.as_matrix())
        self._way, self._turn, self._heading = np.zeros(3), Rotated(np.eye(3)), 0.0
        self._yaw = dict.fromkeys(build.feet, 0.0)

    def _rest_of_feet(self, plan: Plan, paths: Paths) -> tuple[dict[str, float], dict[str, float], float]:
        """Yaw and pitch of each foot at rest [rad], by side, and the height of toes on the ground [m]."""
        out, pitch = {}, {}
        for side in self._build.feet:
            out[side] = toe_out(side, paths, self._roles, plan.trunk)
            raw = clip_foot_path(side, paths, self._roles, plan.trunk, self._build, out[side])
            pitch[side] = float(np.median(raw.pitch - plan.clip_feet[side].pitch))
        toes = [paths[self._roles[f"{side}_toe"]][:, 1] for side in out if f"{side}_toe" in self._roles]
        low = float(np.percentile(np.min(toes, axis=0), GROUND_PERCENTILE)) if toes else 0.0
        return out, pitch, low

    def _widening(self, paths: Paths) -> tuple[float, float]:
        """How far each foot is moved to its side if the figure's hips are broader, and the breadth of its hips [m]."""
        left, right = self._mapped.get("left_hip"), self._mapped.get("right_hip")
        if left is None or right is None:
            return 0.0, 1.0
        rest = self._build.anchors[left].rest - self._build.anchors[right].rest
        breadth = float(np.hypot(rest[0], rest[2]))
        theirs = float(np.median(np.linalg.norm(paths[left] - paths[right], axis=1)))
        usual = USUAL_HIP_DIFFERENCE * float(self._build.anchors[left].rest[1])
        return 0.5 * max(0.0, breadth - usual - theirs), max(breadth, 1e-9)

    def see(self, q: FloatArray) -> PersonFrame:
        """The targets of a posture (nq,) of the person."""
        clip_frames(self._tree, q[None], *self._ride, self._position, self._rotation)
        at = self._turn.apply(self.calibration.apply(self._position[0])) + self._way
        paths = dict(zip(self._joints, at, strict=True))
        trunk = self._trunk(paths)
        skeleton = Skeleton(paths, self._mapped, self._build, trunk)
        if trunk is not None:
            x, _, z = trunk.matrix[:, 0].tolist()
            if math.hypot(x, z) > LEAST_HORIZONTAL_SHARE:
                self._heading = math.atan2(-z, x)
        feet = {side: self._foot(side, paths) for side in self._build.feet}
        return PersonFrame(skeleton.places(self._links), trunk, feet, skeleton.root, self._heading)

    def rejoin(self, q: FloatArray, before: PersonFrame) -> PersonFrame:
        """The targets of a posture, moved along the ground and turned so that the hips are where they were `before`."""
        now = self.see(q)
        turn = Rotated.by_yaw_and_pitch(before.heading - now.heading, 0.0)
        way = before.hips - turn.apply(now.hips)
        way[1] = 0.0
        self._turn, self._way = turn * self._turn, turn.apply(self._way) + way
        return self.see(q)

    def move(self, q: FloatArray, way: FloatArray) -> PersonFrame:
        """The targets of a posture, after the person has been moved along the ground (3,) [m]."""
        self._way = self._way + way * [1.0, 0.0, 1.0]
        return self.see(q)

    def _trunk(self, paths: Paths) -> Rotated | None:
        if self._aligned is None:
            rows = {joint: place[None] for joint, place in paths.items()}
            found = trunk_rotation(rows, self._roles)
            return None if found is None else Rotated(found.as_matrix()[0])
        own = Rotated.of_quaternion(self._rotation[0, self._pelvis])
        return self._turn * self._world * own * self._aligned

    def _foot(self, side: str, paths: Paths) -> FootFrame:
        """A foot as `clip_foot_path` has it, of one frame."""
        bare, toe, heading = paths[self._roles[f"{side}_ankle"]], self._roles.get(f"{side}_toe"), self._heading
        ankle = bare + self._outwards(side, paths)
        if toe is None:
            return FootFrame(ankle, ankle - [0.0, self._build.feet[side].ankle[1], 0.0], heading, 0.0)
        ball = paths[toe].copy()
        x, y, z = (ball - bare).tolist()
        ball[1] -= self._low
        level, out = math.hypot(x, z), math.remainder(math.atan2(x, z) - heading, 2.0 * math.pi)
        if level > LEAST_HORIZONTAL_SHARE * math.hypot(level, y) and abs(out) < BACKWARD_FOOT_ANGLE:
            right, left = self._build.feet[side].turns
            least, most = max(right - TURN_SLACK, -MOST_FOOT_YAW), min(left + TURN_SLACK, MOST_FOOT_YAW)
            self._yaw[side] = min(max(out - self._toe_out[side], least), most)
        yaw = heading + self._yaw[side]
        pitch = -math.atan2(y, max(x * math.sin(yaw) + z * math.cos(yaw), 0.1 * math.hypot(level, y)))
        return FootFrame(ankle, ball, yaw, pitch - self._rest_pitch[side])

    def _outwards(self, side: str, paths: Paths) -> FloatArray:
        """(3,) the way that a foot is moved to its side [m]."""
        shift, breadth = self._outward
        if shift == 0.0 or len(self._build.feet) < 2:
            return np.zeros(3)
        left = np.array([math.cos(self._heading), 0.0, -math.sin(self._heading)])
        apart = float((paths[self._roles["left_ankle"]] - paths[self._roles["right_ankle"]]) @ left)
        share = float(smootherstep(np.array(min(max(2.0 - apart / breadth, 0.0), 1.0))))
        return (shift if side == "left" else -shift) * share * left
