"""Plans the targets of every mapped part of a figure in every frame, before the motion is solved.

Directions of bones come from the clip and lengths from the figure: each target is at the end of a bone of the figure's
own length that points as the clip's bone does. So targets are out of reach only where joints cannot bend as the clip
does, not because limbs are shorter. Feet are planned apart: from the paths of ankles, yaw and pitch of the soles, and
contacts with the ground.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Clip, Source
from poise.motion.clip.contacts import BoolArray, Contacts, ContactSettings, find_contacts, segments
from poise.motion.mapping.mapping import JointMap, clip_roles
from poise.motion.retarget.build import Build
from poise.motion.retarget.calibration import (
    GROUND_PERCENTILE,
    Calibration,
    Paths,
    Roles,
    Skeleton,
    hip_center,
    pelvis_rotation,
    unit,
)
from poise.motion.retarget.feet import FootPath, frames_to_nearest, plan_foot, smootherstep
from poise.motion.retarget.feet_apart import sideways_shifts
from poise.motion.retarget.floor import Floor, levels

BODY_SHIFT_TIME = 0.2
"""Standard deviation in time of the Gaussian that smooths the shift of the body with its planted feet [s]."""
CUT_SPEED = 30.0
"""Speed of a joint from which two consecutive frames are a cut of the recording [leg lengths / s]."""
CUT_MARGIN_TIME = 0.5
"""Time before and after a cut in which contacts are not counted [s]."""
LEAST_HORIZONTAL_SHARE = 0.6
"""Least horizontal share of a unit vector, along a foot or across the pelvis, whose heading is reliable."""
BACKWARD_FOOT_ANGLE = np.radians(100.0)
"""Yaw of a foot against the pelvis beyond which the recording is wrong: feet do not point backwards [rad]."""
MOST_FOOT_YAW = np.radians(55.0)
"""Greatest yaw of a foot against the pelvis in the plan [rad]."""
TURN_SLACK = np.radians(10.0)
"""Angle by which a foot may exceed its leg's range against the clip's pelvis; the figure's pelvis gives way [rad]."""
SHORTEST_TURNING_CONTACT = 0.06
"""Least duration of the rest of a contact that is cut because the body turns too far [s]."""
TIPPED_FLAT_PITCH = np.radians(30.0)
"""Pitch beyond which a foot that was found flat stands on its ball or its heel alone [rad]."""
FLAT_PITCH = np.radians(4.0)
"""Pitch up to which a foot that was found on its ball or its heel alone stands flat [rad]."""
BENT_KNEE = np.radians(40.0)
"""Bend of a knee from which hip, knee and ankle show where the knee points [rad]."""
MOST_TOE_OUT = np.radians(20.0)
"""Greatest angle between the line to the toes and the direction of the knee that is taken for one of the recording's
markers and not of the person [rad]."""
LEAST_BENT_FRAMES = 10
"""Frames with a bent knee from which that angle can be estimated."""
USUAL_HIP_DIFFERENCE = 0.06
"""Difference in the distance of the hips that is usual among people, as a share of the hips' height."""
IMPLAUSIBLE_ANKLE_BEND = np.radians(50.0)
"""Bend of an ankle beyond its median from which the recording is wrong [rad]."""
REST_PITCH_TOLERANCE = np.radians(15.0)
"""Greatest difference between the pitch of flat feet in the clip and in the skeleton's neutral posture [rad].

A dancer who is always on tiptoe would otherwise count as flat.
"""
MOST_SHANK_TILT = {"heel": np.radians(60.0), "ball": np.radians(80.0)}
"""Greatest angle of a shank from the vertical at which the heel or the ball of its foot carries weight [rad]: feet of
somebody who lies on the ground do not stand, however low and still they are."""
APART_ROUNDS = 3
"""Largest number of rounds of moving footprints apart: moving two may bring others together."""
LEAST_FLAT_FRAMES = 5
"""Frames of flat stance from which the pitch of a flat foot can be estimated."""


