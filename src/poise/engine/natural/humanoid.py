"""The likely posture of people, carried over to a humanoid: a figure whose roles are those of a person.

The posture of people is known for handles on the built-in human (`poise.figures.people.likely_posture`). A humanoid has
other axes, another size and other joints, so its handles h become those of the human, and the answer comes back as
directions of bones:

    h ─ scale ─▶ handles of the human ─ network ─▶ posture of the human ─ bones ─▶ targets ─ fit ─▶ p(h)

**Scale.** Let A turn the humanoid's world into the human's, with the figure upright and facing +z, and let s be the
ratio of the legs. Feet are at s A x. What is above them is compared with where it is when both figures stand: in the
frame of the feet, a point of the trunk at v is at r' + (v - r) on the human, with r and r' its places at rest on the
humanoid and on the human; a point of an arm is at r' + k (v - r), with r, r' the shoulders at rest and k the ratio of
the arms.

**Fit.** Pelvis and trunk turn as the human's do, and the bones of the arms point as its bones do, each with the
humanoid's own length. The weighted fit of `poise.kernels.motion.weighted_fit` finds the posture, with the feet where
they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.weighted_fit import make_weighted_fit
from poise.figure.collision.soles import ground_height
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Frames, Pose, from_matrix, to_matrix
from poise.figure.model.posture import Posture
from poise.figures.people.likely_posture import feet_pose, handle_arrays, likely_model
from poise.kernels.body.likely_posture import likely_coordinates
from poise.kernels.motion.weighted_fit import fit_posture
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.task import Task

if TYPE_CHECKING:
    from poise.engine.problem import Problem

SIDES = ("left", "right")
NEEDED = ("pelvis", *(f"{side}_{part}" for part in ("hip", "knee", "ankle") for side in SIDES))
"""Roles without which a figure is no humanoid."""
LEAST_CERTAINTY = 0.5
"""How sure a role must be to count."""
POINT_OF_ROLE = {"pelvis": "pelvis", "chest": "thorax", "head": "head"} | {
    f"{side}_{part}": f"{side}_{body}"
    for side in SIDES
    for part, body in {"ankle": "foot", "knee": "shank", "elbow": "ulna", "wrist": "hand"}.items()
}
"""The point of the model of people that has each role."""
TURNS = ("pelvis", "chest", "head")
"""Roles whose rotation is carried over, in both directions."""


class Limb(NamedTuple):
    """A chain of bones whose directions are carried over."""

    carrier: str
    """Role of the part that carries it."""
    begin: str
    """Role at its beginning."""
    ends: tuple[str, ...]
    """Roles at the ends of its bones."""
    points: tuple[str, ...]
    """Points of the human at its beginning and at the ends of its bones."""


LIMBS = tuple(
    Limb(carrier, f"{side}_{begin}", tuple(f"{side}_{e}" for e in ends), tuple(f"{side}_{p}" for p in points))
    for side in SIDES
    for carrier, begin, ends, points in (
        ("chest", "shoulder", ("elbow", "wrist"), ("upper_arm", "ulna", "hand")),
        ("pelvis", "hip", ("knee",), ("thigh", "shank")),
    )
)
"""Arms and thighs; shanks go from the knee to the foot. Knees tell a straight leg which way to bend."""
ARMS = tuple(limb for limb in LIMBS if limb.carrier == "chest")
"""The arms."""
FOOT_WEIGHT, PLACE_WEIGHT, TURN_WEIGHT = 10.0, 1.0, 0.5
"""Weights of feet, of places and of rotations [1/m or 1/rad] in the fit."""
REST_WEIGHT = 1e-4
"""Weight of the rest posture in the fit [1/rad²]."""
MAX_FIT_STEPS, FIT_TOLERANCE = 40, 1e-3
"""Largest number of steps of a fit, and the size of a step at which it ends [rad or m]."""


class Rest(NamedTuple):
    """A figure that stands at rest, in the axes and the size of the human."""

    axes: FloatArray
    """(3, 3) A: rows are the directions to the left, up and ahead, in the figure's world."""
    scale: float
    """Size of the human as a multiple of the figure's."""
    parts: dict[str, str]
    """Body or site of each role."""
    points: dict[str, FloatArray]
    """(3,) point of each role in the frame of its part [m]."""
    turns: dict[str, FloatArray]
    """(3, 3) rotation of the part of each role at rest, in the figure's world."""
    places: dict[str, FloatArray]
    """(3,) place of each role at rest, in the frame of the feet, in metres of the human."""
    bones: dict[str, float]
    """Lengths of the bones of `LIMBS`, by the role at their ends [m]."""

    def arm(self, side: str) -> float:
        """Length of an arm, in metres of the human."""
        return self.scale * (self.bones[f"{side}_elbow"] + self.bones[f"{side}_wrist"])


