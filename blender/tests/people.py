# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures for the tests."""

from __future__ import annotations

import bpy


def person_bones() -> list[tuple]:
    """Name, parent, head and tail of sixty bones: z up, facing -y, arms spread."""
    found = [("hips", None, (0, 0, 0.95), (0, 0, 1.05))]
    above, z = "hips", 1.05
    for name in ("spine1", "spine2", "spine3", "chest", "neck", "head"):
        size = 0.2 if name == "head" else 0.1
        found.append((name, above, (0, 0, z), (0, 0, z + size)))
        above, z = name, z + size
    found.append(("jaw", "head", (0, -0.02, 1.58), (0, -0.1, 1.55)))
    for side, s in (("L", 1), ("R", -1)):
        found += [
            (f"eye.{side}", "head", (0.03 * s, -0.08, 1.65), (0.03 * s, -0.1, 1.65)),
            (f"shoulder.{side}", "chest", (0.02 * s, 0, 1.42), (0.18 * s, 0, 1.42)),
            (f"upper_arm.{side}", f"shoulder.{side}", (0.18 * s, 0, 1.42), (0.46 * s, 0.02, 1.42)),
            (f"forearm.{side}", f"upper_arm.{side}", (0.46 * s, 0.02, 1.42), (0.72 * s, 0, 1.42)),
            (f"hand.{side}", f"forearm.{side}", (0.72 * s, 0, 1.42), (0.80 * s, 0, 1.42)),
            (f"breast.{side}", "chest", (0.07 * s, -0.1, 1.3), (0.07 * s, -0.15, 1.3)),
            (f"pelvis.{side}", "hips", (0, 0, 0.95), (0.09 * s, 0, 0.95)),
            (f"thigh.{side}", "hips", (0.09 * s, 0, 0.95), (0.09 * s, -0.02, 0.5)),
            (f"shin.{side}", f"thigh.{side}", (0.09 * s, -0.02, 0.5), (0.09 * s, 0, 0.08)),
            (f"foot.{side}", f"shin.{side}", (0.09 * s, 0, 0.08), (0.09 * s, -0.12, 0.02)),
            (f"toe.{side}", f"foot.{side}", (0.09 * s, -0.12, 0.02), (0.09 * s, -0.19, 0.02)),
        ]
        for finger in range(5):
            y, parent = -0.04 + 0.02 * finger, f"hand.{side}"
            for k in range(3):
                x, name = 0.80 + 0.03 * k, f"finger{finger + 1}_{k + 1}.{side}"
                found.append((name, parent, (x * s, y, 1.42), ((x + 0.03) * s, y, 1.42)))
                parent = name
    return found


def armature(name: str, bones: list[tuple], *, size: float = 1.0):
    """An armature object, active, in object mode."""
    made = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, parent, head, tail in bones:
        each = made.data.edit_bones.new(bone)
        each.head, each.tail = [size * v for v in head], [size * v for v in tail]
        each.parent = made.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return made


def person(name: str = "person", **more):
    """A person of sixty bones."""
    return armature(name, person_bones(), **more)
