# SPDX-License-Identifier: GPL-3.0-or-later
"""Empties as tasks: pins, things to look at, and the place of the centre of mass."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from .client import ReportedError

KEEP = "keep the pose"
"""Name of the task that brings everything else back to a pose."""
LAST = 1000
"""Its priority."""
KINDS = (
    ("NONE", "No task", "An object without a task"),
    ("PIN", "Pin", "A bone goes to this place"),
    ("LOOK", "Look at", "A bone looks at this place"),
    ("BALANCE", "Balance", "The centre of mass stays above this place"),
)
RESTS = (
    (
        "NATURAL",
        "Moves naturally",
        "As people use the rest of their bodies: they bend their knees for what is low, and return to the pose that "
        "they had. Characters that are no people, and animations that are corrected, return to the pose",
    ),
    ("RETURN", "Returns to the pose", "To the pose that the character had, or that its action has"),
    ("STAY", "Stays", "Where a drag has left it"),
)
ENDS = (("HEAD", "Head", "The beginning of the bone"), ("TAIL", "Tail", "The end of the bone"))
SIGHTS = tuple(
    (word, word.upper(), f"The bone looks along its own {word.upper()}") for word in ("x", "-x", "y", "-y", "z", "-z")
)


class PoiseTarget(bpy.types.PropertyGroup):
    """The task of an empty."""

    kind: bpy.props.EnumProperty(name="Task", items=KINDS, default="NONE")
    armature: bpy.props.PointerProperty(
        name="Armature", type=bpy.types.Object, poll=lambda self, found: found.type == "ARMATURE"
    )
    bone: bpy.props.StringProperty(name="Bone", description="The bone that has the task")
    end: bpy.props.EnumProperty(name="End", items=ENDS, default="HEAD")
    turns: bpy.props.BoolProperty(name="Rotation too", description="The bone also takes the rotation of the empty")
    sight: bpy.props.EnumProperty(name="Looks along", items=SIGHTS, default="z")
    priority: bpy.props.IntProperty(
        name="Priority",
        description="1 comes first; a task never costs one of higher priority anything",
        default=1,
        min=1,
        max=LAST - 1,
    )
    weight: bpy.props.FloatProperty(
        name="Weight", description="Against other tasks of the same priority", default=1.0, min=0.0, soft_max=10.0
    )
    active: bpy.props.BoolProperty(name="Active", description="Whether the task counts", default=True)


def targets_of(armature, scene) -> list:
    """The empties with tasks for an armature, those of the highest priority first."""
    found = [each for each in scene.objects if each.poise.kind != "NONE" and each.poise.armature == armature]
    return sorted((each for each in found if each.poise.active), key=lambda each: (each.poise.priority, each.name))


def tasks(rig, armature, empties, keep: bool) -> list[dict]:
    """The tasks of empties, as messages have them, and with `keep` one for everything else."""
    found = [_task(rig, armature, each) for each in empties]
    if keep:
        found.append({"name": KEEP, "kind": "hold", "posture": {}, "priority": LAST})
    return found


def values(rig, armature, empties) -> dict[str, list[float]]:
    """The targets of the tasks, where the empties are now."""
    placed = rig.placed(armature)
    return {each.name: _value(rig, armature, each, placed @ each.matrix_world) for each in empties}


def signature(empties, rest: str) -> tuple:
    """What tasks are made of, apart from the places of their targets."""
    names = ("kind", "bone", "end", "turns", "sight", "priority", "weight")
    return (rest, *((each.name, *(getattr(each.poise, name) for name in names)) for each in empties))


def _task(rig, armature, empty) -> dict:
    given = empty.poise
    value = values(rig, armature, [empty])[empty.name]
    table = {"name": empty.name, "priority": given.priority, "weight": given.weight}
    if given.kind == "BALANCE":
        return table | {"kind": "center_of_mass", "at": value, "axes": "xy"}
    if given.bone not in rig.bones:
        raise ReportedError(
            f"{empty.name!r} is for the bone {given.bone!r}, which {rig.name!r} does not have or does not send."
        )
    table["site"] = f"{given.bone}.tail" if given.kind == "PIN" and given.end == "TAIL" else given.bone
    if given.kind == "LOOK":
        return table | {"kind": "look_at", "at": value, "axis": given.sight}
    if given.turns:
        return table | {"kind": "frame", "at": value[:3], "turned": value[3:]}
    return table | {"kind": "position", "at": value}


def _value(rig, armature, empty, matrix: Matrix) -> list[float]:
    place = list(matrix.to_translation())
    if empty.poise.kind == "PIN" and empty.poise.turns:
        return [*place, *matrix.to_quaternion()]
    return place


def add(kind: str, armature, bone: str, scene):
    """A new empty with a task, where the bone is now."""
    name = {"PIN": f"Pin {bone}", "LOOK": f"Look at by {bone}", "BALANCE": f"Balance of {armature.name}"}[kind]
    empty = bpy.data.objects.new(name, None)
    scene.collection.objects.link(empty)
    given = empty.poise
    given.kind, given.armature, given.bone = kind, armature, bone
    height = max((b.head_local.length for b in armature.data.bones), default=1.0) * armature.matrix_world.median_scale
    empty.empty_display_size = 0.05 * height
    if kind == "PIN":
        empty.matrix_world = armature.matrix_world @ armature.pose.bones[bone].matrix
        empty.scale = (1.0, 1.0, 1.0)
        empty.empty_display_type = "CUBE"
    elif kind == "LOOK":
        posed = armature.matrix_world @ armature.pose.bones[bone].matrix
        given.sight = facing(armature, bone)
        empty.matrix_world = Matrix.Translation(
            posed @ (_unit(given.sight) * height / armature.matrix_world.median_scale)
        )
        empty.empty_display_type = "SPHERE"
    else:
        given.priority = 2
        empty.empty_display_type = "CIRCLE"
    return empty


def facing(armature, bone: str) -> str:
    """The axis of a bone that points to where characters face by custom, -y of the armature."""
    rotation = armature.data.bones[bone].matrix_local.to_3x3()
    front = rotation.transposed() @ Vector((0.0, -1.0, 0.0))
    return max((sight for sight, *_ in SIGHTS), key=lambda word: _unit(word).dot(front))


def _unit(word: str) -> Vector:
    found = Vector()
    found["xyz".index(word[-1])] = -1.0 if word.startswith("-") else 1.0
    return found