class LikelyHumanoid:
    """The likely posture of a humanoid for given handles."""

    def __init__(self, figure: Figure, compiled: Callable[[Figure, Sequence[Task]], Problem]) -> None:
        """Set up the fit; `compiled` compiles its tasks. The figure must be a humanoid (`humanoid_rest`)."""
        rest = humanoid_rest(figure)
        assert rest is not None
        self._figure, self._rest, self._human = figure, rest, _person()
        self._fitted = _without_extremities(figure, rest.parts.values())
        """The figure that is fitted; the joints that are left out, those of fingers for example, stay at rest."""
        self._fitted_q = np.concatenate([np.r_[figure.q_slice(joint.name)] for joint in self._fitted.joints])
        at = figure.frames(rest_posture(figure))
        self._tasks: dict[str, Task] = {}
        for side in SIDES:
            part = rest.parts[f"{side}_ankle"]
            self._tasks[f"{side}_ankle"] = Frame(part, at[part], weight=FOOT_WEIGHT)
            for role in (role for role in rest.bones if role.startswith(side)):
                self._tasks[role] = Position(
                    rest.parts[role], at[rest.parts[role]].position, offset=rest.points[role], weight=PLACE_WEIGHT
                )
        self._tasks["pelvis"] = Position(rest.parts["pelvis"], at[rest.parts["pelvis"]].position, weight=PLACE_WEIGHT)
        for role in (role for role in TURNS if role in rest.parts):
            self._tasks[f"{role} turns"] = Orientation(
                rest.parts[role], at[rest.parts[role]].rotation, weight=TURN_WEIGHT
            )
        self._at_rest = rest_posture(figure)._q
        self._neutral = self._at_rest[self._fitted_q]
        """Coordinates of the fitted figure at rest."""
        self._last = self._neutral.copy()
        """Coordinates of the last answer of the fitted figure, from which the next fit begins."""
        below = Hold(Posture(self._fitted, self._neutral), priority=2)
        self._problem = compiled(self._fitted, [*self._tasks.values(), below])
        self._fit = make_weighted_fit(self._problem, REST_WEIGHT, 0.0)
        self.feet = (rest.parts["left_ankle"], rest.parts["right_ankle"])
        """The parts that are its feet."""
        self._roles = {part: role for role, part in rest.parts.items() if role in POINT_OF_ROLE}
        self._by_group = {_rigid_group(figure, part): part for part in self._roles}

    def forget(self) -> None:
        """Forget earlier answers, so that the next one does not depend on them."""
        self._last[:] = self._neutral

    def point_of(self, part: str) -> str | None:
        """The part with a role that is rigidly connected to a site or body; None if there is none."""
        return part if part in self._roles else self._by_group.get(_rigid_group(self._figure, part))

    def likely(self, handles: Mapping[str, Pose | ArrayLike], start: Frames) -> FloatArray:
        """(nq,) the likely coordinates for handles.

        Args:
            handles: Poses or positions of parts with roles [m].
            start: Where all parts are at the start: feet without a handle stay there, and those with a position only
                are turned so.
        """
        feet = {part: _posed(handles.get(part), start[part]) for part in self.feet}
        heading = feet_pose([self._sole(side, feet[part]) for side, part in zip(SIDES, self.feet, strict=True)])
        human = self._human_frames(handles, feet, heading, start)
        q = self._with_pelvis_at(self._aim(human, feet, heading, self._hanging(handles), start))
        fit_posture(self._problem.handle, self._fit, q, self._neutral, MAX_FIT_STEPS, FIT_TOLERANCE, q)
        self._last[:] = q
        found: FloatArray = self._at_rest.copy()
        found[self._fitted_q] = q
        return found

    def _human_frames(
        self, handles: Mapping[str, Pose | ArrayLike], feet: Mapping[str, Pose], heading: Pose, start: Frames
    ) -> Frames:
        """Frames of the human in the likely posture for the handles."""
        rest, from_world = self._rest, heading.inverse()
        given: dict[str, Pose | FloatArray] = {
            f"{side}_foot": self._sole(side, feet[part]) for side, part in zip(SIDES, self.feet, strict=True)
        }
        for part, handle in handles.items():
            role = self._roles[part]
            if part in feet:
                continue
            pose = _posed(handle, start[part])
            local = from_world.apply(rest.scale * rest.axes @ pose.apply(rest.points[role]))
            place = heading.apply(self._on_human(role, local))
            turned = isinstance(handle, Pose) and role in TURNS
            given[POINT_OF_ROLE[role]] = Pose(place, from_matrix(self._turn(role, pose))) if turned else place
        q = _human().neutral()._q.copy()
        likely_coordinates(likely_model(_human()), *handle_arrays(given), q)
        return _human().frames(Posture(_human(), q))

    def _on_human(self, role: str, local: FloatArray) -> FloatArray:
        """(3,) place on the human of a role at `local` (3,), both in the frame of the feet."""
        rest, human = self._rest, self._human
        side, _, part = role.rpartition("_")
        if part in ("elbow", "wrist") and role in rest.bones:
            shoulder = f"{side}_shoulder"
            return human.places[shoulder] + human.arm / rest.arm(side) * (local - rest.places[shoulder])
        if part == "knee":
            return local
        return human.places[role] + local - rest.places[role]

    def _with_pelvis_at(self, pelvis: Pose) -> FloatArray:
        """The coordinates of the last fit, with the whole figure moved until its pelvis is there."""
        figure = self._fitted
        q: FloatArray = self._last.copy()
        base = next(joint for joint in figure.joints if joint.kind == "free")
        at, frame = figure.q_slice(base.name), base.parent_frame
        now = figure.pose_of(self._rest.parts["pelvis"], Posture(figure, q))
        moved = frame.inverse() @ pelvis @ now.inverse() @ frame @ Pose(q[at][:3], q[at][3:])
        q[at] = np.concatenate([moved.position, moved.rotation])
        return q

    def _hanging(self, handles: Iterable[str]) -> Limb | None:
        """The free arm, if exactly one arm has a handle."""
        roles = {self._roles[part] for part in handles}
        free = [limb for limb in ARMS if limb.ends[-1] in self._rest.bones and roles.isdisjoint(limb.ends)]
        return free[0] if len(free) == 1 else None

    def _aim(self, human: Frames, feet: Mapping[str, Pose], heading: Pose, hanging: Limb | None, start: Frames) -> Pose:
        """Set the targets of the fit for a posture of the human; returns that of the pelvis.

        Args:
            human: The posture of the human.
            feet: Where the feet should be.
            heading: The frame of the feet.
            hanging: An arm that keeps its direction of the start in space, but for turns about the vertical.
            start: Where all parts are at the start.
        """
        rest, tasks, retarget = self._rest, self._tasks, self._problem.retarget
        for side, part in zip(SIDES, self.feet, strict=True):
            retarget(tasks[f"{side}_ankle"], feet[part])
        local = heading.inverse().apply(human["pelvis"].position) - self._human.places["pelvis"] + rest.places["pelvis"]
        pelvis = rest.axes.T @ heading.apply(local) / rest.scale
        retarget(tasks["pelvis"], pelvis)
        turns = {role: rest.axes.T @ human[POINT_OF_ROLE[role]].matrix @ rest.axes for role in TURNS}
        for role in (role for role in TURNS if role in rest.parts):
            retarget(tasks[f"{role} turns"], from_matrix(turns[role] @ rest.turns[role]))
        for limb in (limb for limb in LIMBS if limb.ends[-1] in rest.bones):
            up = rest.axes.T @ (rest.places[limb.begin] - rest.places["pelvis"]) / rest.scale
            at = pelvis + turns[limb.carrier] @ up
            bones = [rest.axes.T @ bone for bone in np.diff([human[point].position for point in limb.points], axis=0)]
            if limb is hanging:
                places = [start[rest.parts[role]].apply(rest.points[role]) for role in (limb.begin, *limb.ends)]
                was = start[rest.parts[limb.carrier]].matrix @ rest.turns[limb.carrier].T
                turned = _twist(turns[limb.carrier] @ was.T, self._figure.up_vector)
                bones = [turned @ bone for bone in np.diff(places, axis=0)]
            for role, bone in zip(limb.ends, bones, strict=True):
                at = at + bone * (rest.bones[role] / float(np.linalg.norm(bone)))
                retarget(tasks[role], np.ascontiguousarray(at))
        return Pose(pelvis, from_matrix(turns["pelvis"] @ rest.turns["pelvis"]))

    def _sole(self, side: str, foot: Pose) -> Pose:
        """The pose of the human's foot that stands where a foot of the humanoid does."""
        rest, role = self._rest, f"{side}_ankle"
        place = rest.scale * rest.axes @ foot.apply(rest.points[f"{side}_sole"])
        return Pose(place, from_matrix(self._turn(role, foot)))

    def _turn(self, role: str, pose: Pose) -> FloatArray:
        """(3, 3) how a part is turned against its rotation at rest, in the axes of the human."""
        rest = self._rest
        return np.asarray(rest.axes @ pose.matrix @ rest.turns[role].T @ rest.axes.T, dtype=np.float64)


