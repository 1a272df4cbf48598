"""Postures as answers: rotations and places of bones against their rest, and in the world."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.formats.text.toml_tables import Table
from poise.service.bones import value_of_rotation

FORMS = ("bones", "world", "joints")
"""Forms in which a posture is answered."""


class Skeleton:
    """The bones of a figure, which are its bodies, and what moves them."""

    def __init__(self, figure: Figure) -> None:
        """Note the parents and the rest of all bones."""
        self.figure = figure
        self.names = figure.bodies.names
        rows = {name: i for i, name in enumerate(self.names)}
        self._parents = np.full(len(self.names), -1)
        for joint in figure.joints:
            if joint.parent is not None:
                self._parents[rows[joint.child]] = rows[joint.parent]
        self.joints = {joint.child: joint for joint in figure.joints}
        self.movers = tuple(name for name in self.names if name in self.joints and self.joints[name].kind == "free")
        """Bones that also move; all others turn only, or slide."""
        self._mover_rows = [rows[name] for name in self.movers]

    @cached_property
    def _rest(self) -> tuple[FloatArray, FloatArray]:
        """Places and rotations of all bones against their parents, with all joints at zero."""
        zero = np.concatenate([np.empty(0), *(np.array(joint.rest()) for joint in self.figure.joints)])
        return self._local(*self.world(Posture(self.figure, zero)))

    def world(self, posture: Posture) -> tuple[FloatArray, FloatArray]:
        """(bones, 3) places and (bones, 4) rotations in the world."""
        frames = self.figure.frames(posture)
        count = len(self.names)
        return frames.position[:count], frames.rotation[:count]

    def _local(self, places: FloatArray, rotations: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same against the parents of the bones; also of (frames, bones, …) places and rotations."""
        inner = (self._parents >= 0)[:, None]
        base_place = np.where(inner, places[..., self._parents, :], 0.0)
        base_turn = np.where(inner, rotations[..., self._parents, :], [1.0, 0.0, 0.0, 0.0])
        back = conjugates(base_turn)
        return rotated(back, places - base_place), products(back, rotations)

    def turns(self, places: FloatArray, rotations: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places of the movers and rotations of the bones against the rest, in the axes of each bone at rest.

        Args:
            places: (..., bones, 3) places in the world.
            rotations: (..., bones, 4) rotations in the world.

        Returns:
            (..., movers, 3) and (..., bones, 4).
        """
        rest_places, rest_turns = self._rest
        places, rotations = self._local(places, rotations)
        back = conjugates(rest_turns)
        return rotated(back, places - rest_places)[..., self._mover_rows, :], products(back, rotations)

    def answer(self, posture: Posture, forms: tuple[str, ...]) -> dict[str, Any]:
        """A posture in some of the `FORMS`."""
        found: dict[str, Any] = {}
        if "bones" in forms:
            places, rotations = self.turns(*self.world(posture))
            found |= {"rotations": rotations, "locations": dict(zip(self.movers, places, strict=True))}
        if "world" in forms:
            places, rotations = self.world(posture)
            found |= {"heads": places, "frames": rotations}
        if "joints" in forms:
            found["joints"] = {name: np.atleast_1d(posture[name]) for name in posture}
        return found

    def posture(self, given: Table, start: Posture) -> Posture:
        """The posture `start` with the joints and bones of a table at its values.

        Rotations and locations are by name, or a list for all bones, as in an answer.
        """
        values: dict[str, Any] = {}
        for bone, rotation in self._by_bone(given, "rotations", 4, self.names).items():
            if (joint := self.joints.get(bone)) is not None and joint.kind != "free":
                values[joint.name] = value_of_rotation(joint, _unit(rotation, bone))
            elif joint is not None:
                values[joint.name] = [*start.q[self.figure.q_slice(joint.name)][:3], *_unit(rotation, bone)]
        for bone, place in self._by_bone(given, "locations", 3, self.movers).items():
            name = self.joints[bone].name
            values[name] = [*place, *values.get(name, start.q[self.figure.q_slice(name)])[-4:]]
        joints = given.as_table(given.take("joints", {}), "joints", f"'joints' of {given.what}")
        for name in joints.all_keys():
            values[name] = joints.take(name)
        given.finish()
        moving = {name: value for name, value in values.items() if np.size(value)}
        return self.figure.clamp(self.figure.posture_from(start, moving))

    def _by_bone(self, given: Table, key: str, count: int, names: tuple[str, ...]) -> dict[str, FloatArray]:
        """Numbers by bone, from a table of them, or from a list for all bones."""
        found = given.take(key, {})
        if isinstance(found, Mapping):
            for bone in found:
                look_up(dict.fromkeys(names), bone, "bone" if key == "rotations" else "bone that moves", given.what)
            pairs = found.items()
        else:
            rows = numbers(found, (len(names), count), f"{key!r} of {given.what}")
            pairs = dict(zip(names, rows, strict=True)).items()
        return {bone: numbers(value, (count,), f"{key!r} of bone {bone!r}") for bone, value in pairs}


def numbers(value: Any, shape: tuple[int | None, ...], what: str) -> FloatArray:
    """An array of finite numbers of a shape, of which None may be any size."""
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    fits = found.ndim == len(shape) and all(want in (None, is_) for want, is_ in zip(shape, found.shape, strict=True))
    if not fits or not np.isfinite(found).all():
        words = " × ".join("n" if size is None else str(size) for size in shape)
        raise FigureError(f"{what} must be {words} finite numbers.")
    return found


def _unit(rotation: FloatArray, bone: str) -> FloatArray:
    size = float(np.linalg.norm(rotation))
    if size < 1e-9:
        raise FigureError(f"the rotation of bone {bone!r} is zero; (1, 0, 0, 0) is none.")
    unit: FloatArray = rotation / size
    return unit


def conjugates(a: FloatArray) -> FloatArray:
    """(..., 4) inverse rotations."""
    turned: FloatArray = a * np.array([1.0, -1.0, -1.0, -1.0])
    return turned


def products(a: FloatArray, b: FloatArray) -> FloatArray:
    """(..., 4) rotations `b` followed by `a`."""
    w, v, x, u = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    scalar = w * x - np.sum(v * u, axis=-1, keepdims=True)
    return np.concatenate([scalar, w * u + x * v + np.cross(v, u)], axis=-1)


def rotated(a: FloatArray, points: FloatArray) -> FloatArray:
    """(..., 3) points rotated by `a` (..., 4)."""
    across = 2.0 * np.cross(a[..., 1:], points)
    turned: FloatArray = points + a[..., :1] * across + np.cross(a[..., 1:], across)
    return turned
