"""How people share a turn of the gaze between eyes, head, trunk and legs.

A gaze is a `LookAt` with the face of a part (`poise.figure.model.facing`). Its target asks for a turn of A from where
the part looks: by an azimuth about the axis of the trunk, then by an elevation. In people [Kim 2010; Land 2004;
Sidenmark & Gellersen 2019] the eyes take the first 15 to 20°, the head most of the rest, the trunk follows from 50 to
60° on, and hips and feet turn when the trunk runs out of range. So the parts of the body turn, against where they
stand, by

    eyes in the head   E(A) = e tanh(A / e)
    trunk in space     T(A) = s(A; TRUNK_FROM, TRUNK_WIDTH)
    base in space      B(A) = s(T(A); BASE_FROM, BASE_WIDTH)
    head in space      A - E(A)

    s(x; x₀, w) = ½ (x - x₀ + √((x - x₀)² + w²)) - ½ (-x₀ + √(x₀² + w²))

where s is 0 at 0, nearly flat up to x₀, and then rises like x. The parts are the branches of the skeleton on the way
from the root to the head: joints without a branching of limbs between them and the head are those of the neck, with
one those of the trunk, with more those of the base. The joints of a part share its turn by their ranges. What a joint
cannot do because of its limits is left to those after it. Limbs that go out from the base, the legs, stay as they are
in the world.

The posture that results is where natural motion (`poise.engine.natural`) draws the body to: the head stays upright,
while the task alone would let it tilt. Near the axis of the trunk, where an azimuth means little, it counts for less.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poise.figure.model.facing import head_of
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.clamp import clamp
from poise.tasks.look_at import LookAt
from poise.tasks.ranges import ranges_of
from poise.tasks.target import world_from_part

EYES_MOST = math.radians(18.0)
"""Greatest turn of the eyes in the head that people keep [rad]."""
TRUNK_FROM, TRUNK_WIDTH = math.radians(55.0), math.radians(30.0)
"""Turn of the gaze from which on the trunk turns, and how gradually [rad]."""
BASE_FROM, BASE_WIDTH = math.radians(35.0), math.radians(20.0)
"""Turn of the trunk from which on the base turns, and how gradually [rad]."""
STEEP = math.cos(math.radians(60.0))
"""Cosine of the elevation above which an azimuth counts for less."""
LEAST_TURN = 1e-6
"""Turn of a base below which its limbs need no correction [rad]."""
SAME_AXIS = 1e-9
"""Largest difference of two axes that are the same."""
BASE, TRUNK, NECK, EYES = range(4)
"""The parts that share a turn, from the root to the eyes."""


class GazeChain(NamedTuple):
    """The joints that turn the gaze of a part, and their shares."""

    joints: tuple[Joint, ...]
    """From the root to the part."""
    parts: tuple[int, ...]
    """Of each joint, the part that it belongs to: `BASE`, `TRUNK`, `NECK` or `EYES`."""
    azimuth: tuple[float, ...]
    """Of each joint, its share of an azimuth of its part and those before it in the part."""
    elevation: tuple[float, ...]
    """The same for an elevation."""
    body: str
    """The body that looks."""
    trunk: str
    """The body that carries the neck, whose axis an azimuth is about."""
    limbs: tuple[Joint, ...]
    """The joints by which other limbs go out from the base."""


def is_gaze(figure: Figure, task: object) -> bool:
    """Whether a task looks with the face of a part."""
    if not isinstance(task, LookAt):
        return False
    face = figure.facing(task.site)
    return face is not None and float(np.abs(task.axis_on(figure) - face).max()) < SAME_AXIS


def turned_to(posture: Posture, task: LookAt, branchings: FloatArray, may_move: FloatArray) -> Posture:
    """The posture in which eyes, head, trunk and base share the turn to the target of a gaze.

    Args:
        posture: The posture to turn from.
        task: The gaze.
        branchings: (nv,) number of branchings of limbs between each joint and the part that looks.
        may_move: (nv,) 1 for joints that may move, else 0.
    """
    figure = posture.figure
    eye, target = world_from_part(posture, task.site), task.target_in(posture).wanted
    sight, wanted = eye.matrix @ task.axis_on(figure), target - eye.position
    distance = float(np.linalg.norm(wanted))
    if distance == 0.0:
        return posture
    site = figure.sites[task.site].body if task.site in figure.sites else task.site
    chain = gaze_chain(figure, site, tuple(branchings.tolist()))
    trunk = figure.pose_of(chain.trunk, posture).matrix @ _own_up(figure, chain.trunk)
    turn = _turn_between(sight, wanted / distance, trunk)
    return _Turning(posture, chain, turn, may_move).result() if turn.angle > 0.0 else posture


class _Turn(NamedTuple):
    """A turn of the gaze by an azimuth about one axis, after an elevation about another."""

    up: FloatArray
    """(3,) unit vector of the axis of the azimuth."""
    across: FloatArray
    """(3,) unit vector of the axis of the elevation."""
    azimuth: float
    """[rad]"""
    elevation: float
    """[rad]"""

    @property
    def angle(self) -> float:
        """Size of the turn [rad]."""
        return math.hypot(self.azimuth, self.elevation)

    def part(self, azimuth: float, elevation: float) -> FloatArray:
        """(3, 3) rotation by shares of both angles."""
        about_up = _rotation(self.up * (azimuth * self.azimuth))
        return about_up @ _rotation(self.across * (elevation * self.elevation))


def _turn_between(sight: FloatArray, wanted: FloatArray, up: FloatArray) -> _Turn:
    """The turn from one unit vector to another with azimuths about `up`."""
    flat, flat_wanted = sight - (sight @ up) * up, wanted - (wanted @ up) * up
    size, size_wanted = float(np.linalg.norm(flat)), float(np.linalg.norm(flat_wanted))
    ahead = flat / size if size > SAME_AXIS else _any_across(up)
    across = np.cross(ahead, up)
    azimuth = math.atan2(float(flat_wanted @ np.cross(up, ahead)), float(flat_wanted @ ahead))
    rise = math.atan2(float(wanted @ up), size_wanted) - math.atan2(float(sight @ up), size)
    return _Turn(up, across, azimuth * min(1.0, min(size, size_wanted) / STEEP), rise)


def part_shares(angle: float, parts: frozenset[int]) -> dict[int, float]:
    """Turn of each part in space for a gaze that turns by `angle` > 0 [rad], as a share of it.

    Args:
        angle: How far the gaze turns.
        parts: The parts that the figure has; a part that it lacks turns with the next one.
    """
    eyes = EYES_MOST * math.tanh(angle / EYES_MOST) if EYES in parts else 0.0
    trunk = _rise(angle, TRUNK_FROM, TRUNK_WIDTH)
    turns = {BASE: _rise(trunk, BASE_FROM, BASE_WIDTH), TRUNK: trunk, NECK: angle - eyes, EYES: angle}
    return {part: turn / angle for part, turn in turns.items()}


def _rise(x: float, start: float, width: float) -> float:
    """s(x; x₀, w) of the module's description."""
    return 0.5 * (x - start + math.hypot(x - start, width)) - 0.5 * (math.hypot(start, width) - start)


