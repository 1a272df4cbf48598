"""Where every mapped part of a figure should be in every frame, before anything is solved.

Directions come from the clip and lengths from the figure: each point stands at the end of a bone of the figure's own
length that points as the clip's does. So only what the figure cannot bend to gives way, not what is longer or shorter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.pose import FloatArray
from poise.motion.build import Build
from poise.motion.calibration import BENT, LOW, Calibration, middle
from poise.motion.clip import Clip
from poise.motion.contacts import BoolArray, Contacts, ContactSettings, find_contacts, segments
from poise.motion.feet import FootPath, plan_foot
from poise.motion.mapping import JointMap, clip_roles
from poise.motion.source import Source

PARENTS = {"knee": "hip", "elbow": "shoulder", "wrist": "elbow", "fingers": "wrist", "head": "neck"}
TELLING = 0.6
"""How level a foot must be for its direction to be told."""
TURNED_OUT, MOST_TURNED_OUT = np.radians(100.0), np.radians(55.0)
"""Angle between foot and trunk beyond which the clip's foot points backwards, and the most that is asked for."""
ASTRAY = np.radians(35.0)
"""How far a pelvis may be from the trunk above it, on average, to be believed."""
TIPPED, BELIED = np.radians(30.0), np.radians(12.0)
"""Pitch at which a flat foot stands on its ball or its heel alone, and at which one that does stands on the other."""
BROKEN = np.radians(50.0)
"""Bend of an ankle beyond its usual one that no foot has."""
MISDRAWN = np.radians(15.0)
"""How far a level foot may be from how the skeleton's foot was drawn: dancers on their toes are flat for nobody."""
ENOUGH = 5
"""Frames of flat stance that tell what flat is."""
Paths = dict[str, FloatArray]
Roles = dict[str, str]


@dataclass(frozen=True)
class Plan:
    """Targets for a figure over a clip, in its standing axes."""

    build: Build
    calibration: Calibration
    places: Paths
    """(frames, 3) target of each mapped joint of the clip, feet aside [m]."""
    trunk: Rotation | None
    """How the pelvis is turned; None where the clip does not say."""
    feet: dict[str, FootPath]
    """By side."""
    contacts: Contacts
    loose: dict[str, FootPath]
    """Feet as the clip has them: places of ankles, and directions."""
    rate: float
    """Frames per second of the clip as it was recorded."""

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
    ) -> Plan:
        """Plan a whole clip.

        Args:
            source: The clip.
            mapping: Which joint leads what.
            build: The figure's proportions.
            contacts: When feet stand, if that is known.
            settings: Thresholds to find it out.
            stride: Share of the scale, for steps that are shorter than legs tell.
            tempo: How fast the clip is played, as a share of how fast it was recorded.
        """
        rate = source.clip.rate / tempo
        links = {role: link.joint for role, link in mapping.by_role().items()}
        roles = clip_roles(source.clip)[0] | links
        calibration = Calibration.of(source, roles, build, stride)
        paths = {joint: calibration.apply(source.at(joint)) for joint in _joints(mapping, roles)}
        trunk = _pelvis(source, calibration, paths, roles)
        places = _Skeleton(paths, links, build, trunk).places(mapping)
        free = {side: _free_path(side, paths, roles, trunk, build) for side in build.feet}
        found = contacts or _contacts(free, paths, roles, build, (calibration.leg, rate), settings)
        drawn = _drawn_pitch(source, roles)
        rest = float(np.clip(_resting_pitch(free, found), drawn - MISDRAWN, drawn + MISDRAWN))
        loose = {side: _levelled(path, rest) for side, path in free.items()}
        found = _whole(found if contacts else _on_what_is_low(found, loose), build)
        return Plan(build, calibration, places, trunk, {}, found, loose, rate).standing_on(found)

    def standing_on(self, contacts: Contacts) -> Plan:
        """The same plan with feet that stand at other times."""
        feet = {
            side: plan_foot(
                foot, self.loose[side], contacts.heel[side], contacts.ball[side], self.rate, self.calibration.leg
            )
            for side, foot in self.build.feet.items()
        }
        return replace(self, feet=feet, contacts=contacts)


def _joints(mapping: JointMap, roles: Roles) -> set[str]:
    return {link.joint for link in mapping.links} | set(roles.values())


