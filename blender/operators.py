# SPDX-License-Identifier: GPL-3.0-or-later
"""What buttons do; what goes wrong is reported as Blender does."""

from __future__ import annotations

import tomllib
from pathlib import Path

import bpy
import numpy as np

from . import keys, targets
from .client import ReportedError
from .rig import Rig
from .session import Solving, live, session

BAKE_STEPS = 200
"""Largest number of steps of the solver for a frame that is baked."""
MOVED = 1e-4
"""Way of a bone against its parent, as a share of the height of an armature, from which it counts as moving."""


class PoiseOperator(bpy.types.Operator):
    """The base of all operators: a `ReportedError` is reported, and cancels."""

    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        """Do the work, and report what went wrong."""
        try:
            sentence = self.work(context)
        except ReportedError as problem:
            self.report({"ERROR"}, _capital(str(problem)))
            return {"CANCELLED"}
        if sentence:
            self.report({"INFO"}, _capital(sentence))
        return {"FINISHED"}

    def work(self, context) -> str | None:
        """Do the work; returns a sentence to report, if any."""
        raise NotImplementedError


class Start(PoiseOperator):
    """Start poise on this computer"""

    bl_idname, bl_label = "poise.start", "Start"
    bl_options = {"REGISTER"}

    def work(self, context) -> str:
        """Start the server."""
        session.start(_preferences(context).command)
        if not session.connected().about.get("compiled", True):
            return "poise runs; it still compiles, once, so that the first answers take minutes."
        return f"poise {session.connected().about['poise']} runs."


class Stop(PoiseOperator):
    """Stop poise, and the servos with it"""

    bl_idname, bl_label = "poise.stop", "Stop"
    bl_options = {"REGISTER"}

    def work(self, context) -> str:
        """Stop the server."""
        session.stop()
        return "poise has stopped."


class Send(PoiseOperator):
    """Send the active armature to poise: its deforming bones, or all if none deforms"""

    bl_idname, bl_label = "poise.send", "Send armature"

    mute: bpy.props.BoolProperty(
        name="Mute constraints", description="Mute the constraints that would change the pose after poise has set it"
    )

    def work(self, context) -> str:
        """Send the armature."""
        armature = _armature(context)
        live.stop()
        rig = session.send(armature, armature.poise_base)
        if self.mute:
            rig.mute(armature)
        for sentence in rig.warnings(armature):
            self.report({"WARNING"}, _capital(sentence))
        mover = f"; the body moves by {rig.base!r}" if rig.base else "; it stands where it is"
        return f"poise has {len(rig.bones)} bones of {armature.name!r}{mover}."


class AddTarget(PoiseOperator):
    """Add an empty whose place is a task for the active bone, or for each selected one"""

    bl_idname, bl_label = "poise.add_target", "Add target"

    kind: bpy.props.EnumProperty(items=targets.KINDS[1:], default="PIN")
    bone: bpy.props.StringProperty(description="The bone; the selected ones if empty")
    turns: bpy.props.BoolProperty(name="Rotation too")

    def work(self, context) -> None:
        """Add the empties."""
        armature = _armature(context)
        for bone in self._bones(context, armature):
            empty = targets.add(self.kind, armature, bone, context.scene)
            empty.poise.turns = self.turns and self.kind == "PIN"
            if self.kind == "BALANCE":
                _put_below_feet(empty, armature)

    def _bones(self, context, armature) -> list[str]:
        if self.kind == "BALANCE":
            return [""]
        if self.bone:
            if self.bone not in armature.pose.bones:
                raise ReportedError(f"the armature {armature.name!r} has no bone {self.bone!r}.")
            return [self.bone]
        chosen = [posed.name for posed in (context.selected_pose_bones_from_active_object or [])]
        if not chosen:
            raise ReportedError("select bones in pose mode first: the target is for them.")
        return chosen


class LiveMode(PoiseOperator):
    """Let the character follow its targets while you drag them"""

    bl_idname, bl_label = "poise.live", "Live"

    def work(self, context) -> str:
        """Switch the live mode on or off."""
        if live.is_on:
            live.stop()
            return "the character no longer follows."
        armature = _armature(context)
        live.start(armature, context.scene)
        live.tick()
        return f"{armature.name!r} follows its targets."


