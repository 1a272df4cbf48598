"""Classes that a scene file can hold, by table and `kind`; the keys of a table are the arguments of its class."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.forces.loads import Force, Support
from poise.formats.scene_toml.fields import CODEC_BY_ANNOTATION, CODEC_BY_NAME, SHAPE_CODEC, Codec, shape_keys
from poise.tasks.criteria import Criterion
from poise.tasks.kinds import all_kinds
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Task

UNNAMED_KIND = ""
"""Kind of a section that has one class only, whose tables have no key `kind`."""
SHAPED_OBSTACLES = ("sphere", "box", "cylinder", "capsule", "ellipsoid", "mesh")
"""Kinds of obstacles that are named after their shape."""
ANNOTATED_ARRAYS: dict[Any, str] = {ArrayLike: "ArrayLike", ArrayLike | None: "ArrayLike"}
"""Names of annotations that do not print as they are written."""


def sections() -> dict[str, Mapping[str, type]]:
    """Sections of a scene file, each with its kinds and their classes."""
    return {
        "task": all_kinds(Task),
        "force": {UNNAMED_KIND: Force},
        "support": {UNNAMED_KIND: Support},
        "obstacle": {**dict.fromkeys(SHAPED_OBSTACLES, Obstacle), "plane": Plane},
        "criterion": all_kinds(Criterion),
    }


class Field(NamedTuple):
    """One argument of a class."""

    name: str
    codec: Codec
    default: Any
    """Default value; `REQUIRED` if there is none."""
    keys: tuple[str, ...]
    """Keys of the argument in a file."""


REQUIRED = inspect.Parameter.empty


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
    given = argument.annotation
    annotation = ANNOTATED_ARRAYS.get(given) or (given.__name__ if isinstance(given, type) else str(given))
    codec = CODEC_BY_ANNOTATION.get(annotation.removesuffix(" | None"))
    if codec is None:
        raise TaskError(
            f"a scene file cannot hold argument {argument.name!r} of {maker.__name__}, a {annotation}; "
            f"it can hold {', '.join(CODEC_BY_ANNOTATION)}."
        )
    return codec


def kind_of(part: object, kinds: Mapping[str, type]) -> str:
    """The `kind` of a part in a file; that of an obstacle is its shape."""
    for kind in (getattr(part, "kind", None), type(getattr(part, "shape", None)).__name__.lower(), *kinds):
        if kind is not None and kinds.get(kind) is type(part):
            return kind
    what = getattr(part, "label", None) or getattr(part, "name", None) or type(part).__name__
    raise TaskError(
        f"{what!r} is a {type(part).__name__}, which a scene file cannot hold: leave it out of the scene and "
        "add it in Python."
    )
