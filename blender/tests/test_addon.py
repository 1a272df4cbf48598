# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on as an animator uses it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
import pytest
from conftest import POISE
from mathutils import Quaternion
from people import armature, person

FRAMES = 120


def add_pins(rig) -> dict:
    """Pins that hold both feet, and one that pulls the right hand, by the name of the bone."""
    found = {}
    for bone, turns, priority in (("foot.L", True, 1), ("foot.R", True, 1), ("hand.R", False, 2)):
        bpy.ops.poise.add_target(kind="PIN", bone=bone, turns=turns)
        empty = bpy.data.objects[f"Pin {bone}"]
        empty.poise.priority = priority
        found[bone] = empty
    bpy.context.view_layer.update()
    return found


def path(start, k: int) -> list[float]:
    """Where the hand is pulled in frame k: down to the front, and up again."""
    turn = math.pi * k / (FRAMES - 1)
    return [start[0] + 0.3 * math.sin(turn), start[1] - 0.5 * math.sin(turn), start[2] - 0.9 * math.sin(turn)]


def follow(session) -> None:
    """Let the character follow until it rests, however long the answers take."""
    for _ in range(200):
        session.live.tick()
        while session.live._waits:
            session.live.tick()
        if session.live._rests:
            return
    pytest.fail("the character does not come to rest")


def matrices(rig) -> dict[str, np.ndarray]:
    bpy.context.view_layer.update()
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: np.array(rig.matrix_world @ bone.matrix) for bone in seen.pose.bones}


def pose_at_start(session, rig) -> dict:
    """The pose of an armature as the add-on sends it: rotations as Blender has them, in numbers of 32 bits."""
    found = session.session.rig(rig).pose(rig)
    return {"rotations": found["rotations"].tolist(), "locations": {k: list(v) for k, v in found["locations"].items()}}