@dataclass(frozen=True)
class Plan:
    """Targets for a figure over a clip, in standing axes."""

    build: Build
    calibration: Calibration
    places: Paths
    """(frames, 3) target of each mapped joint of the clip except feet, shifted with the planted feet [m]."""
    trunk: Rotation | None
    """Rotation of the pelvis in every frame; None if the clip's skeleton has no pelvis and pair of joints."""
    feet: dict[str, FootPath]
    """Planned paths of the feet, by side."""
    contacts: Contacts
    clip_feet: dict[str, FootPath]
    """Paths of the feet as in the clip, by side; their `place` is that of the ankle."""
    unshifted_places: Paths
    """(frames, 3) target of each mapped joint before the shift with the planted feet [m]."""
    rate: float
    """Frames per second at which the clip was recorded."""
    under: dict[str, FloatArray]
    """(frames,) height of the floor under each foot of the clip, by side [m]."""
    levels: dict[str, FloatArray] = field(default_factory=dict)
    """(frames,) height from which the height of each foot counts, by side [m] (see `floor.levels`)."""

    @staticmethod
    def of(
        source: Source,
        mapping: JointMap,
        build: Build,
        contacts: Contacts | None = None,
        settings: ContactSettings | None = None,
        *,
        stride: float = 1.0,
        tempo: float = 1.0,
        floor: Floor | None = None,
    ) -> Plan:
        """Plan a whole clip.

        Args:
            source: The clip.
            mapping: Which joint of the clip drives which site.
            build: The figure's proportions.
            contacts: When feet stand; None to detect it.
            settings: Thresholds of the detection.
            stride: Factor on the scale, below 1 for steps shorter than the ratio of the legs.
            tempo: Playback speed as a share of the recorded speed.
            floor: The floor; None for a flat one.
        """
        rate = source.clip.rate / tempo
        links = {role: link.joint for role, link in mapping.by_role().items()}
        known = {role: found.part for role, found in clip_roles(source.clip).items()} if build.feet else {}
        roles = known | links
        # Only the steps of a figure whose hips are mapped are made shorter; its body stays at the height of its legs.
        keeps_height = stride < 1.0 and "left_hip" in links and "right_hip" in links
        calibration = Calibration.of(source, roles, build, 1.0 if keeps_height else stride)
        paths = {joint: calibration.apply(source.path_of(joint)) for joint in _joints_needed(mapping, roles)}
        if keeps_height:
            paths = _with_stride(paths, roles, stride)
        trunk = pelvis_rotation(source, calibration, paths, roles)
        places = Skeleton(paths, links, build, trunk).places(mapping)
        raw_feet = {
            side: clip_foot_path(side, paths, roles, trunk, build, toe_out(side, paths, roles, trunk))
            for side in build.feet
        }
        under = {side: _floor_under(side, path, paths, roles, build, floor) for side, path in raw_feet.items()}
        found = contacts or detect_contacts(raw_feet, paths, roles, build, (calibration.leg, rate), settings, under)
        clip_feet = without_rest_pitch(raw_feet, found, source, roles)
        found = rigid_foot_contacts(found if contacts else reassign_tipped_contacts(found, clip_feet), build)
        if not contacts:
            found = without_turned_feet(found, clip_feet, heading_of(trunk, len(source.clip)), build, rate)
        return Plan(build, calibration, {}, trunk, {}, found, clip_feet, places, rate, under).with_contacts(found)

    def with_contacts(self, contacts: Contacts) -> Plan:
        """This plan with other contacts."""
        rise = {side: levels(self.under[side], contacts.standing(side), self.rate) for side in self.under}
        on_floor, clip_feet = replace(self, levels=rise), self.clip_feet
        feet = on_floor._planned_feet(clip_feet, contacts)
        for _ in range(APART_ROUNDS):
            shifts = sideways_shifts(self.build.feet, feet, contacts)
            if shifts is None:
                break
            clip_feet = {side: path._replace(place=path.place + shifts[side]) for side, path in clip_feet.items()}
            feet = on_floor._planned_feet(clip_feet, contacts)
        shift = self._body_shift(feet, clip_feet, contacts)
        places = {joint: path + shift for joint, path in self.unshifted_places.items()}
        return replace(on_floor, feet=feet, places=places, contacts=contacts)

    def _planned_feet(self, clip_feet: dict[str, FootPath], contacts: Contacts) -> dict[str, FootPath]:
        """Paths of the soles after those of the ankles, by side."""
        out = {}
        for side, foot in self.build.feet.items():
            rise, free = raised(self.levels[side]), clip_feet[side]
            path = plan_foot(
                foot,
                free._replace(place=free.place - rise),
                contacts.heel[side],
                contacts.ball[side],
                self.rate,
                self.calibration.leg,
            )
            out[side] = path._replace(place=path.place + rise)
        return out

    def away_from_cuts(self) -> BoolArray:
        """(frames,) whether a frame is away from cuts, where the recording jumps faster than a body can move."""
        paths = [*self.unshifted_places.values(), *(foot.place for foot in self.clip_feet.values())]
        steps = np.max([np.linalg.norm(np.diff(path, axis=0), axis=1) for path in paths], axis=0)
        cut = np.zeros(len(paths[0]), dtype=np.bool_)
        cut[1:] = steps * self.rate > CUT_SPEED * self.calibration.leg
        out: BoolArray = frames_to_nearest(cut) > CUT_MARGIN_TIME * self.rate
        return out

    def _body_shift(self, feet: dict[str, FootPath], clip_feet: dict[str, FootPath], contacts: Contacts) -> FloatArray:
        """(frames, 3) shift of the body [m]: the mean shift of the ankles by planting, smoothed over time."""
        moved, count = np.zeros((1, 3)), np.full((1, 1), 1e-9)
        for side, path in feet.items():
            stands = contacts.standing(side)[:, None].astype(np.float64)
            ankle = path.place + path.turn.apply(self.build.feet[side].ankle)
            moved, count = moved + stands * (ankle - clip_feet[side].place), count + stands
        soft = max(BODY_SHIFT_TIME * self.rate, 0.3)
        if len(count) == 1 or not (count > 0.5).any():
            return np.zeros((1, 3))
        spread = gaussian_filter1d(np.hstack([moved, count]), soft, axis=0, mode="nearest", truncate=8.0)
        shift: FloatArray = spread[:, :3] / np.maximum(spread[:, 3:], 1e-9)
        return shift