class _Skeleton:
    """The clip's pose on the figure's bones."""

    def __init__(self, paths: Paths, roles: Roles, build: Build, trunk: Rotation | None) -> None:
        self.paths, self.roles, self.trunk = paths, roles, trunk
        self.rest = {joint: anchor.rest for joint, anchor in build.anchors.items()}
        self.root = middle(paths, roles)
        self.root_rest = middle({joint: rest[None] for joint, rest in self.rest.items()}, roles)[0]
        self.found: Paths = {}

    def places(self, mapping: JointMap) -> Paths:
        """Targets by joint."""
        return {link.joint: self.place(link.role, link.joint) + np.asarray(link.offset) for link in mapping.links}

    def place(self, role: str, joint: str) -> FloatArray:
        """(frames, 3) target of one joint."""
        if joint not in self.found:
            self.found[joint] = self._place(role, joint)
        return self.found[joint]

    def _place(self, role: str, joint: str) -> FloatArray:
        side, _, part = role.rpartition("_")
        if part == "pelvis" and "left_hip" not in self.roles:
            return self._upright(joint)
        if part in {"pelvis", "hip"} and self.trunk is not None:
            return self.root + self.trunk.apply(self.rest[joint] - self.root_rest)
        if part == "shoulder" and self._pair("shoulder"):
            return self._shoulder(side, joint)
        if part == "neck" and "pelvis" in self.roles:
            return self.root + self._along(self.root, joint, self.rest[joint] - self.root_rest)
        parent = PARENTS.get(part, "")
        above = f"{side}_{parent}" if side and parent else parent
        if above in self.roles:
            start = self.roles[above]
            return self.place(above, start) + self._along(self.paths[start], joint, self.rest[joint] - self.rest[start])
        return self.paths[joint]

    def _upright(self, joint: str) -> FloatArray:
        """As high as the figure stands, on average: a machine without hips has no bones to tell how high that is."""
        path = self.paths[joint].copy()
        path[:, 1] += BENT * self.rest[joint][1] - float(np.median(path[:, 1]))
        return path

    def _along(self, start: FloatArray, joint: str, bone: FloatArray) -> FloatArray:
        """A bone of the figure's length in the clip's direction; as it rests where the clip's has no length."""
        way = self.paths[joint] - start
        size = np.linalg.norm(way, axis=1, keepdims=True)
        turned = np.tile(bone, (len(way), 1)) if self.trunk is None else self.trunk.apply(np.tile(bone, (len(way), 1)))
        return np.where(size > 1e-6, np.linalg.norm(bone) * way / np.maximum(size, 1e-6), turned)

    def _pair(self, part: str) -> bool:
        return f"left_{part}" in self.roles and f"right_{part}" in self.roles and "pelvis" in self.roles

    def _shoulder(self, side: str, joint: str) -> FloatArray:
        """From the middle of the shoulders, which the trunk carries, half their breadth to one side."""
        left, right = self.roles["left_shoulder"], self.roles["right_shoulder"]
        mid = 0.5 * (self.paths[left] + self.paths[right])
        rest = 0.5 * (self.rest[left] + self.rest[right])
        up = _unit(mid - self.root) * np.linalg.norm(rest - self.root_rest)
        across = _unit(self.paths[left] - self.paths[right]) * (0.5 if side == "left" else -0.5)
        return self.root + up + across * np.linalg.norm(self.rest[left] - self.rest[right])


def _trunk(paths: Paths, roles: Roles) -> Rotation | None:
    """Axes of the trunk: left from the hips, up from hips to shoulders."""
    pair = next((p for p in ("hip", "ankle", "shoulder") if f"left_{p}" in roles and f"right_{p}" in roles), None)
    if "pelvis" not in roles or pair is None:
        return None
    across = paths[roles[f"left_{pair}"]] - paths[roles[f"right_{pair}"]]
    tops = [paths[roles[r]] for r in ("left_shoulder", "right_shoulder", "neck", "head") if r in roles]
    rise = np.mean(tops, axis=0) - middle(paths, roles) if tops else np.tile([0.0, 1.0, 0.0], (len(across), 1))
    up = _unit(rise)
    left = _unit(across - np.sum(across * up, axis=1, keepdims=True) * up)
    return Rotation.from_matrix(np.stack([left, up, np.cross(left, up)], axis=2))