def reference(rig, begin: dict, pins: dict, points: list, steps: int, *, natural: bool) -> list[dict[str, np.ndarray]]:
    """What poise finds by itself for the same problem, from the pose `begin`."""
    bones = []
    for bone in rig.data.bones:
        table = {"name": bone.name, "matrix": [list(row) for row in bone.matrix_local], "length": bone.length}
        bones.append(table | ({"parent": bone.parent.name} if bone.parent else {}))
    feet = [
        {
            "bone": bone,
            "at": list(pins[bone].matrix_world.translation),
            "turned": list(pins[bone].matrix_world.to_quaternion()),
        }
        for bone in ("foot.L", "foot.R")
    ]
    problem = {
        "bones": bones,
        "feet": feet,
        "hand": "hand.R",
        "path": points,
        "steps": steps,
        "natural": natural,
        "pose": begin,
    }
    script = Path(__file__).with_name("reference.py")
    done = subprocess.run(
        [os.environ["POISE_PYTHON"], script], input=json.dumps(problem), capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    return [dict(zip(found["bones"], map(np.array, frame), strict=True)) for frame in found["frames"]]


def largest_gap(found: dict, wanted: dict) -> float:
    """Largest difference of a place [m] or of an entry of a rotation matrix.

    Blender's matrices are rotations up to 2e-6 only, already at rest: the nearest rotations are compared.
    """
    places = max(float(np.abs(found[bone] - wanted[bone])[:3, 3].max()) for bone in wanted)
    turns = max(float(np.abs(nearest_rotation(found[bone]) - wanted[bone][:3, :3]).max()) for bone in wanted)
    return max(places, turns)


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    u, _, v = np.linalg.svd(matrix[:3, :3])
    return u @ v


@pytest.mark.parametrize("rest", ["NATURAL", "RETURN"])
def test_sixty_bones_follow_a_hand_live_as_poise_itself_has_them(scene, session, rest):
    rig, scene.poise_rest = person(), rest
    assert len(rig.data.bones) == 60
    pins = add_pins(rig)
    start, begun = list(pins["hand.R"].location), pose_at_start(session, rig)
    bpy.ops.poise.live()
    seen, points, spent = [], [], 0.0
    for k in range(FRAMES):
        pins["hand.R"].location = path(start, k)
        bpy.context.view_layer.update()
        points.append(list(pins["hand.R"].matrix_world.translation))
        begin = time.perf_counter()
        while not session.live.tick() and session.live._waits:
            pass
        spent += time.perf_counter() - begin
        seen.append(matrices(rig))
    bpy.ops.poise.live()
    rate = FRAMES / spent
    # The first look solves for the place where the hand is.
    wanted = reference(rig, begun, pins, [start, *points], session.LIVE_STEPS, natural=rest == "NATURAL")[1:]
    gap = max(largest_gap(found, want) for found, want in zip(seen, wanted, strict=True))
    print(f"\n{rate:.0f} round trips a second; largest difference of a matrix from poise's: {gap:.1e}")
    assert gap < 1e-6
    moved = seen[FRAMES // 2]["hand.R"][:3, 3] - seen[0]["hand.R"][:3, 3]
    assert np.linalg.norm(moved) > 0.5


@pytest.mark.parametrize("rest", ["NATURAL", "RETURN"])
def test_baked_keys_are_poses_of_poise_and_no_other_action_changes(scene, session, rest):
    rig, scene.poise_rest = person(), rest
    pins = add_pins(rig)
    scene.frame_end = FRAMES
    start = list(pins["hand.R"].location)
    for k in range(FRAMES):
        pins["hand.R"].location = path(start, k)
        pins["hand.R"].keyframe_insert("location", frame=k + 1)
    for curve in curves(pins["hand.R"].animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    other = bpy.data.actions.new("other")
    walker = person("walker")
    walker.animation_data_create().action = other
    walker.pose.bones["head"].rotation_mode = "XYZ"
    walker.pose.bones["head"].keyframe_insert("rotation_euler", frame=3)
    before = keys_of(other), keys_of(pins["hand.R"].animation_data.action)
    bpy.context.view_layer.objects.active = rig
    begun = pose_at_start(session, rig)
    bpy.ops.poise.bake()
    action = rig.animation_data.action
    assert action not in (other, pins["hand.R"].animation_data.action)
    assert (keys_of(other), keys_of(pins["hand.R"].animation_data.action)) == before
    seen, points = [], []
    for k in range(FRAMES):
        scene.frame_set(k + 1)
        points.append(list(pins["hand.R"].matrix_world.translation))
        seen.append(matrices(rig))
    assert all(len(curve.keyframe_points) == FRAMES for curve in curves(action))
    wanted = reference(rig, begun, pins, points, 200, natural=rest == "NATURAL")
    gap = max(largest_gap(found, want) for found, want in zip(seen, wanted, strict=True))
    print(f"\nlargest difference of a baked matrix from poise's: {gap:.1e}")
    assert gap < 1e-6


def curves(action) -> list:
    return [
        curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves
    ]


def keys_of(action) -> list:
    return [
        (each.data_path, each.array_index, [tuple(key.co) for key in each.keyframe_points]) for each in curves(action)
    ]


def test_undo_restores_what_was_before_the_bake(scene):
    rig = person()
    add_pins(rig)
    bpy.data.objects["Pin hand.R"].location.z -= 0.5
    scene.frame_end = 3
    bpy.ops.ed.undo_push(message="before")
    before = {bone.name: tuple(bone.rotation_quaternion) for bone in rig.pose.bones}
    bpy.ops.poise.bake()
    bpy.ops.ed.undo_push(message="bake")
    rig = bpy.data.objects["person"]
    assert {bone.name: tuple(bone.rotation_quaternion) for bone in rig.pose.bones} != before
    bpy.ops.ed.undo()
    rig = bpy.data.objects["person"]
    assert {bone.name: tuple(bone.rotation_quaternion) for bone in rig.pose.bones} == before
    assert rig.animation_data is None or rig.animation_data.action is None
    bpy.context.view_layer.objects.active = rig
    bpy.ops.poise.bake()  # goes on working after an undo


def test_undo_takes_a_drag_back_while_the_character_follows(scene, session):
    rig = person()
    add_pins(rig)
    bpy.ops.poise.live()
    follow(session)
    bpy.ops.ed.undo_push(message="before")
    before = {bone.name: tuple(bone.rotation_quaternion) for bone in rig.pose.bones}
    bpy.data.objects["Pin hand.R"].location.z -= 0.5
    bpy.context.view_layer.update()
    follow(session)
    bpy.ops.ed.undo_push(message="drag")
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    now = {bone.name: tuple(bone.rotation_quaternion) for bone in bpy.data.objects["person"].pose.bones}
    assert now == before
    follow(session)  # the figure of poise goes back too
    rig = bpy.data.objects["person"]
    for name, rotation in before.items():
        np.testing.assert_allclose(rig.pose.bones[name].rotation_quaternion, rotation, atol=1e-5)


def test_the_timer_of_the_live_mode_ends_it_when_poise_is_gone(scene, session):
    rig = person()
    add_pins(rig)
    bpy.ops.poise.live()
    assert bpy.app.timers.is_registered(session.look)
    assert session.look() == session.TICK
    session.session.client._process.kill()
    session.session.client._process.wait()
    rig.pose.bones["hips"].location.x = 0.1
    bpy.context.view_layer.update()
    assert session.look() is None
    assert "poise" in session.session.sentence
    assert not session.live.is_on


def test_only_deforming_bones_of_a_rig_are_sent(scene, session):
    bones = [("root", None, (0, 0, 0), (0, 0.2, 0)), ("ctl", "root", (0, 0, 1), (0, 0, 1.5))]
    bones += [("DEF-hip", "root", (0, 0, 1), (0, 0, 1.5)), ("DEF-leg", "ctl", (0, 0, 1), (0.1, 0, 0.5))]
    bones += [("DEF-arm", "ctl", (0, 0, 1.5), (0.5, 0, 1.5))]
    rig = armature("rig", bones)
    for name in ("root", "ctl"):
        rig.data.bones[name].use_deform = False
    rig.pose.bones["ctl"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)  # between them, but not sent
    bpy.ops.poise.send()
    sent = session.session.rigs["rig"]
    assert set(sent.bones) == {"DEF-hip", "DEF-leg", "DEF-arm"}
    assert sent.parents == {"DEF-hip": "", "DEF-leg": "DEF-hip", "DEF-arm": "DEF-hip"}
    assert sent.base == "DEF-hip"
    bpy.ops.poise.add_target(kind="PIN", bone="DEF-arm")
    pin = bpy.data.objects["Pin DEF-arm"]
    pin.poise.end = "TAIL"
    pin.location = (0.3, -0.2, 1.9)
    scene.poise_rest = "STAY"
    bpy.context.view_layer.update()
    bpy.ops.poise.live()
    follow(session)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(rig.pose.bones["DEF-arm"].tail, (0.3, -0.2, 1.9), atol=1e-5)
    for frame, turn in ((1, 0.0), (5, 0.8)):  # a control that moves them while they are baked
        rig.pose.bones["ctl"].rotation_quaternion = Quaternion((1, 0, 0), turn)
        rig.pose.bones["ctl"].keyframe_insert("rotation_quaternion", frame=frame)
    old = rig.animation_data.action
    bpy.ops.poise.bake(first=1, last=5)
    for frame in range(1, 6):
        scene.frame_set(frame)
        np.testing.assert_allclose(rig.pose.bones["DEF-arm"].tail, (0.3, -0.2, 1.9), atol=1e-5)
    assert rig.pose.bones["ctl"].rotation_quaternion.angle > 0.7  # goes on as it did
    track = next(curve for curve in curves(rig.animation_data.action) if curve.data_path.endswith('DEF-arm"].location'))
    assert len(track.keyframe_points) == 5
    assert old.use_fake_user


def test_the_deforming_bones_of_a_rig_by_rigify_are_one_body(scene, session):
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.poise.send(mute=True)
    sent = session.session.rigs[rig.name]
    assert len(sent.bones) == sum(bone.use_deform for bone in rig.data.bones) < len(rig.data.bones)
    assert [bone for bone in sent.bones if not sent.parents[bone]] == ["DEF-spine"]
    assert sent.base == "DEF-spine"
    assert sent.warnings(rig) == []
    for bone, turns in (("DEF-foot.L", True), ("DEF-foot.R", True), ("DEF-hand.R", False)):
        bpy.ops.poise.add_target(kind="PIN", bone=bone, turns=turns)
    bpy.data.objects["Pin DEF-hand.R"].location.z -= 0.4
    bpy.context.view_layer.update()
    bpy.ops.poise.live()
    follow(session)
    bpy.context.view_layer.update()
    for bone in ("DEF-foot.L", "DEF-foot.R", "DEF-hand.R"):
        place = bpy.data.objects[f"Pin {bone}"].location
        np.testing.assert_allclose(rig.pose.bones[bone].head, place, atol=1e-4)


def test_locks_and_limits_of_bones_are_kept(scene, session):
    rig = person()
    knee = rig.pose.bones["shin.R"]
    knee.lock_ik_y = knee.lock_ik_z = True
    knee.use_ik_limit_x, knee.ik_min_x, knee.ik_max_x = True, -0.2, 0.5
    neck = rig.pose.bones["neck"].constraints.new("LIMIT_ROTATION")
    neck.owner_space, neck.use_limit_y, neck.min_y, neck.max_y = "LOCAL", True, -0.1, 0.1
    copied = rig.pose.bones["jaw"].constraints.new("COPY_ROTATION")
    pins = add_pins(rig)
    bpy.ops.poise.add_target(kind="LOOK", bone="head")
    bpy.data.objects["Look at by head"].location = (-5.0, 5.0, 1.6)  # behind
    pins["foot.R"].location.z += 0.3
    bpy.context.view_layer.update()
    bpy.ops.poise.live()
    follow(session)
    turn = knee.rotation_quaternion
    assert abs(turn.y) + abs(turn.z) < 1e-6
    assert -0.2 - 1e-5 <= 2.0 * math.atan2(turn.x, turn.w) <= 0.5 + 1e-5
    turn = rig.pose.bones["neck"].rotation_quaternion
    assert abs(2.0 * math.atan2(turn.y, turn.w)) <= 0.1 + 1e-5
    (sentence,) = session.session.rigs["person"].warnings(rig)
    assert "bones have constraints (1, such as 'jaw')" in sentence
    copied.mute = True
    assert session.session.rigs["person"].warnings(rig) == []


def test_an_armature_may_be_scaled_moved_and_in_any_mode_of_rotation(scene, session):
    rig = person("giant", size=100.0)
    rig.scale, rig.location, rig.rotation_euler = (0.01, 0.01, 0.01), (1, 2, 0), (0, 0, 0.7)
    for bone, mode in zip(rig.pose.bones, ("XYZ", "ZXY", "AXIS_ANGLE", "QUATERNION") * 15, strict=True):
        bone.rotation_mode = mode
    bpy.context.view_layer.update()
    pins = add_pins(rig)
    pins["hand.R"].location += type(pins["hand.R"].location)((0.2, -0.1, -0.4))
    bpy.context.view_layer.update()
    bpy.ops.poise.live()
    follow(session)
    now = matrices(rig)
    np.testing.assert_allclose(now["hand.R"][:3, 3], pins["hand.R"].location, atol=1e-4)
    rig.location.x += 0.25  # while it follows: the feet are still pinned in the world
    bpy.context.view_layer.update()
    follow(session)
    np.testing.assert_allclose(matrices(rig)["foot.L"][:3, 3], pins["foot.L"].matrix_world.translation, atol=1e-4)
    rig.scale.x = 0.02
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="apply it first"):
        bpy.ops.poise.send()


def test_a_pose_that_the_animator_changes_is_where_poise_goes_on(scene, session):
    rig = person()
    add_pins(rig)
    bpy.ops.poise.live()
    follow(session)
    assert not session.live.tick()  # at rest, and nothing has moved
    rig.pose.bones["hips"].location = (0.1, 0.0, 0.1)
    bpy.context.view_layer.update()
    follow(session)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(rig.pose.bones["foot.L"].head, (0.09, 0.0, 0.08), atol=1e-5)


def test_looking_and_balancing(scene, session):
    rig = person()
    add_pins(rig)
    bpy.ops.poise.add_target(kind="LOOK", bone="head")
    look = bpy.data.objects["Look at by head"]
    assert look.poise.sight == "z"  # its front
    look.location = (0.8, -1.5, 1.2)
    bpy.ops.poise.add_target(kind="BALANCE")
    balance = bpy.data.objects["Balance of person"]
    assert abs(balance.location.x) < 1e-6
    assert balance.poise.priority == 2
    bpy.context.view_layer.update()
    bpy.ops.poise.live()
    follow(session)
    head = matrices(rig)["head"]
    wanted = np.array(look.location) - head[:3, 3]
    assert head[:3, 2] @ wanted / np.linalg.norm(wanted) > 1.0 - 1e-6
    balance.poise.active = False  # the tasks are others now
    follow(session)
    assert "Balance of person" not in session.live._seen
    assert len(session.live._seen) == 4


def animated(rig, frames: int) -> None:
    """Lift an arm, step to the side."""
    for k in range(frames):
        rig.pose.bones["upper_arm.R"].rotation_quaternion = Quaternion((1, 0, 0), 0.03 * k)
        rig.pose.bones["hips"].location.x = 0.01 * k
        rig.pose.bones["upper_arm.R"].keyframe_insert("rotation_quaternion", frame=k + 1)
        rig.pose.bones["hips"].keyframe_insert("location", frame=k + 1)


def test_an_action_is_retargeted_from_another_armature(scene):
    source = person("source")
    animated(source, 20)
    scene.frame_end = 20
    before = keys_of(source.animation_data.action)
    small = person("small", size=0.5)
    bpy.ops.poise.retarget(source="source")
    assert keys_of(source.animation_data.action) == before
    poses = []
    for frame in (1, 20):
        scene.frame_set(frame)
        poses.append(matrices(small))
    lifted = poses[1]["forearm.R"][:3, 3] - poses[0]["forearm.R"][:3, 3]
    assert np.linalg.norm(lifted) > 0.05
    assert abs(poses[1]["hips"][0, 3] - poses[0]["hips"][0, 3]) > 0.02


def test_an_action_gazes_at_an_object(scene):
    rig = person()
    animated(rig, 10)
    scene.frame_end = 10
    first = rig.animation_data.action
    before = keys_of(first)
    ball = bpy.data.objects.new("ball", None)
    scene.collection.objects.link(ball)
    ball.location = (1.0, -2.0, 1.0)
    bpy.ops.poise.gaze(at="ball", bone="head")
    assert rig.animation_data.action != first
    assert keys_of(first) == before
    for frame in range(1, 11):
        scene.frame_set(frame)
        now = matrices(rig)
        wanted = np.array(ball.location) - now["head"][:3, 3]
        assert now["head"][:3, 2] @ wanted / np.linalg.norm(wanted) > 1.0 - 1e-5
        turn = rig.pose.bones["upper_arm.R"].rotation_quaternion
        assert abs(turn.dot(Quaternion((1, 0, 0), 0.03 * (frame - 1)))) > 1.0 - 1e-6


def test_a_lamp_of_hinges_moves_servos_in_a_dry_run(scene, session, tmp_path):
    bones = [("base", None, (0, 0, 0), (0, 0, 0.1))]
    bones += [
        (f"b{k}", "base" if k == 0 else f"b{k - 1}", (0, 0, 0.1 + 0.2 * k), (0, 0, 0.3 + 0.2 * k)) for k in range(4)
    ]
    lamp = armature("lamp", bones)
    for k, bone in enumerate(lamp.pose.bones):
        bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z = (True, False, True) if k == 0 else (False, True, True)
    bpy.ops.poise.add_target(kind="PIN", bone="b3")
    (tmp_path / "servos.toml").write_text('[[servo]]\njoint = "b1"\nchannel = 4\nspeed = 90\n')
    scene.poise_servo_file = str(tmp_path / "servos.toml")
    bpy.ops.poise.stream(to="firmata:/dev/none")
    assert session.live.streams
    for k in range(60):
        bpy.data.objects["Pin b3"].location = (0.005 * k, 0, 0.6)
        bpy.context.view_layer.update()
        session.live.tick()
        time.sleep(0.01)
    session.session.client.ask(do="hello")
    assert session.session.client.events
    bpy.ops.poise.stream()
    assert not session.live.streams


def test_what_goes_wrong_is_reported(scene, session):
    with pytest.raises(RuntimeError, match="Choose an armature"):
        bpy.ops.poise.send()
    rig = person()
    with pytest.raises(RuntimeError, match="has no targets yet"):
        bpy.ops.poise.bake()
    with pytest.raises(RuntimeError, match="has no bone 'hnd'"):
        bpy.ops.poise.add_target(kind="PIN", bone="hnd")
    with pytest.raises(RuntimeError, match="Choose another armature"):
        bpy.ops.poise.retarget()
    with pytest.raises(RuntimeError, match="names no robot"):
        add_pins(rig)
        bpy.ops.poise.stream(to="nowhere")
    rig.poise_base = "nobody"
    with pytest.raises(RuntimeError, match="'nobody'"):
        bpy.ops.poise.send()


def test_a_server_that_dies_is_said_and_can_be_started_again(scene, session):
    rig = person()
    add_pins(rig)
    session.session.client._process.kill()
    session.session.client._process.wait()
    with pytest.raises(RuntimeError, match=r"(?i)poise"):
        bpy.ops.poise.bake()
    bpy.ops.poise.start()
    bpy.ops.poise.bake(first=1, last=2)


def test_without_poise_it_is_said_how_to_get_it(addon, session):
    session.session.stop()
    preferences = bpy.context.preferences.addons[addon.__name__].preferences
    for wrong in ("/no/such/poise", sys.executable):
        preferences.command = wrong
        with pytest.raises(RuntimeError, match=r"(?i)poise"):
            bpy.ops.poise.start()
    preferences.command = POISE
    with pytest.raises(RuntimeError, match="press Start"):
        person()
        bpy.ops.poise.send()


def test_the_server_is_gone_when_it_is_stopped(scene, session):
    process = session.session.client.process_id
    bpy.ops.poise.stop()
    with pytest.raises(OSError):
        os.kill(process, 0)


def test_poise_itself_is_not_imported(scene):
    assert "poise" not in sys.modules
    assert "numba" not in sys.modules