def _with_stride(paths: Paths, roles: Roles, stride: float) -> Paths:
    """The paths with the way along the ground, and the places of the feet on it, `stride` times as long."""
    level = np.array([1.0, 0.0, 1.0])
    root = hip_center(paths, roles)
    shift = (stride - 1.0) * (root - root.mean(axis=0)) * level
    out = {joint: path + shift for joint, path in paths.items()}
    for side in ("left", "right"):
        ankle = roles.get(f"{side}_ankle")
        if ankle is None:
            continue
        step = (stride - 1.0) * (paths[ankle] - root) * level
        for part in ("ankle", "toe"):
            joint = roles.get(f"{side}_{part}")
            if joint is not None:
                out[joint] = out[joint] + step
    return out


def _joints_needed(mapping: JointMap, roles: Roles) -> list[str]:
    """Joints of the clip that are mapped or have a role, in an order that is the same in every process."""
    return list(dict.fromkeys([*(link.joint for link in mapping.links), *roles.values()]))


def heading_of(trunk: Rotation | None, count: int) -> FloatArray:
    """(frames,) heading of the pelvis about y, by its left axis, which stays level when the body bends [rad]."""
    if trunk is None:
        return np.zeros(count)
    left = trunk.apply([1.0, 0.0, 0.0])
    return _interpolated_angle(
        np.arctan2(-left[:, 2], left[:, 0]), np.hypot(left[:, 0], left[:, 2]) > LEAST_HORIZONTAL_SHARE
    )


def clip_foot_path(  # noqa: PLR0917
    side: str, paths: Paths, roles: Roles, trunk: Rotation | None, build: Build, out_by: float
) -> FootPath:
    """The clip's path of a foot: its ankle, with yaw and pitch of the line to its toes, or with the pelvis' heading.

    The yaw is that of the line to its toes less `out_by` (see `toe_out`).
    """
    ankle = paths[roles[f"{side}_ankle"]]
    heading = heading_of(trunk, len(ankle))
    place = _moved_outwards(side, ankle, roles, paths, build, heading)
    toe = roles.get(f"{side}_toe")
    if toe is None:
        still = np.zeros(len(ankle))
        return FootPath(place, heading, still, still, _sole_rotation(heading, still))
    ahead = unit(paths[toe] - ankle)
    plausible = _plausible_ankle(side, paths, roles)
    out, reliable = _yaw_of_toes(ahead, heading, plausible)
    out = out - out_by
    right, left = build.feet[side].turns
    least, most = max(right - TURN_SLACK, -MOST_FOOT_YAW), min(left + TURN_SLACK, MOST_FOOT_YAW)
    yaw = heading + np.clip(_interpolated_angle(out, reliable), least, most)
    pitch = -np.arctan2(ahead[:, 1], np.maximum(ahead[:, 0] * np.sin(yaw) + ahead[:, 2] * np.cos(yaw), 0.1))
    pitch = _interpolated_angle(pitch, plausible)
    return FootPath(place, yaw, pitch, np.zeros(len(ankle)), _sole_rotation(yaw, pitch))


