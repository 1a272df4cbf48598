# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions: read as clips, and written anew, so that no other action changes."""

from __future__ import annotations

import bpy
import numpy as np

from .rig import Rig

CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
"""Data path and number of values by the mode of a rotation; other modes have Euler angles."""


def frame_rate(scene) -> float:
    """Frames per second."""
    return scene.render.fps / scene.render.fps_base


def sampled(armature, scene, frames: range, rig: Rig) -> np.ndarray:
    """(frames, bones, 4, 4) poses of an armature at frames, in its own space; the present frame is kept."""
    now, found = scene.frame_current, []
    try:
        for frame in frames:
            scene.frame_set(frame)
            found.append(rig.matrices(armature))
    finally:
        scene.frame_set(now)
    return np.array(found)


def clip_of(rig: Rig, armature, scene, frames: range) -> dict:
    """The animation of an armature as a message has it."""
    rotations, places = rig.channels(sampled(armature, scene, frames, rig))
    along = {rig.base: places[:, rig.bones.index(rig.base)]} if rig.base else {}
    return {"rate": frame_rate(scene), "rotations": rotations, "locations": along}


def write(rig: Rig, scene, name: str, frames, clip: dict):
    """Write poses to a new action and give it to the armature.

    Args:
        rig: The armature as it was sent.
        scene: The scene, whose present frame is kept.
        name: Name of the action.
        frames: Frame of each pose.
        clip: `rotations` (frames, bones, 4) and, by bone, `locations` (frames, 3) against the rest [m].
    """
    rotations, locations = clip["rotations"], clip["locations"]
    armature, now = bpy.data.objects[rig.name], scene.frame_current
    placed = {*locations, *rig.indirect}
    curves: dict[tuple[str, int, str], list[float]] = {}
    for pose, frame in enumerate(frames):
        if rig.indirect:  # bones that poise does not know, and that may be animated, are in between
            scene.frame_set(int(frame), subframe=frame % 1.0)
        rig.apply(armature, rotations[pose], {bone: path[pose] for bone, path in locations.items()})
        for bone in rig.bones:
            posed = armature.pose.bones[bone]
            path, count = CHANNELS.get(posed.rotation_mode, ("rotation_euler", 3))
            for key, many in ((path, count), *([("location", 3)] if bone in placed else [])):
                for index, value in enumerate(getattr(posed, key)[:many]):
                    full = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{key}'
                    curves.setdefault((full, index, bone), []).extend((float(frame), value))
    action, bag, slot = _fresh(armature, name, set(rig.bones))
    groups = {bone: bag.groups.get(bone) or bag.groups.new(bone) for bone in rig.bones}
    for (path, index, bone), pairs in curves.items():
        curve = bag.fcurves.new(path, index=index)
        curve.group = groups[bone]
        curve.keyframe_points.add(len(pairs) // 2)
        curve.keyframe_points.foreach_set("co", pairs)
        curve.keyframe_points.foreach_set("interpolation", [1] * (len(pairs) // 2))  # linear
        curve.update()
    armature.animation_data.action = action
    armature.animation_data.action_slot = slot
    scene.frame_set(now)
    return action


def _fresh(armature, name: str, bones: set[str]):
    """A new action, the channels of the armature in it, and their slot.

    It is a copy of the present one, which other bones and properties go on with, without the curves of these bones.
    """
    data = armature.animation_data_create()
    before = data.action
    if before is None or data.action_slot is None or not before.layers:
        action = bpy.data.actions.new(name)
        slot = action.slots.new("OBJECT", armature.name)
        return action, action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True), slot
    before.use_fake_user = True  # so that it is not lost with its last user
    action = before.copy()
    action.name, action.use_fake_user = name, False
    slot = action.slots[data.action_slot.identifier]
    bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
    replaced = {f'pose.bones["{bpy.utils.escape_identifier(bone)}"]' for bone in bones}
    for curve in list(bag.fcurves):
        owner, _, channel = curve.data_path.rpartition(".")
        if owner in replaced and channel.startswith(("rotation", "location", "scale")):
            bag.fcurves.remove(curve)
    return action, bag, slot
