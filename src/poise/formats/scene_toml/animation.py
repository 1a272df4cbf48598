"""The animation of a scene file: a table `[animation]`, and a table `[[key]]` for every key with its tasks.

[animation]
loop = true
end = 4                           # seconds

[[key]]
time = 1.5
ease = "stop"                     # or "smooth", the default, or "linear"

[key.posture]                     # or the name of a posture
left_elbow = 30

[[key.task]]
kind = "position"
site = "right_hand"
at = [-0.4, 1.2, 0.9]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poise.engine.animation import EASES, Animation, Key
from poise.errors import FormatError
from poise.formats.figure_toml.values import Pairs
from poise.formats.scene_toml.fields import POSTURE_CODEC, Context
from poise.formats.scene_toml.paths import path_beside
from poise.formats.text.toml_emit import section
from poise.formats.text.toml_tables import Table
from poise.motion.clip.clip import Clip
from poise.tasks.task import Task

DEFAULTS = Animation()


def read_animation(
    top: Table, keys: list[Table], context: Context, task_from: Callable[[Table], Task]
) -> Animation | None:
    """The animation of a scene file; None if it has no keys."""
    about = top.as_table(top.take("animation", {}), "animation", "'animation'")
    loop = about.flag("loop", default=False)
    end = about.number("end") if "end" in about else None
    rate = about.number("rate", DEFAULTS.rate)
    clip = _read_clip(about, context) if "clip" in about else None
    about.finish()
    if not keys and clip is None:
        return None
    with about.locating_errors():
        return Animation(tuple(_read_key(key, context, task_from) for key in keys), loop, end, rate, clip)


def _read_key(table: Table, context: Context, task_from: Callable[[Table], Task]) -> Key:
    time = table.number("time")
    ease: Any = table.choice("ease", EASES, "smooth")
    tasks = tuple(task_from(task) for task in table.tables("task", f"task of {table.what}:"))
    posture = None
    if "posture" in table:
        posture = POSTURE_CODEC.read(table, "posture", context)
        with table.locating_errors("posture"):
            context.figure.posture(posture)
    table.finish()
    with table.locating_errors():
        return Key(time, posture, tasks, ease)


def _read_clip(about: Table, context: Context) -> Clip:
    from poise.formats import load_clip

    name = about.text("clip")
    with about.locating_errors("clip"):
        return load_clip(name if context.folder is None else context.folder / name, context.figure)


def animation_lines(
    animation: Animation | None, context: Context, clip: str | None, task_pairs: Callable[[Task], Pairs]
) -> list[str]:
    """The lines of an animation; `clip` is the file of the clip that plays under its keys."""
    if animation is None:
        return []
    about: Pairs = {
        name: getattr(animation, name)
        for name in ("loop", "end", "rate")
        if getattr(animation, name) != getattr(DEFAULTS, name)
    }
    if animation.clip is not None:
        if clip is None:
            raise FormatError("a clip that plays under keys is saved beside the scene: save the scene to a file.")
        about["clip"] = path_beside(clip, context.folder)
    lines = section("[animation]", about) if about else []
    for key in animation.keys:
        lines += _key_lines(key, context, task_pairs)
    return lines


def _key_lines(key: Key, context: Context, task_pairs: Callable[[Task], Pairs]) -> list[str]:
    top: Pairs = {"time": key.time} | ({} if key.ease == "smooth" else {"ease": key.ease})
    posture = {} if key.posture is None else POSTURE_CODEC.write("posture", key.posture, context)
    named = isinstance(posture.get("posture"), str)
    lines = section("[[key]]", top | posture if named else top)
    if posture and not named:
        lines += section("[key.posture]", posture["posture"])
    for task in key.tasks:
        lines += section("[[key.task]]", task_pairs(task))
    return lines
