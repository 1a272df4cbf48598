"""How the feet of a clip go before they are planted: places of ankles, directions of soles, what of them stands."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Clip
from poise.motion.clip.contacts import BoolArray, Contacts, ContactSettings, find_contacts, segments
from poise.motion.clip.source import Source
from poise.motion.retarget.build import Build
from poise.motion.retarget.calibration import LOW
from poise.motion.retarget.feet import FootPath
from poise.motion.retarget.skeleton import Paths, Roles, unit

TELLING = 0.6
"""How level a foot, or the line of the hips, must be for its direction to be told."""
TURNED_OUT, MOST_TURNED_OUT = np.radians(100.0), np.radians(55.0)
"""Angle between foot and trunk beyond which the clip's foot points backwards, and the most that is asked for."""
TIPPED, BELIED = np.radians(30.0), np.radians(12.0)
"""Pitch at which a flat foot stands on its ball or its heel alone, and at which one that does stands on the other."""
BROKEN = np.radians(50.0)
"""Bend of an ankle beyond its usual one that no foot has."""
MISDRAWN = np.radians(15.0)
"""How far a level foot may be from how the skeleton's foot was drawn: dancers on their toes are flat for nobody."""
ENOUGH = 5
"""Frames of flat stance that tell what flat is."""


def _heading(trunk: Rotation | None, count: int) -> FloatArray:
    """(frames,) where the pelvis faces, about y, by its left side: a body bent over still faces as it stood [rad]."""
    if trunk is None:
        return np.zeros(count)
    left = trunk.apply([1.0, 0.0, 0.0])
    return _steady_angle(np.arctan2(-left[:, 2], left[:, 0]), np.hypot(left[:, 0], left[:, 2]) > TELLING)


def free_path(side: str, paths: Paths, roles: Roles, trunk: Rotation | None, build: Build) -> FootPath:
    """The clip's own path of an ankle, and where its toes point, or the trunk for want of toes."""
    ankle = paths[roles[f"{side}_ankle"]]
    place = _apart(side, ankle, roles, paths, build)
    faced = _heading(trunk, len(ankle))
    toe = roles.get(f"{side}_toe")
    if toe is None:
        still = np.zeros(len(ankle))
        return FootPath(place, faced, still, still, _turn(faced, still))
    ahead = unit(paths[toe] - ankle)
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
    ahead, shank = unit(paths[toe] - paths[ankle]), unit(paths[ankle] - paths[knee])
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


def found_contacts(  # noqa: PLR0917
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


def on_what_is_low(contacts: Contacts, paths: dict[str, FootPath]) -> Contacts:
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


def whole(contacts: Contacts, build: Build) -> Contacts:
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


def levelled(free: dict[str, FootPath], contacts: Contacts, source: Source, roles: Roles) -> dict[str, FootPath]:
    """Feet by side with the pitch of a foot at rest taken off."""
    drawn = _drawn_pitch(source, roles)
    rest = float(np.clip(_resting_pitch(free, contacts), drawn - MISDRAWN, drawn + MISDRAWN))
    out = {}
    for side, path in free.items():
        pitch = path.pitch - rest
        out[side] = path._replace(pitch=pitch, turn=_turn(path.yaw, pitch))
    return out