def _yaw_of_toes(ahead: FloatArray, heading: FloatArray, plausible: BoolArray) -> tuple[FloatArray, BoolArray]:
    """(frames,) yaw of the line to the toes (frames, 3) against the pelvis [rad], and whether it is reliable."""
    out = np.angle(np.exp(1j * (np.arctan2(ahead[:, 0], ahead[:, 2]) - heading)))
    level = np.hypot(ahead[:, 0], ahead[:, 2]) > LEAST_HORIZONTAL_SHARE
    return out, level & (np.abs(out) < BACKWARD_FOOT_ANGLE) & plausible


def toe_out(side: str, paths: Paths, roles: Roles, trunk: Rotation | None) -> float:
    """Median yaw of the line from ankle to toes against the direction in which the bent knee points [rad]."""
    ankle, toe = roles[f"{side}_ankle"], roles.get(f"{side}_toe")
    if toe is None:
        return 0.0
    heading = heading_of(trunk, len(paths[ankle]))
    ahead = unit(paths[toe] - paths[ankle])
    return _toe_out(side, paths, roles, _yaw_of_toes(ahead, heading, _plausible_ankle(side, paths, roles))[1])


def _toe_out(side: str, paths: Paths, roles: Roles, reliable: BoolArray) -> float:
    """Median yaw of the line from ankle to toes against the direction in which the bent knee points [rad].

    The line between two markers of a foot is not its axis. An ankle cannot turn the foot about the shank, so a foot
    that points elsewhere than its knee would turn the whole leg, and a crouching figure would part its knees.
    """
    hip, knee, ankle, toe = (roles.get(f"{side}_{part}") for part in ("hip", "knee", "ankle", "toe"))
    if hip is None or knee is None or ankle is None or toe is None:
        return 0.0
    shank, thigh = unit(paths[knee] - paths[ankle]), unit(paths[hip] - paths[knee])
    cosine = np.sum(shank * thigh, axis=1, keepdims=True)
    ahead = cosine * shank - thigh
    across = np.cross(ahead, paths[toe] - paths[ankle])
    along = np.sum(ahead * (paths[toe] - paths[ankle]), axis=1)
    counted = reliable & (cosine[:, 0] < np.cos(BENT_KNEE))
    if int(counted.sum()) < LEAST_BENT_FRAMES:
        return 0.0
    yaw = np.arctan2(np.sum(across * shank, axis=1), along)[counted]
    return float(np.clip(np.median(yaw), -MOST_TOE_OUT, MOST_TOE_OUT))


def _plausible_ankle(side: str, paths: Paths, roles: Roles) -> BoolArray:
    """(frames,) whether the angle between foot and shank is plausible; recordings with lost markers flip feet over."""
    knee, ankle, toe = (roles.get(f"{side}_{part}") for part in ("knee", "ankle", "toe"))
    if knee is None or ankle is None or toe is None:
        return np.ones(len(next(iter(paths.values()))), dtype=np.bool_)
    ahead, shank = unit(paths[toe] - paths[ankle]), unit(paths[ankle] - paths[knee])
    bend = np.arccos(np.clip(np.sum(ahead * shank, axis=1), -1.0, 1.0))
    plausible: BoolArray = bend <= np.median(bend) + IMPLAUSIBLE_ANKLE_BEND
    return plausible


def _sole_rotation(yaw: FloatArray, pitch: FloatArray) -> Rotation:
    return Rotation.from_euler("YX", np.stack([yaw, pitch], axis=1))


def _interpolated_angle(angle: FloatArray, reliable: BoolArray) -> FloatArray:
    """(frames,) the unwrapped angle, interpolated over frames that are not reliable."""
    if not reliable.any():
        return np.unwrap(angle)
    frames = np.arange(len(angle))
    steady: FloatArray = np.interp(frames, frames[reliable], np.unwrap(angle[reliable]))
    return steady


