# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders docs/pictures/blender_pull.png: a person of sixty bones that stands, reaches, looks aside and picks up.

By Cycles, on the processor.

python blender/tests/make_picture.py OUTPUT, in Blender's Python, with POISE set to the poise program.
"""

from __future__ import annotations

import math
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
from mathutils import Matrix, Vector

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from people import person  # noqa: E402

SIZE, SAMPLES = (300, 400), 64
WAY = 12
"""Frames from one picture to the next."""
STAND = (-0.3, -0.05, 0.87)
PICTURES = (
    (STAND, (0.0, -6.0, 1.5)),
    ((-0.25, -0.55, 1.25), (-0.25, -0.55, 1.25)),
    ((-0.35, -0.15, 2.0), (-0.35, -0.15, 2.0)),
    (STAND, (0.75, -0.45, 1.75)),
    ((-0.15, -0.45, 0.12), (-0.15, -0.45, 0.12)),
)
"""Places of the hand and of what the head looks at, in each picture [m]."""
ARM_DOWN = 1.25
"""Angle by which the arms are lowered from the rest pose, in which they are spread [rad]."""


def material(name: str, color: tuple[float, float, float]):
    made = bpy.data.materials.new(name)
    if made.node_tree is None:  # before Blender 5
        made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Roughness"].default_value = 0.6
    return made


def clothe(rig) -> None:
    """Give each bone a rounded solid."""
    skin, joint = material("skin", (0.85, 0.55, 0.3)), material("joint", (0.15, 0.22, 0.35))
    thick = {"hips": 0.1, "spine": 0.11, "chest": 0.13, "head": 0.09, "thigh": 0.07, "shin": 0.05, "upper": 0.045}
    for bone in rig.data.bones:
        if bone.name.startswith("eye"):
            ball(f"{bone.name} seen", 0.022, joint).parent = rig
            bpy.context.object.parent_type, bpy.context.object.parent_bone = "BONE", bone.name
            continue
        if bone.name.startswith(("breast", "pelvis", "jaw")):
            continue
        radius = next((value for word, value in thick.items() if bone.name.startswith(word)), 0.35 * bone.length)
        radius = (
            min(radius, 0.04) if bone.name.startswith(("fore", "hand", "foot", "toe", "neck", "shoulder")) else radius
        )
        bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=16)
        solid = bpy.context.object
        solid.scale = (radius, radius, bone.length / 2.0 + 0.5 * radius)
        solid.rotation_euler = (math.pi / 2.0, 0, 0)
        solid.location = (0, -bone.length / 2.0, 0)  # a child of a bone hangs on its tail
        solid.parent, solid.parent_type, solid.parent_bone = rig, "BONE", bone.name
        solid.data.materials.append(joint if bone.name.startswith(("hips", "spine", "chest", "shoulder")) else skin)
        for face in solid.data.polygons:
            face.use_smooth = True


def ball(name: str, radius: float, made_of):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=16, radius=radius)
    made = bpy.context.object
    made.name = name
    made.data.materials.append(made_of)
    for face in made.data.polygons:
        face.use_smooth = True
    return made


def stage(scene) -> None:
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    bpy.context.object.data.materials.append(material("floor", (0.75, 0.75, 0.75)))
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle, sun.rotation_euler = 3.0, 0.2, (0.7, 0.2, 0.5)
    scene.collection.objects.link(sun)
    scene.world = bpy.data.worlds.new("world")
    if scene.world.node_tree is None:
        scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.8, 0.85, 0.9, 1.0)
    scene.world.node_tree.nodes["Background"].inputs[1].default_value = 0.6
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    camera.location, camera.data.lens = (-2.2, -4.2, 1.4), 62.0
    camera.rotation_euler = (Vector((-0.05, -0.1, 0.98)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.camera = camera
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", SAMPLES, "CPU"
    scene.cycles.use_denoising = True
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.view_settings.view_transform = "Standard"


def main(output: Path) -> None:
    package = ModuleType("poise_addon")
    package.__path__ = [str(HERE.parent)]
    sys.modules["poise_addon"] = package
    bpy.ops.wm.read_homefile(use_empty=True)
    SourceFileLoader("poise_addon", str(HERE.parent / "__init__.py")).exec_module(package)
    package.register()
    scene, rig = bpy.context.scene, person()
    for side, turn in (("L", ARM_DOWN), ("R", -ARM_DOWN)):
        arm = rig.pose.bones[f"upper_arm.{side}"]
        world = Matrix.Rotation(turn, 3, "Y")
        local = arm.bone.matrix_local.to_3x3()
        arm.rotation_quaternion = (local.inverted() @ world @ local).to_quaternion()
    bpy.context.view_layer.update()
    package.session.start(os.environ["POISE"])
    for bone, turns in (("foot.L", True), ("foot.R", True), ("hand.R", False)):
        bpy.ops.poise.add_target(kind="PIN", bone=bone, turns=turns)
    bpy.ops.poise.add_target(kind="LOOK", bone="head")
    bpy.ops.poise.add_target(kind="BALANCE")
    hand, look = bpy.data.objects["Pin hand.R"], bpy.data.objects["Look at by head"]
    hand.poise.priority = look.poise.priority = 3
    for k, (place, seen) in enumerate(PICTURES):
        hand.location, look.location = place, seen
        for empty in (hand, look):
            empty.keyframe_insert("location", frame=1 + WAY * k)
    scene.frame_end = 1 + WAY * (len(PICTURES) - 1)
    bpy.context.view_layer.objects.active = rig
    print(bpy.ops.poise.bake())
    package.session.stop()
    clothe(rig)
    for empty, radius, color in ((hand, 0.05, (0.8, 0.1, 0.1)), (look, 0.045, (0.1, 0.5, 0.2))):
        seen = ball(f"{empty.name} seen", radius, material(f"{empty.name} seen", color))
        seen.constraints.new("COPY_LOCATION").target = empty
    stage(scene)
    rows = []
    for k in range(len(PICTURES)):
        scene.frame_set(1 + WAY * k)
        scene.render.filepath = str(output.with_suffix(f".{k}.png"))
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        rows.append(np.array(image.pixels[:], dtype=np.float32).reshape(SIZE[1], SIZE[0], 4))
        Path(scene.render.filepath).unlink()
    strip = np.concatenate(rows, axis=1)
    image = bpy.data.images.new("strip", strip.shape[1], strip.shape[0])
    image.pixels = strip.ravel().tolist()
    image.filepath_raw, image.file_format = str(output), "PNG"
    image.save()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
