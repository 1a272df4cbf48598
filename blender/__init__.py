# SPDX-License-Identifier: GPL-3.0-or-later
"""poise in Blender: bodies that follow their targets, by priority.

The add-on talks to `poise serve`, a program of its own; poise itself is not imported here.
"""

from __future__ import annotations

import atexit

import bpy
from bpy.app.handlers import persistent

from . import operators, panel, targets
from .session import session

CLASSES = (targets.PoiseTarget, *panel.CLASSES, *operators.CLASSES)
PROPERTIES = {
    bpy.types.Object: {
        "poise": bpy.props.PointerProperty(type=targets.PoiseTarget),
        "poise_base": bpy.props.StringProperty(
            name="Body", description="The bone by which the body moves as a whole; empty for the one where it branches"
        ),
    },
    bpy.types.Scene: {
        "poise_rest": bpy.props.EnumProperty(
            name="All else", description="What bones do that no target asks for", items=targets.RESTS, default="NATURAL"
        ),
        "poise_source": bpy.props.PointerProperty(
            name="From", type=bpy.types.Object, poll=lambda scene, found: found.type == "ARMATURE"
        ),
        "poise_seen": bpy.props.PointerProperty(name="Look at", type=bpy.types.Object),
        "poise_servos": bpy.props.StringProperty(name="Servos", default="firmata:/dev/ttyACM0"),
        "poise_servo_file": bpy.props.StringProperty(name="Servo file", subtype="FILE_PATH"),
        "poise_dry_run": bpy.props.BoolProperty(name="Dry run", description="Tell, and move nothing", default=True),
    },
}


@persistent
def _end_session(*_) -> None:
    """Another file is loaded: its objects are others."""
    session.stop()


def register() -> None:
    """Add everything to Blender."""
    for each in CLASSES:
        bpy.utils.register_class(each)
    for owner, properties in PROPERTIES.items():
        for name, value in properties.items():
            setattr(owner, name, value)
    bpy.app.handlers.load_pre.append(_end_session)
    atexit.register(session.stop)


def unregister() -> None:
    """Stop the server, and remove everything."""
    session.stop()
    atexit.unregister(session.stop)
    bpy.app.handlers.load_pre.remove(_end_session)
    for owner, properties in PROPERTIES.items():
        for name in properties:
            delattr(owner, name)
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