def _moved_outwards(  # noqa: PLR0917
    side: str, ankle: FloatArray, roles: Roles, paths: Paths, build: Build, heading: FloatArray
) -> FloatArray:
    """(frames, 3) the ankle, moved to its side if the figure's hips are wider apart than the clip's.

    Otherwise the legs of a broad robot would cross. Feet that are wider apart than the hips are moved less. Without
    hips, the distance of the feet counts. Small differences are those of people, and are left as they are.
    """
    pair = "hip" if all(roles.get(f"{s}_hip") in build.anchors for s in ("left", "right")) else "ankle"
    left, right = roles.get(f"left_{pair}"), roles.get(f"right_{pair}")
    if left not in build.anchors or right not in build.anchors:
        return ankle
    across, rest = paths[left] - paths[right], build.anchors[left].rest - build.anchors[right].rest
    if pair == "hip":
        theirs, ours = float(np.median(np.linalg.norm(across, axis=1))), float(np.hypot(rest[0], rest[2]))
        ours -= USUAL_HIP_DIFFERENCE * float(build.anchors[left].rest[1])
        to_left = np.stack([np.cos(heading), np.zeros(len(heading)), -np.sin(heading)], axis=1)
        feet = [paths[roles[role]] for role in ("left_ankle", "right_ankle") if role in roles]
        apart = np.sum((feet[0] - feet[-1]) * to_left, axis=1)
        to_left *= smootherstep(np.clip(2.0 - apart / max(float(np.hypot(rest[0], rest[2])), 1e-9), 0.0, 1.0))[:, None]
    else:
        theirs, ours = float(np.median(np.abs(across[:, 0]))), abs(float(rest[0]))
        to_left = np.array([[1.0, 0.0, 0.0]])
    shift = 0.5 * max(0.0, ours - theirs) * (1.0 if side == "left" else -1.0)
    moved: FloatArray = ankle + shift * to_left
    return moved


def detect_contacts(  # noqa: PLR0917
    free: dict[str, FootPath],
    paths: Paths,
    roles: Roles,
    build: Build,
    size: tuple[float, float],
    settings: ContactSettings | None,
    under: dict[str, FloatArray],
) -> Contacts:
    """Contacts of heels and balls by the heights and speeds of ankles and toes.

    There is none where an ankle is implausible, or where the shank is too far from upright for the foot to stand.

    Args:
        free: The clip's paths of the feet, by side.
        paths: (frames, 3) paths of the clip's joints in standing axes [m].
        roles: Joints of the clip by role.
        build: The figure's proportions.
        size: Length of a leg [m], and frames per second.
        settings: Thresholds; the default ones if None.
        under: (frames,) height of the floor under each foot, by side [m].
    """
    heels = {
        side: path.place - np.array([0.0, build.feet[side].ankle[1], 0.0]) - raised(under[side])
        for side, path in free.items()
    }
    toes = {side: paths[roles[f"{side}_toe"]] - raised(under[side]) for side in free if f"{side}_toe" in roles}
    low = float(np.percentile(np.min([t[:, 1] for t in toes.values()], axis=0), GROUND_PERCENTILE)) if toes else 0.0
    balls = {side: toes[side] - np.array([0.0, low, 0.0]) if side in toes else heels[side] for side in free}
    found = find_contacts(heels, balls, *size, settings)
    for side in free:
        tilt, plausible = _shank_tilt(side, paths, roles), _plausible_ankle(side, paths, roles)
        found.heel[side][~plausible | (tilt > MOST_SHANK_TILT["heel"])] = False
        found.ball[side][~plausible | (tilt > MOST_SHANK_TILT["ball"])] = False
    return found


def raised(height: FloatArray) -> FloatArray:
    """(frames, 3) a height (frames,) as a vector, up."""
    out = np.zeros((len(height), 3))
    out[:, 1] = height
    return out


def _floor_under(  # noqa: PLR0917
    side: str, path: FootPath, paths: Paths, roles: Roles, build: Build, floor: Floor | None
) -> FloatArray:
    """(frames,) height of the floor under the middle between ankle and toes of the clip's foot [m]."""
    if floor is None:
        return np.zeros(len(path.place))
    toe = roles.get(f"{side}_toe")
    return floor.under(build, path.place if toe is None else 0.5 * (path.place + paths[toe]))


def _shank_tilt(side: str, paths: Paths, roles: Roles) -> FloatArray:
    """(frames,) angle of a shank from the vertical; zero without a knee [rad]."""
    knee, ankle = roles.get(f"{side}_knee"), roles[f"{side}_ankle"]
    if knee is None:
        return np.zeros(len(paths[ankle]))
    tilt: FloatArray = np.arccos(np.clip(unit(paths[knee] - paths[ankle])[:, 1], -1.0, 1.0))
    return tilt


