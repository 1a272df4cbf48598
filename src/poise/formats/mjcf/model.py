"""A compiled MuJoCo model, with names for all its parts and their line numbers in the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.errors import FigureError, FormatError
from poise.figure.model.pose import FloatArray, Pose
from poise.formats.text.naming import Names
from poise.formats.text.xml_reader import Element

JOINT_KINDS = ("free", "ball", "slide", "hinge")
"""MuJoCo's names of joint types, in the order of mjtJoint."""

WORLD_BODY = 0
"""Index of MuJoCo's world body."""


@dataclass(frozen=True)
class Mjcf:
    """A compiled document; `model` is a mujoco.MjModel, which has no type annotations."""

    model: Any
    root: Element
    body_names: list[str] = field(init=False)
    """Name of every body; the world's is used only if it has shapes or sites."""
    joint_names: list[str] = field(init=False)
    site_names: list[str] = field(init=False)
    part_names: Names = field(init=False)
    """Makes names for further bodies, different from all so far."""
    link_names: Names = field(init=False)
    """Makes names for further joints, loops and couplings, different from all so far."""

    def __post_init__(self) -> None:
        """Give unique names to the parts that have none in the file."""
        m = self.model
        kinds = [JOINT_KINDS[kind] for kind in m.jnt_type]
        bodies, names = _named([m.body(i).name for i in range(m.nbody)], [f"body_{i}" for i in range(m.nbody)])
        wanted = [f"{bodies[body]}_{kind}" for body, kind in zip(m.jnt_bodyid, kinds, strict=True)]
        joints, links = _named([m.joint(i).name for i in range(m.njnt)], wanted)
        sites, _ = _named([m.site(i).name for i in range(m.nsite)], [f"site_{i}" for i in range(m.nsite)])
        for attribute, value in (
            ("body_names", bodies),
            ("joint_names", joints),
            ("site_names", sites),
            ("part_names", names),
            ("link_names", links),
        ):
            object.__setattr__(self, attribute, value)

    def line_of(self, name: str, *tags: str) -> int | None:
        """Line of the element with this name and one of these tags; the root's line if it is in an included file."""
        found = (e.line for e in self.root.everything() if e.tag in tags and e.node.get("name") == name)
        return next(found, self.root.line)

    def error(self, reason: str, name: str = "", *tags: str) -> FormatError:
        """A FormatError with the file and the line of a named part."""
        return FormatError(reason, self.root.path, self.line_of(name, *tags))

    @contextmanager
    def locating_errors(self, name: str, *tags: str) -> Iterator[None]:
        """Turn a FigureError inside the block into a FormatError with the line of a named part."""
        try:
            yield
        except FigureError as problem:
            raise self.error(str(problem), name, *tags) from None


def _named(given: list[str], otherwise: list[str]) -> tuple[list[str], Names]:
    """The given names, with empty ones replaced by unique names made from `otherwise`, and the generator of names."""
    names = Names(name for name in given if name)
    return [name or names.take(spare) for name, spare in zip(given, otherwise, strict=True)], names


def pose_of(position: FloatArray, quaternion: FloatArray) -> Pose:
    """A pose from views into MuJoCo's arrays, which are copied."""
    return Pose(np.array(position, dtype=np.float64), np.array(quaternion, dtype=np.float64))