class _Turning:
    """Turns the joints of a chain one after another."""

    def __init__(self, posture: Posture, chain: GazeChain, turn: _Turn, may_move: FloatArray) -> None:
        self._figure, self._start, self._chain, self._may_move = posture.figure, posture, chain, may_move
        self._q, self._turn = posture.q.copy(), turn
        self._frames = posture.figure.frames(posture)

    def result(self) -> Posture:
        """The posture with all joints turned."""
        chain, figure = self._chain, self._figure
        columns = figure.jacobian(chain.body, self._start)[3:]
        shares = part_shares(self._turn.angle, frozenset(chain.parts))
        before = {part: shares[part - 1] if part > BASE and part - 1 in shares else 0.0 for part in shares}
        before[BASE] = 0.0
        for joint, part, az, el in zip(chain.joints, chain.parts, chain.azimuth, chain.elevation, strict=True):
            low, step = before[part], shares[part] - before[part]
            self._turn_joint(joint, columns, self._turn.part(low + az * step, low + el * step))
        for limb in chain.limbs:
            if self._turned(limb.parent) is not None:
                self._turn_joint(limb, figure.jacobian(limb.child, self._start)[3:], np.eye(3))
        return Posture(figure, self._q)

    def _turned(self, body: str | None) -> FloatArray | None:
        """(3, 3) how a body has turned from where it was; None if it has not."""
        if body is None:
            return None
        turned = self._figure.frames(Posture(self._figure, self._q))[body].matrix @ self._frames[body].matrix.T
        return None if float(np.linalg.norm(_vector(turned))) < LEAST_TURN else turned

    def _turn_joint(self, joint: Joint, columns: FloatArray, wanted: FloatArray) -> None:
        """Turn a joint so that its child has turned by the rotation `wanted` in space, as far as its limits allow."""
        at, figure = figure_slice(self._figure, joint), self._figure
        if not self._may_move[at].all():
            return
        carried = self._turned(joint.parent)
        carried = np.eye(3) if carried is None else carried
        velocity = np.zeros(figure.nv)
        velocity[at] = np.linalg.pinv(carried @ columns[:, at]) @ _vector(wanted @ carried.T)
        moved = figure.integrate(Posture(figure, self._q), velocity).q.copy()
        clamp(figure.compiled.bounds, self._q, moved)
        self._q = moved