def reassign_tipped_contacts(contacts: Contacts, paths: dict[str, FootPath]) -> Contacts:
    """The contacts, with every pitched foot on its lower end alone: the ball if the heel is up, else the heel.

    Of feet that were found on their ball or heel alone the pitch decides in every frame, so that a foot that goes from
    one to the other passes through flat. Flat feet are reassigned only if they are tipped for most of a stance.
    """
    heel, ball = {k: v.copy() for k, v in contacts.heel.items()}, {k: v.copy() for k, v in contacts.ball.items()}
    for side, path in paths.items():
        part = heel[side] ^ ball[side]
        for first, last in segments(heel[side] & ball[side]):
            pitch = float(np.median(path.pitch[first:last]))
            if abs(pitch) > TIPPED_FLAT_PITCH:
                heel[side][first:last], ball[side][first:last] = pitch < 0.0, pitch > 0.0
        heel[side][part] = path.pitch[part] < FLAT_PITCH
        ball[side][part] = path.pitch[part] > -FLAT_PITCH
    return Contacts(heel, ball)


def without_turned_feet(
    contacts: Contacts, paths: dict[str, FootPath], heading: FloatArray, build: Build, rate: float
) -> Contacts:
    """The contacts, without the frames in which the pelvis has turned farther from a standing foot than its leg can.

    People turn on a foot; a robot whose legs cannot has to lift it.
    """
    lost = {}
    for side, path in paths.items():
        right, left = build.feet[side].turns
        if right - TURN_SLACK <= -MOST_FOOT_YAW and left + TURN_SLACK >= MOST_FOOT_YAW:
            continue
        lost[side] = np.zeros(len(heading), dtype=np.bool_)
        for first, last in segments(contacts.standing(side)):
            turned = np.mean(path.yaw[first:last]) - heading[first:last]
            lost[side][first:last] = (turned < right - TURN_SLACK) | (turned > left + TURN_SLACK)
    return contacts.without(lost, SHORTEST_TURNING_CONTACT * rate) if lost else contacts


def rigid_foot_contacts(contacts: Contacts, build: Build) -> Contacts:
    """The contacts, with heel and ball of a foot that has no toes, and cannot roll, always in contact together."""
    heel, ball = dict(contacts.heel), dict(contacts.ball)
    for side, foot in build.feet.items():
        if not foot.tip:
            heel[side] = ball[side] = contacts.standing(side)
    return Contacts(heel, ball)


def _resting_pitch(path: FootPath, flat: BoolArray) -> float:
    """Median pitch of the line from ankle to toes in flat stance, or of a low foot if it is not flat for long [rad]."""
    low = path.place[:, 1] <= np.percentile(path.place[:, 1], GROUND_PERCENTILE)
    return float(np.median(path.pitch[flat if int(flat.sum()) >= LEAST_FLAT_FRAMES else low]))


def _neutral_pitch(source: Source, roles: Roles) -> float:
    """Mean pitch of the line from ankle to toes in the skeleton's neutral posture [rad]."""
    skeleton = source.clip.figure
    neutral = skeleton.neutral()
    frames = skeleton.frames(neutral)
    # The neutral posture may have another up axis than the motion.
    up = Source(Clip(skeleton, neutral.q[None], 1.0)).up(roles)
    pairs = [(roles[f"{s}_ankle"], roles[f"{s}_toe"]) for s in ("left", "right") if f"{s}_toe" in roles]
    lines = [frames[toe].position - frames[ankle].position for ankle, toe in pairs if ankle in frames and toe in frames]
    sines = [float(line @ up) / max(float(np.linalg.norm(line)), 1e-9) for line in lines]
    return float(-np.arcsin(np.clip(np.mean(sines), -1.0, 1.0))) if sines else 0.0


def without_rest_pitch(
    free: dict[str, FootPath], contacts: Contacts, source: Source, roles: Roles
) -> dict[str, FootPath]:
    """The paths with the pitch of each foot when it is flat subtracted, so that a flat foot has pitch 0."""
    neutral = _neutral_pitch(source, roles)
    out = {}
    for side, path in free.items():
        rest = _resting_pitch(path, contacts.flat(side))
        pitch = path.pitch - np.clip(rest, neutral - REST_PITCH_TOLERANCE, neutral + REST_PITCH_TOLERANCE)
        out[side] = path._replace(pitch=pitch, turn=_sole_rotation(path.yaw, pitch))
    return out