def _pelvis(source: Source, calibration: Calibration, paths: Paths, roles: Roles) -> Rotation | None:
    """How the pelvis is turned: as the clip's own is, told what upright means by where the trunk is in all frames.

    The line from hips to shoulders bends with the back; it only stands in for a pelvis that does not turn by itself.
    """
    trunk = _trunk(paths, roles)
    if trunk is None:
        return None
    own = Rotation.from_matrix(calibration.turn) * source.turned(roles["pelvis"])
    upright = np.maximum(trunk.apply([0.0, 1.0, 0.0])[:, 1], 0.0) ** 4 + 1e-9
    turned = own * (own.inv() * trunk).mean(weights=upright)
    astray = np.average((turned.inv() * trunk).magnitude(), weights=upright)
    return turned if astray < ASTRAY else trunk


def _heading(trunk: Rotation | None, count: int) -> FloatArray:
    """(frames,) where the pelvis faces, about y, by its left side: a body bent over still faces as it stood [rad]."""
    if trunk is None:
        return np.zeros(count)
    left = trunk.apply([1.0, 0.0, 0.0])
    return _steady_angle(np.arctan2(-left[:, 2], left[:, 0]), np.hypot(left[:, 0], left[:, 2]) > TELLING)


def _free_path(side: str, paths: Paths, roles: Roles, trunk: Rotation | None, build: Build) -> FootPath:
    """The clip's own path of an ankle, and where its toes point, or the trunk for want of toes."""
    ankle = paths[roles[f"{side}_ankle"]]
    place = _apart(side, ankle, roles, paths, build)
    faced = _heading(trunk, len(ankle))
    toe = roles.get(f"{side}_toe")
    if toe is None:
        still = np.zeros(len(ankle))
        return FootPath(place, faced, still, still, _turn(faced, still))
    ahead = _unit(paths[toe] - ankle)
    level = np.hypot(ahead[:, 0], ahead[:, 2])
    out = np.angle(np.exp(1j * (np.arctan2(ahead[:, 0], ahead[:, 2]) - faced)))
    sound = _sound_foot(side, paths, roles)
    telling = (level > TELLING) & (np.abs(out) < TURNED_OUT) & sound
    yaw = faced + np.clip(_steady_angle(out, telling), -MOST_TURNED_OUT, MOST_TURNED_OUT)
    pitch = -np.arctan2(ahead[:, 1], np.maximum(ahead[:, 0] * np.sin(yaw) + ahead[:, 2] * np.cos(yaw), 0.1))
    pitch = _steady_angle(pitch, sound)
    return FootPath(place, yaw, pitch, np.zeros(len(ankle)), _turn(yaw, pitch))


def _sound_foot(side: str, paths: Paths, roles: Roles) -> BoolArray:
    """(frames,) whether a foot is bent to its shank as feet can be: where markers were lost, clips flip them over."""
    knee, ankle, toe = (roles.get(f"{side}_{part}") for part in ("knee", "ankle", "toe"))
    if knee is None or ankle is None or toe is None:
        return np.ones(len(next(iter(paths.values()))), dtype=np.bool_)
    ahead, shank = _unit(paths[toe] - paths[ankle]), _unit(paths[ankle] - paths[knee])
    bend = np.arccos(np.clip(np.sum(ahead * shank, axis=1), -1.0, 1.0))
    sound: BoolArray = bend <= np.median(bend) + BROKEN
    return sound


def _turn(yaw: FloatArray, pitch: FloatArray) -> Rotation:
    return Rotation.from_euler("YX", np.stack([yaw, pitch], axis=1))


def _steady_angle(angle: FloatArray, telling: BoolArray) -> FloatArray:
    """An angle without jumps of a whole turn, and between its neighbours where it tells nothing."""
    if not telling.any():
        return np.unwrap(angle)
    frames = np.arange(len(angle))
    steady: FloatArray = np.interp(frames, frames[telling], np.unwrap(angle[telling]))
    return steady


def _apart(side: str, ankle: FloatArray, roles: Roles, paths: Paths, build: Build) -> FloatArray:
    """The path moved outwards where the figure's feet are further apart than its hips tell."""
    other = "right" if side == "left" else "left"
    if roles.get(f"{other}_ankle") not in build.anchors or roles.get(f"{side}_hip") in build.anchors:
        return ankle
    ours = abs(build.anchors[roles["left_ankle"]].rest[0] - build.anchors[roles["right_ankle"]].rest[0])
    across = paths[roles["left_ankle"]] - paths[roles["right_ankle"]]
    theirs = float(np.median(np.abs(across[:, 0])))
    shift = 0.5 * max(0.0, ours - theirs) * (1.0 if side == "left" else -1.0)
    moved: FloatArray = ankle + np.array([shift, 0.0, 0.0])
    return moved


