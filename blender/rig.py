# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of an armature as poise has them: out of Blender, and back.

poise computes in the world, in metres, with the armature as it stands when it is sent: `placed` takes points of the
present world there, should the armature have moved since.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from .client import ReportedError

LEAST_SCALE = 1e-6
SAME_PLACE = 1e-4
"""Distance, as a share of the length of a bone, up to which another one is in the same place."""
AXES = ("x", "y", "z")


class Rig:
    """An armature that has been sent to poise."""

    def __init__(self, client, armature, base: str, *, moves: tuple[str, ...] | None = None, is_clip=False) -> None:
        """Send an armature.

        Args:
            client: The connection to poise.
            armature: The armature object.
            base: Name of the bone by which the body moves as a whole; empty to find it.
            moves: Names of the bones that change their places; None for the base alone.
            is_clip: Whether the armature only lends its animation, so that locks and limits do not count.
        """
        self.client, self.name = client, armature.name
        names = sent_bones(armature)
        self.parents = _parents(armature, names)
        self.bones = sorted(names, key=lambda name: len(_above(name, self.parents)))
        self.sent_world = armature.matrix_world.copy()
        self.scale = _scale(armature)
        self.base = base or found_base(self.bones, self.parents)
        if self.base and self.base not in self.bones:
            raise ReportedError(
                f"the bone {self.base!r}, by which the body moves, is not among the bones that are sent."
            )
        movers = set(moves if moves is not None else ([self.base] if self.base else []))
        above = set() if is_clip else _above(self.base, self.parents)
        tables = [self._table(armature, name, name in movers, name in above, is_clip) for name in self.bones]
        answer = client.ask(do="figure", name=armature.name, up="z", bones=tables)
        self.handle, self.is_person = answer["figure"], answer.get("person", False)
        """Its number, and whether it is built like a person, so that it can move naturally."""
        self._rows = {bone.name: i for i, bone in enumerate(armature.data.bones)}
        self._rest = np.array([armature.data.bones[name].matrix_local for name in self.bones])
        self._above = np.array(
            [self.bones.index(self.parents[name]) if self.parents[name] else -1 for name in self.bones]
        )
        self._direct = {name: _is_direct(armature.pose.bones[name], self.parents[name]) for name in self.bones}
        self._written: dict[str, tuple] = {}

    def _table(self, armature, name: str, moves: bool, fixed: bool, is_clip: bool) -> dict:
        bone, posed = armature.data.bones[name], armature.pose.bones[name]
        matrix = self.sent_world @ bone.matrix_local
        table = {"name": name, "matrix": [list(row) for row in matrix], "length": bone.length * self.scale}
        if self.parents[name]:
            table["parent"] = self.parents[name]
        table["moves"] = moves
        if fixed:
            table["limits"] = {axis: [0.0, 0.0] for axis in AXES}
        elif not moves and not is_clip and (limits := _limits(posed)):
            table["limits"] = limits
        return table

    def placed(self, armature) -> Matrix:
        """Takes points of the present world to the world in which the armature was sent."""
        return self.sent_world @ armature.matrix_world.inverted_safe()

    @property
    def indirect(self) -> list[str]:
        """Bones whose pose Blender does not compose as poise does: others are in between, or nothing is inherited."""
        return [name for name, direct in self._direct.items() if not direct]

    # Out of Blender

    def pose(self, armature) -> dict:
        """The present pose, with constraints, as a message has it."""
        rotations, places = self.channels(self.matrices(armature)[None])
        along = {self.base: places[0, self.bones.index(self.base)]} if self.base else {}
        return {"rotations": rotations[0], "locations": along}

    def matrices(self, armature) -> np.ndarray:
        """(bones, 4, 4) the present pose in the armature's space, as it is evaluated."""
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        flat = np.empty(16 * len(seen.pose.bones), dtype=np.float32)
        seen.pose.bones.foreach_get("matrix", flat)
        every = flat.reshape(-1, 4, 4).transpose(0, 2, 1).astype(np.float64)  # columns come first
        rows = {bone.name: i for i, bone in enumerate(seen.pose.bones)}
        return every[[rows[name] for name in self.bones]]

    def channels(self, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations and places against the rest, in the bones' own axes.

        Args:
            matrices: (frames, bones, 4, 4) poses in the armature's space.

        Returns:
            (frames, bones, 4) and (frames, bones, 3), in metres.
        """
        inner = self._above >= 0
        rest_above, above = self._rest[self._above], matrices[:, self._above]
        rest_above[~inner], above[:, ~inner] = np.eye(4), np.eye(4)
        rest = np.linalg.inv(rest_above) @ self._rest
        local = np.linalg.inv(rest) @ np.linalg.inv(above) @ matrices
        turns = local[..., :3, :3] / np.linalg.norm(local[..., :3, :3], axis=-2, keepdims=True)
        return quaternions(turns), self.scale * local[..., :3, 3]

    # Back to Blender

    def apply(self, armature, rotations: np.ndarray, locations: dict) -> None:
        """Give the bones a pose that poise has answered."""
        indirect = bool(self.indirect)
        matrices = {}
        for row, name in enumerate(self.bones):
            posed, turn = armature.pose.bones[name], Quaternion(rotations[row])
            place = Vector(locations[name]) / self.scale if name in locations else Vector()
            if indirect:
                turn, place = self._through_other_bones(armature, matrices, row, turn, place)
            if place.length_squared > 0.0 or posed.location.length_squared > 0.0:
                posed.location = place
            turn_bone(posed, turn)
            self._written[name] = _state(posed)

    def _through_other_bones(self, armature, matrices: dict, row: int, turn, place):
        """Rotation and place of a bone against its own parent in Blender, which poise does not know."""
        name = self.bones[row]
        bone, parent = armature.data.bones[name], self.parents[name]
        local = Matrix.LocRotScale(place, turn, None)
        rest = armature.data.bones[parent].matrix_local.inverted() @ bone.matrix_local if parent else bone.matrix_local
        matrices[name] = (matrices[parent] if parent else Matrix()) @ rest @ local
        if self._direct[name]:
            return turn, place
        posed = armature.pose.bones[name]
        if posed.parent is None:
            basis = bone.convert_local_to_pose(matrices[name], bone.matrix_local, invert=True)
        else:
            basis = bone.convert_local_to_pose(
                matrices[name],
                bone.matrix_local,
                parent_matrix=_posed_matrix(posed.parent, matrices),
                parent_matrix_local=posed.parent.bone.matrix_local,
                invert=True,
            )
        return basis.to_quaternion(), basis.to_translation()

    def was_changed(self, armature) -> bool:
        """Whether bones have other rotations than those that were applied last."""
        return any(_state(armature.pose.bones[name]) != state for name, state in self._written.items())

    def note_pose(self, armature) -> None:
        """Take the present pose for one that was applied."""
        self._written = {name: _state(armature.pose.bones[name]) for name in self.bones}

    def forget(self) -> None:
        """Let poise forget the armature."""
        self.client.ask(do="forget", figure=self.handle)

    def mute(self, armature) -> None:
        """Mute the constraints of the bones, besides limits, which poise keeps."""
        for name in self.bones:
            for each in armature.pose.bones[name].constraints:
                each.mute = each.mute or each.type != "LIMIT_ROTATION"

    def warnings(self, armature) -> list[str]:
        """Sentences about what will not work as one may think."""
        bound = [name for name in self.bones if _is_bound(armature.pose.bones[name])]
        found = []
        if bound:
            found.append(
                f"bones have constraints ({len(bound)}, such as {bound[0]!r}) that decide about their pose in the end: "
                "mute those that are in the way."
            )
        roots = [name for name in self.bones if not self.parents[name]]
        if len(roots) > 1:
            found.append(
                f"there are {len(roots)} roots ({', '.join(roots[:3])}, …): parts of them do not move each other."
            )
        return found


def sent_bones(armature) -> list[str]:
    """Names of the bones that poise poses: those that deform, if there are others too."""
    every = list(armature.data.bones)
    deforming = [bone.name for bone in every if bone.use_deform]
    chosen = deforming if deforming else [bone.name for bone in every]
    if not chosen:
        raise ReportedError(f"the armature {armature.name!r} has no bones.")
    return chosen


def _parents(armature, names: list[str]) -> dict[str, str]:
    """The parent of each bone among these: its nearest ancestor, or the bone in the place of an ancestor; "" for none.

    In many rigs, a deforming bone has a control bone as parent, and another deforming bone lies in the same place.
    """
    bones, chosen = armature.data.bones, set(names)
    found = {}
    for name in names:
        parent = bones[name].parent
        while parent is not None and parent.name not in chosen:
            same = next((other for other in names if other != name and _lie_together(bones[other], parent)), None)
            if same is not None and not _is_below(bones[same], bones[name]):
                parent = bones[same]
                break
            parent = parent.parent
        found[name] = parent.name if parent is not None else ""
    return found


def _lie_together(one, other) -> bool:
    most = SAME_PLACE * one.length
    return (one.head_local - other.head_local).length < most and (one.tail_local - other.tail_local).length < most


def _is_below(bone, other) -> bool:
    return any(parent == other for parent in bone.parent_recursive)


def found_base(names: list[str], parents: dict[str, str]) -> str:
    """The first bone, from the root down, from which the body branches; "" for a single chain."""
    below: dict[str, list[str]] = {name: [] for name in ["", *names]}
    for name in names:
        below[parents[name]].append(name)
    roots = sorted(below[""], key=lambda root: -_count(root, below))
    bone = roots[0]
    while len(below[bone]) == 1:
        bone = below[bone][0]
    return bone if below[bone] else ""


def _count(bone: str, below: dict[str, list[str]]) -> int:
    return 1 + sum(_count(child, below) for child in below[bone])


def _above(base: str, parents: dict[str, str]) -> set[str]:
    """The bones from a bone's parent up to the root; for no bone, none."""
    found = set()
    while base and parents[base]:
        base = parents[base]
        found.add(base)
    return found


def _scale(armature) -> float:
    """The scale of an armature object, the same along all axes."""
    x, y, z = armature.matrix_world.to_scale()
    if min(x, y, z) < LEAST_SCALE or max(x, y, z) > 1.001 * min(x, y, z) or armature.matrix_world.determinant() < 0.0:
        raise ReportedError(
            f"the scale of {armature.name!r} is ({x:.3g}, {y:.3g}, {z:.3g}): apply it first (Ctrl A, Scale)."
        )
    return (x + y + z) / 3.0


def _limits(posed) -> dict:
    """Locked axes and limits of a bone, as its inverse kinematics panel and Limit Rotation constraints have them."""
    found = {}
    for axis in AXES:
        if getattr(posed, f"lock_ik_{axis}"):
            found[axis] = [0.0, 0.0]
        elif getattr(posed, f"use_ik_limit_{axis}"):
            found[axis] = [getattr(posed, f"ik_min_{axis}"), getattr(posed, f"ik_max_{axis}")]
    for constraint in posed.constraints:
        if constraint.type == "LIMIT_ROTATION" and not constraint.mute and constraint.owner_space == "LOCAL":
            for axis in AXES:
                if getattr(constraint, f"use_limit_{axis}"):
                    low, high = getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")
                    found.setdefault(axis, [min(low, 0.0), max(high, 0.0)])
    return found


def _is_bound(posed) -> bool:
    """Whether a bone has constraints besides limits, which poise keeps."""
    return any(not each.mute and each.type != "LIMIT_ROTATION" for each in posed.constraints)


def _is_direct(posed, parent: str) -> bool:
    """Whether Blender composes the bone's pose as poise does."""
    own = posed.parent.name if posed.parent is not None else ""
    bone = posed.bone
    plain = bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location
    return own == parent and (plain or not own)


def _posed_matrix(posed, matrices: dict) -> Matrix:
    """The pose of a bone that poise does not know: as it is, unless a bone that poise knows carries it."""
    if posed.name in matrices:
        return matrices[posed.name]
    bone = posed.bone
    if not any(parent.name in matrices for parent in posed.parent_recursive):
        seen = posed.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return seen.pose.bones[posed.name].matrix.copy()
    return bone.convert_local_to_pose(
        posed.matrix_basis,
        bone.matrix_local,
        parent_matrix=_posed_matrix(posed.parent, matrices),
        parent_matrix_local=posed.parent.bone.matrix_local,
    )


def turn_bone(posed, turn: Quaternion) -> None:
    """Give a bone a rotation in its own mode, near to the one it has."""
    mode = posed.rotation_mode
    if mode == "QUATERNION":
        now = posed.rotation_quaternion
        posed.rotation_quaternion = -turn if now.dot(turn) < 0.0 else turn
    elif mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        posed.rotation_axis_angle = (angle, *axis)
    else:
        posed.rotation_euler = turn.to_euler(mode, posed.rotation_euler)


def _state(posed) -> tuple:
    """What a pose sets of a bone."""
    return (*posed.rotation_quaternion, *posed.rotation_euler, *posed.rotation_axis_angle, *posed.location)


def quaternions(matrices: np.ndarray) -> np.ndarray:
    """(..., 4) rotations w, x, y, z of matrices (..., 3, 3).

    Of the four ways to compute them, the one that divides by the largest number is taken.
    """
    m = matrices
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    ways = np.stack(
        [
            np.stack([1.0 + xx + yy + zz, a, b, c], axis=-1),
            np.stack([a, 1.0 + xx - yy - zz, d, e], axis=-1),
            np.stack([b, d, 1.0 - xx + yy - zz, f], axis=-1),
            np.stack([c, e, f, 1.0 - xx - yy + zz], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(np.diagonal(ways, axis1=-2, axis2=-1), axis=-1)
    found = np.take_along_axis(ways, best[..., None, None], axis=-2)[..., 0, :]
    return found / np.linalg.norm(found, axis=-1, keepdims=True)