def _twist(turn: FloatArray, up: FloatArray) -> FloatArray:
    """(3, 3) the part of a rotation (3, 3) that is a turn about the unit vector `up`."""
    w, *rest = from_matrix(turn)
    angle = 2.0 * np.arctan2(np.dot(rest, up), w)
    return to_matrix((np.cos(0.5 * angle), *(np.sin(0.5 * angle) * up)))


@lru_cache(maxsize=16)
def humanoid_rest(figure: Figure) -> Rest | None:
    """How a humanoid stands at rest; None for a figure that is no humanoid with a floating base."""
    roles = {name: role for name, role in figure.roles.items() if role.certainty >= LEAST_CERTAINTY}
    floats = any(joint.kind == "free" for joint in figure.joints)
    if not floats or figure.loops or any(name not in roles for name in NEEDED):
        return None
    frames = figure.frames(rest_posture(figure))
    parts = {name: role.part for name, role in roles.items()}
    points = {name: np.zeros(3) if role.point is None else np.array(role.point) for name, role in roles.items()}
    at = {name: frames[part].apply(points[name]) for name, part in parts.items()}
    left = sum(at[f"left_{part}"] - at[f"right_{part}"] for part in ("hip", "knee", "ankle"))
    up = figure.up_vector
    left = left - (left @ up) * up
    if not float(np.linalg.norm(left)) > 0.0:
        return None
    left = left / np.linalg.norm(left)
    axes = np.array([left, up, np.cross(left, up)])
    return _with_places(figure, frames, at, Rest(axes, 1.0, parts, points, {}, {}, {}))


