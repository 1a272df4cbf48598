"""Classes that a scene file can hold, by the name of the table and its `kind`.

A new task, load, obstacle or criterion needs one line here; its keys are the arguments of its class.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from poise.errors import TaskError
from poise.formats.scene_toml.fields import CODEC_BY_ANNOTATION, CODEC_BY_NAME, SHAPE_CODEC, Codec, shape_keys

UNNAMED_KIND = ""
"""Kind of a section that has one class only, whose tables have no key `kind`."""

TASKS = {
    "position": "poise.tasks.place.Position",
    "orientation": "poise.tasks.place.Orientation",
    "frame": "poise.tasks.place.Frame",
    "look_at": "poise.tasks.place.LookAt",
    "center_of_mass": "poise.tasks.mass.CenterOfMass",
    "moment_of_inertia": "poise.tasks.mass.MomentOfInertia",
    "equilibrium": "poise.tasks.equilibrium.Equilibrium",
    "hold": "poise.tasks.posture.Hold",
    "still": "poise.tasks.steady.Still",
    "slow": "poise.tasks.steady.Slow",
    "avoid": "poise.tasks.avoid.Avoid",
}
FORCES = {UNNAMED_KIND: "poise.forces.loads.Force"}
SUPPORTS = {UNNAMED_KIND: "poise.forces.loads.Support"}
OBSTACLES = {
    **dict.fromkeys(("sphere", "box", "cylinder", "capsule", "ellipsoid", "mesh"), "poise.tasks.obstacles.Obstacle"),
    "plane": "poise.tasks.obstacles.Plane",
}
CRITERIA = {
    "near_posture": "poise.tasks.criteria.NearPosture",
    "comfort": "poise.tasks.criteria.Comfort",
    "flex": "poise.tasks.criteria.Flex",
    "extend": "poise.tasks.criteria.Extend",
    "least_torque": "poise.tasks.criteria.LeastTorque",
}
SECTIONS = {"task": TASKS, "force": FORCES, "support": SUPPORTS, "obstacle": OBSTACLES, "criterion": CRITERIA}
"""Sections of a scene file, each with its kinds and their classes."""
GRAVITY_CLASS = "poise.forces.loads.Gravity"


class Field(NamedTuple):
    """One argument of a class."""

    name: str
    codec: Codec
    default: Any
    """Default value; `REQUIRED` if there is none."""
    keys: tuple[str, ...]
    """Keys of the argument in a file."""


REQUIRED = inspect.Parameter.empty


def class_of(home: str) -> type:
    """Import the class with this dotted path."""
    module, _, name = home.rpartition(".")
    found: type = getattr(import_module(module), name)
    return found


def class_path(part: object) -> str:
    """The dotted path of an object's class."""
    return f"{type(part).__module__}.{type(part).__qualname__}"


@cache
def fields_of(maker: type, kind: str) -> tuple[Field, ...]:
    """The arguments of a class, each with its codec and keys."""
    found = []
    for argument in inspect.signature(maker).parameters.values():
        codec = _codec(maker, argument)
        keys = shape_keys(kind) if codec is SHAPE_CODEC else codec.keys or (argument.name,)
        found.append(Field(argument.name, codec, argument.default, keys))
    return tuple(found)


def _codec(maker: type, argument: inspect.Parameter) -> Codec:
    if argument.name in CODEC_BY_NAME:
        return CODEC_BY_NAME[argument.name]
    annotation = str(argument.annotation).removesuffix(" | None")
    if annotation not in CODEC_BY_ANNOTATION:
        raise TypeError(f"there is no codec for argument {argument.name!r} of {maker.__name__}, a {annotation}.")
    return CODEC_BY_ANNOTATION[annotation]


def kind_of(part: object, kinds: Mapping[str, str]) -> str:
    """The `kind` of a part in a file; that of an obstacle is its shape."""
    names = [kind for kind, place in kinds.items() if place == class_path(part)]
    if not names:
        what = getattr(part, "label", None) or getattr(part, "name", None) or type(part).__name__
        raise TaskError(
            f"{what!r} is a {type(part).__name__}, which a scene file cannot hold: leave it out of the scene and "
            "add it in Python."
        )
    shape = type(getattr(part, "shape", None)).__name__.lower()
    return shape if shape in names else names[0]