class Bake(PoiseOperator):
    """Solve every frame of the range and write the poses to a new action; no other action changes"""

    bl_idname, bl_label = "poise.bake", "Bake"

    first: bpy.props.IntProperty(name="First", description="0 for the first frame of the scene")
    last: bpy.props.IntProperty(name="Last", description="0 for the last frame of the scene")

    def work(self, context) -> str:
        """Solve and write."""
        armature, scene = _armature(context), context.scene
        frames = _frames(scene, self.first, self.last)
        live.stop()
        rig = session.rig(armature)
        animation = armature.animation_data
        is_animated = animation is not None and animation.action is not None
        solving = Solving(rig, armature, scene, is_animated=is_animated)
        now, rotations, paths = scene.frame_current, [], []
        try:
            for frame in frames:
                scene.frame_set(frame)
                here = rig.pose(armature)  # that of the present action, if there is one
                begin = here if frame == frames[0] else None
                places = targets.values(rig, armature, targets.targets_of(armature, scene))
                answer = rig.client.ask(**solving.message(places, pose=begin, kept=here, steps=BAKE_STEPS))
                rotations.append(answer["rotations"])
                paths.append(answer["locations"])
        finally:
            scene.frame_set(now)
        along = {bone: np.array([path[bone] for path in paths]) for bone in paths[0]}
        clip = {"rotations": np.array(rotations), "locations": along}
        action = keys.write(rig, scene, f"{armature.name} posed", frames, clip)
        return f"wrote {len(frames)} frames to the action {action.name!r}."


class Retarget(PoiseOperator):
    """Let the active armature perform the animation of another one, as a new action"""

    bl_idname, bl_label = "poise.retarget", "Retarget"

    source: bpy.props.StringProperty(name="From", description="Name of the other armature; that of the panel if empty")
    first: bpy.props.IntProperty(name="First", description="0 for the first frame of the scene")
    last: bpy.props.IntProperty(name="Last", description="0 for the last frame of the scene")

    def work(self, context) -> str:
        """Read, retarget, write."""
        armature, scene = _armature(context), context.scene
        source = bpy.data.objects.get(self.source) if self.source else scene.poise_source
        if source is None or source.type != "ARMATURE" or source == armature:
            raise ReportedError("choose another armature from which the animation comes.")
        if source.animation_data is None or source.animation_data.action is None:
            raise ReportedError(f"{source.name!r} has no action.")
        frames = _frames(scene, self.first, self.last)
        live.stop()
        rig = session.rig(armature)
        theirs, clip = _lent(source, scene, frames)
        try:
            request = {"figure": rig.handle, "from": theirs.handle, "clip": clip}
            answer = rig.client.ask(do="retarget", **request)
        finally:
            theirs.forget()
        for sentence in answer["warnings"]:
            self.report({"WARNING"}, _capital(sentence))
        found = answer["clip"]
        steps = keys.frame_rate(scene) / found["rate"]
        at = [frames[0] + steps * k for k in range(len(found["rotations"]))]
        name = f"{source.animation_data.action.name} on {armature.name}"
        action = keys.write(rig, scene, name, at, found)
        return f"wrote {len(at)} frames to the action {action.name!r}."


class Gaze(PoiseOperator):
    """Let the active bone look at an object during the present action, as a new action"""

    bl_idname, bl_label = "poise.gaze", "Gaze"

    at: bpy.props.StringProperty(name="At", description="Name of the object; that of the panel if empty")
    bone: bpy.props.StringProperty(name="Bone", description="The bone that looks; the active one if empty")
    sight: bpy.props.EnumProperty(
        name="Looks along", items=(("FRONT", "Its front", "The axis that faces the front"), *targets.SIGHTS)
    )
    first: bpy.props.IntProperty(name="First", description="0 for the first frame of the scene")
    last: bpy.props.IntProperty(name="Last", description="0 for the last frame of the scene")

    def work(self, context) -> str:
        """Read, let gaze, write."""
        armature, scene = _armature(context), context.scene
        seen = bpy.data.objects.get(self.at) if self.at else scene.poise_seen
        bone = self.bone or (context.active_pose_bone.name if context.active_pose_bone else "")
        if seen is None:
            raise ReportedError("choose an object to look at.")
        live.stop()
        rig = session.rig(armature)
        if bone not in rig.bones:
            raise ReportedError(f"choose a bone that looks: poise has no bone {bone!r} of {armature.name!r}.")
        frames = _frames(scene, self.first, self.last)
        clip = keys.clip_of(rig, armature, scene, frames)
        now, points = scene.frame_current, []
        for frame in frames:
            scene.frame_set(frame)
            points.append(list((rig.placed(armature) @ seen.matrix_world).to_translation()))
        scene.frame_set(now)
        request = {"figure": rig.handle, "clip": clip, "bone": bone, "at": points}
        if self.sight != "FRONT":
            request["axis"] = self.sight
        elif rig.base:  # a single chain of hinges looks along its last bone, and keeps its expression
            request["axis"] = targets.facing(armature, bone)
        found = rig.client.ask(do="gaze", **request)["clip"]
        action = keys.write(rig, scene, f"{armature.name} gazing", frames, found)
        return f"wrote {len(frames)} frames to the action {action.name!r}."