def _with_places(figure: Figure, frames: Frames, at: Mapping[str, FloatArray], rest: Rest) -> Rest:
    """`rest` with its size, rotations, places and bones, from the places `at` of its roles."""
    up = figure.up_vector
    ground = min(ground_height(figure), *(float(at[f"{side}_ankle"] @ up) for side in SIDES))
    bones_of_legs = [(f"{s}_{a}", f"{s}_{b}") for s in SIDES for a, b in (("hip", "knee"), ("knee", "ankle"))]
    leg = 0.5 * sum(float(np.linalg.norm(at[a] - at[b])) for a, b in bones_of_legs)
    scale = _person().leg / (leg + float(np.mean([at[f"{side}_ankle"] @ up - ground for side in SIDES])))
    points = dict(rest.points)
    for side in SIDES:
        ankle_at = at[f"{side}_ankle"]
        sole = ankle_at - (ankle_at @ up - ground) * up + rest.axes.T @ _person().sole / scale
        points[f"{side}_sole"] = frames[rest.parts[f"{side}_ankle"]].inverse().apply(sole)
    turns = {role: frames[part].matrix for role, part in rest.parts.items()}
    bones: dict[str, float] = {}
    for limb in LIMBS:
        if all(role in at for role in (limb.carrier, limb.begin, *limb.ends)):
            bones |= {b: float(np.linalg.norm(at[b] - at[a])) for a, b in pairwise((limb.begin, *limb.ends))}
    sized = rest._replace(scale=scale, points=points, turns=turns, bones=bones)
    soles = [scale * rest.axes @ frames[rest.parts[f"{s}_ankle"]].apply(points[f"{s}_sole"]) for s in SIDES]
    from_world = feet_pose([Pose(sole) for sole in soles]).inverse()
    return sized._replace(places={role: from_world.apply(scale * rest.axes @ place) for role, place in at.items()})