def figure_slice(figure: Figure, joint: Joint) -> slice:
    """Slice of a velocity that belongs to a joint."""
    return figure.v_slice(joint.name)


@lru_cache(maxsize=64)
def gaze_chain(figure: Figure, body: str, branchings: tuple[float, ...]) -> GazeChain:
    """The joints that turn the gaze of a body, for numbers of branchings (nv,) between it and each joint."""
    above = dict(figure.tree_order)
    way: list[Joint] = []
    here: str | None = body
    while here is not None and (joint := above[here]) is not None:
        way.insert(0, joint)
        here = joint.parent
    head, joints = head_of(figure), [joint for joint in way if joint.nv]
    inside = [joint.child for joint in way]
    eyes = set(inside[inside.index(head) + 1 :]) if head in inside else set()
    parts = []
    for joint in joints:
        count = int(branchings[figure.v_slice(joint.name).start])
        parts.append(EYES if joint.child in eyes else (NECK, TRUNK, BASE)[min(count, 2)])
    neck = next((joint for joint, part in zip(joints, parts, strict=True) if part == NECK), None)
    ends = [joint.child for joint, part in zip(joints, parts, strict=True) if part == BASE]
    limbs = [joint for joint in figure.joints if ends and joint.parent == ends[-1] and joint not in way and joint.nv]
    rooms = [_rooms(figure, joint) for joint in joints]
    return GazeChain(
        tuple(joints),
        tuple(parts),
        _shares(parts, [room[0] for room in rooms]),
        _shares(parts, [room[1] for room in rooms]),
        body,
        (neck.parent if neck is not None else None) or body,
        tuple(limbs),
    )


def _rooms(figure: Figure, joint: Joint) -> tuple[float, float]:
    """Range of a joint about the up axis, and about horizontal axes, in the neutral posture [rad]."""
    at = figure.v_slice(joint.name)
    size = np.minimum(ranges_of(figure).size[at], math.pi)
    if joint.ball_limits is not None and joint.ball_limits.twist is not None:
        low, high = joint.ball_limits.twist.at(0.0, 0.0)
        return high - low, float(size.max())
    columns = figure.jacobian(joint.child, figure.neutral())[3:, at]
    about_up = np.abs(figure.up_vector @ columns)
    across = np.linalg.norm(columns - np.outer(figure.up_vector, figure.up_vector @ columns), axis=0)
    return float((about_up * size).max()), float((across * size).max())


def _shares(parts: list[int], rooms: list[float]) -> tuple[float, ...]:
    """Of each joint, the share of its part's range that it and the joints before it in the part have."""
    found = []
    for i, part in enumerate(parts):
        same = [room for other, room in zip(parts, rooms, strict=True) if other == part]
        done = [room for other, room in zip(parts[: i + 1], rooms, strict=False) if other == part]
        found.append(sum(done) / sum(same) if sum(same) > 0.0 else len(done) / len(same))
    return tuple(found)


@lru_cache(maxsize=64)
def _own_up(figure: Figure, body: str) -> FloatArray:
    """(3,) the figure's up axis in the axes that a body has in the neutral posture."""
    up: FloatArray = figure.pose_of(body, figure.neutral()).matrix.T @ figure.up_vector
    return up


def _any_across(axis: FloatArray) -> FloatArray:
    """(3,) any unit vector across another."""
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    unit: FloatArray = across / np.linalg.norm(across)
    return unit


def _rotation(vector: FloatArray) -> FloatArray:
    """(3, 3) the rotation of a rotation vector (3,) [rad]."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = (vector / angle).tolist()
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation: FloatArray = np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross)
    return rotation


def _vector(rotation: FloatArray) -> FloatArray:
    """(3,) the rotation vector of a rotation (3, 3) of less than half a turn [rad]."""
    half = 0.5 * np.array(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(half)), 0.5 * (float(np.trace(rotation)) - 1.0)
    vector: FloatArray = half if sine < SAME_AXIS else half * (math.atan2(sine, cosine) / sine)
    return vector