class Stream(PoiseOperator):
    """Let servos follow the armature in the live mode; a dry run tells what they would do"""

    bl_idname, bl_label = "poise.stream", "Servos"
    bl_options = {"REGISTER"}

    to: bpy.props.StringProperty(name="To", description="Such as firmata:/dev/ttyACM0; that of the panel if empty")
    dry_run: bpy.props.BoolProperty(name="Dry run", description="Move nothing", default=True)

    def work(self, context) -> str:
        """Connect or stop the servos."""
        armature, scene = _armature(context), context.scene
        rig = session.rig(armature)
        if live.streams:
            live.stream(False)
            rig.client.ask(do="stop", figure=rig.handle)
            return "the servos have stopped."
        if not live.is_on:
            live.start(armature, scene)
        request = {"figure": rig.handle, "to": self.to or scene.poise_servos, "dry_run": self.dry_run}
        answer = rig.client.ask(do="servos", **request, **_servo_file(scene.poise_servo_file))
        live.stream(True)
        return f"{len(answer['servos'])} servos follow: {answer['driver']}."


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _preferences(context):
    return context.preferences.addons[__package__].preferences


def _armature(context):
    found = context.active_object
    if found is None or found.type != "ARMATURE":
        raise ReportedError("choose an armature: it must be the active object.")
    return found


def _frames(scene, first: int, last: int) -> range:
    first, last = first or scene.frame_start, last or scene.frame_end
    if last < first:
        raise ReportedError(f"the range of frames from {first} to {last} is empty.")
    return range(first, last + 1)


def _put_below_feet(empty, armature) -> None:
    """Put the target of the balance on the ground below the middle of the armature."""
    posed = [armature.matrix_world @ bone.head for bone in armature.pose.bones]
    low = min(point.z for point in posed)
    near = [point for point in posed if point.z < low + 0.1 * (max(point.z for point in posed) - low)]
    empty.location = sum(near, near[0] * 0.0) / len(near)
    empty.location.z = low


def _lent(source, scene, frames: range) -> tuple[Rig, dict]:
    """An armature sent for its animation, with all bones that move in it, and the clip."""
    rig = Rig(session.connected(), source, "", is_clip=True)
    poses = keys.sampled(source, scene, frames, rig)
    rotations, places = rig.channels(poses)
    height = max(np.ptp(poses[0, :, :3, 3], axis=0).max() * rig.scale, MOVED)
    moving = [
        name for i, name in enumerate(rig.bones) if np.abs(places[:, i]).max() > MOVED * height or not rig.parents[name]
    ]
    rig.forget()
    rig = Rig(session.connected(), source, "", moves=tuple(moving), is_clip=True)
    along = {name: places[:, rig.bones.index(name)] for name in moving}
    return rig, {"rate": keys.frame_rate(scene), "rotations": rotations, "locations": along}


def _servo_file(path: str) -> dict:
    """The servos of a TOML file, as a message has them."""
    if not path:
        return {}
    try:
        found = tomllib.loads(Path(bpy.path.abspath(path)).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ReportedError(f"the servo file cannot be read: {problem}.") from None
    return {"servos": found.get("servo", [])} | ({"safe": found["safe"]} if "safe" in found else {})


CLASSES = (Start, Stop, Send, AddTarget, LiveMode, Bake, Retarget, Gaze, Stream)