@cache
def _human() -> Figure:
    """The human whose likely postures are known."""
    from poise.figures.people.human_body import human

    return human()


class _Person(NamedTuple):
    """The human at rest, in the frame of its feet."""

    places: dict[str, FloatArray]
    """(3,) places of roles [m]."""
    arm: float
    """Length of an arm [m]."""
    leg: float
    """Length of a leg, from the hip to the ground [m]."""
    sole: FloatArray
    """(3,) from the ground under an ankle to the origin of the foot [m]."""


@cache
def _person() -> _Person:
    """The human at rest."""
    human = _human()
    at = human.frames("standing")
    from_world = feet_pose([at["left_foot"], at["right_foot"]]).inverse()
    roles = POINT_OF_ROLE | {f"{side}_shoulder": f"{side}_upper_arm" for side in SIDES}
    arm = [at[f"left_{part}"].position for part in ("upper_arm", "ulna", "hand")]
    ankle = at["left_shank"].apply(human.joints["left_ankle"].parent_frame.position)
    return _Person(
        places={role: from_world.apply(at[point].position) for role, point in roles.items()},
        arm=sum(float(np.linalg.norm(b - a)) for a, b in pairwise(arm)),
        leg=float((at["left_thigh"].position - at["left_foot"].position)[1]),
        sole=(at["left_foot"].position - ankle) * np.array([0.0, 0.0, 1.0]),
    )


def _rigid_group(figure: Figure, part: str) -> str:
    """The first of the bodies that fixed joints connect to that of a site or body."""
    fixed = {joint.child: joint.parent for joint in figure.joints if joint.kind == "fixed" and joint.parent is not None}
    body = figure.body_of(part)
    while body in fixed:
        body = fixed[body]
    return body


def _without_extremities(figure: Figure, parts: Iterable[str]) -> Figure:
    """A figure without the bodies that carry none of these parts, such as fingers, and without its named postures."""
    above = {joint.child: joint for joint in figure.joints}
    bodies = set(figure.roots)
    for part in parts:
        here: str | None = figure.body_of(part)
        while here is not None and here not in bodies:
            bodies.add(here)
            here = above[here].parent
    joints = [joint for joint in figure.joints if joint.child in bodies]
    names = {joint.name for joint in joints}
    return figure.replaced(
        bodies=[body for body in figure.bodies if body.name in bodies],
        joints=joints,
        sites=[site for site in figure.sites if site.body in bodies],
        couplings=[c for c in figure.couplings if all(term.joint in names for term in c.terms)],
        postures={},
    )


def rest_posture(figure: Figure) -> Posture:
    """The posture in which a figure stands."""
    return figure.posture("standing") if "standing" in figure.posture_names else figure.neutral()


def _posed(handle: Pose | ArrayLike | None, start: Pose) -> Pose:
    """A handle as a pose: turned as at the start if it is a position, and at the start if there is none."""
    if isinstance(handle, Pose):
        return handle
    return start if handle is None else Pose(handle, start.rotation)