def _contacts(  # noqa: PLR0917
    free: dict[str, FootPath],
    paths: Paths,
    roles: Roles,
    build: Build,
    size: tuple[float, float],
    settings: ContactSettings | None,
) -> Contacts:
    """Contacts by the heights and speeds of ankles and toes."""
    heels = {side: path.place - np.array([0.0, build.feet[side].ankle[1], 0.0]) for side, path in free.items()}
    toes = {side: paths[roles[f"{side}_toe"]] for side in free if f"{side}_toe" in roles}
    low = float(np.percentile(np.min([t[:, 1] for t in toes.values()], axis=0), LOW)) if toes else 0.0
    balls = {side: toes[side] - np.array([0.0, low, 0.0]) if side in toes else heels[side] for side in free}
    found = find_contacts(heels, balls, *size, settings)
    for side in free:
        sound = _sound_foot(side, paths, roles)
        found.heel[side][~sound] = found.ball[side][~sound] = False
    return found


def _on_what_is_low(contacts: Contacts, paths: dict[str, FootPath]) -> Contacts:
    """Contacts of tipped feet: on the ball where the heel is high, however low the whole foot, and on the heel."""
    heel, ball = {k: v.copy() for k, v in contacts.heel.items()}, {k: v.copy() for k, v in contacts.ball.items()}
    for side, path in paths.items():
        only_heel, only_ball = heel[side] & ~ball[side], ball[side] & ~heel[side]
        for kind, least in ((only_heel, BELIED), (only_ball, BELIED), (heel[side] & ball[side], TIPPED)):
            for first, last in segments(kind):
                pitch = float(np.median(path.pitch[first:last]))
                if abs(pitch) > least:
                    heel[side][first:last], ball[side][first:last] = pitch < 0.0, pitch > 0.0
    return Contacts(heel, ball)


def _whole(contacts: Contacts, build: Build) -> Contacts:
    """A foot in one piece, which cannot roll, stands with all of its sole or not at all."""
    heel, ball = dict(contacts.heel), dict(contacts.ball)
    for side, foot in build.feet.items():
        if not foot.tip:
            heel[side] = ball[side] = contacts.standing(side)
    return Contacts(heel, ball)


def _resting_pitch(free: dict[str, FootPath], contacts: Contacts) -> float:
    """How steep the line from ankle to toes is on a level foot: in flat stance of either, else where one is low."""
    flat = [path.pitch[contacts.flat(side)] for side, path in free.items()]
    if sum(map(len, flat)) >= ENOUGH:
        return float(np.median(np.concatenate(flat)))
    low = [path.pitch[path.place[:, 1] <= np.percentile(path.place[:, 1], LOW)] for path in free.values()]
    return float(np.median(np.concatenate(low))) if low else 0.0


def _drawn_pitch(source: Source, roles: Roles) -> float:
    """How steep that line is in the skeleton as it was drawn."""
    skeleton = source.clip.figure
    neutral = skeleton.neutral()
    frames = skeleton.frames(neutral)
    # The drawing may have another axis up than the motion.
    up = Source(Clip(skeleton, neutral.q[None], 1.0)).up(roles)
    pairs = [(roles[f"{s}_ankle"], roles[f"{s}_toe"]) for s in ("left", "right") if f"{s}_toe" in roles]
    lines = [frames[toe].position - frames[ankle].position for ankle, toe in pairs if ankle in frames and toe in frames]
    sines = [float(line @ up) / max(float(np.linalg.norm(line)), 1e-9) for line in lines]
    return float(-np.arcsin(np.clip(np.mean(sines), -1.0, 1.0))) if sines else 0.0


def _levelled(path: FootPath, rest: float) -> FootPath:
    """The path with the pitch of a foot at rest taken off."""
    pitch = path.pitch - rest
    return path._replace(pitch=pitch, turn=_turn(path.yaw, pitch))


def _unit(vectors: FloatArray) -> FloatArray:
    out: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return out
