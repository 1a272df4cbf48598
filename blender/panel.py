# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the sidebar of the 3D view, and the preferences."""

from __future__ import annotations

import bpy

from . import targets
from .session import live, session


class PoisePreferences(bpy.types.AddonPreferences):
    """Where poise is."""

    bl_idname = __package__

    command: bpy.props.StringProperty(
        name="poise",
        description="The poise program, such as /home/me/venv/bin/poise; empty to look for it on the search path",
        subtype="FILE_PATH",
    )

    def draw(self, context) -> None:
        """Draw the preferences."""
        self.layout.prop(self, "command")
        self.layout.label(text="To install it: pip install 'poise[serve]'")


class PoisePanel(bpy.types.Panel):
    """Start poise, add targets, and let the character follow."""

    bl_idname, bl_label = "VIEW3D_PT_poise", "poise"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "poise"

    def draw(self, context) -> None:
        """Draw the panel."""
        layout = self.layout
        if not session.is_running:
            layout.operator("poise.start", icon="PLAY")
            return
        layout.operator("poise.stop", icon="SNAP_FACE")
        if session.sentence:
            layout.label(text=session.sentence, icon="ERROR")
        armature = context.active_object
        if armature is not None and armature.poise.kind != "NONE":
            _draw_target(layout, armature.poise)
            armature = armature.poise.armature
        if armature is None or armature.type != "ARMATURE":
            layout.label(text="Choose an armature, or a target.")
            return
        _draw_armature(layout, armature, context)


def _draw_armature(layout, armature, context) -> None:
    scene = context.scene
    column = layout.column(align=True)
    column.prop_search(armature, "poise_base", armature.data, "bones")
    column.operator("poise.send", icon="EXPORT").mute = False
    column.operator("poise.send", text="Send, and mute constraints", icon="CONSTRAINT_BONE").mute = True
    row = layout.row(align=True)
    for kind, name, _ in targets.KINDS[1:]:
        row.operator("poise.add_target", text=name).kind = kind
    layout.prop(scene, "poise_rest")
    layout.operator("poise.live", depress=live.is_on, icon="ARMATURE_DATA")
    layout.operator("poise.bake", icon="KEYINGSET")
    box = layout.column(align=True)
    box.prop(scene, "poise_source")
    box.operator("poise.retarget", icon="ACTION")
    box = layout.column(align=True)
    box.prop(scene, "poise_seen")
    box.operator("poise.gaze", icon="HIDE_OFF")
    box = layout.column(align=True)
    box.prop(scene, "poise_servos")
    box.prop(scene, "poise_servo_file")
    box.prop(scene, "poise_dry_run")
    box.operator("poise.stream", depress=live.streams, icon="TOOL_SETTINGS").dry_run = scene.poise_dry_run
    if live.streams and session.client is not None and session.client.events:
        box.label(text=session.client.events[-1])


def _draw_target(layout, given) -> None:
    column = layout.column(align=True)
    column.prop(given, "kind")
    column.prop(given, "armature")
    if given.kind != "BALANCE" and given.armature is not None:
        column.prop_search(given, "bone", given.armature.data, "bones")
    if given.kind == "PIN":
        column.prop(given, "end")
        column.prop(given, "turns")
    elif given.kind == "LOOK":
        column.prop(given, "sight")
    for name in ("priority", "weight", "active"):
        column.prop(given, name)


CLASSES = (PoisePreferences, PoisePanel)
