"""Turns Collada meshes that declare Y_UP to z up, if that fits the robot's centres of mass.

A Collada file states which of its axes points up. Some programs turn a mesh that says Y_UP into the Z-up frame of its
link, others ignore it, and robots are written for either kind. Where a robot has such meshes, both ways are tried: that
one is right which brings the middles of the meshes nearer to the centres of mass of their links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from poise.errors import PoiseError
from poise.figure.collision.mesh_files import find_mesh, read_triangles
from poise.figure.model.body import Body
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Mesh, Shape

HEAD_BYTES = 8192
"""Length of the head of a file in which its up axis is looked for [bytes]."""
Z_UP_FROM_Y_UP = Pose(rotation=(np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))
"""(x, y, z) with y up, as (x, -z, y) with z up."""
_SAYS_Y_UP = re.compile(rb"<up_axis>\s*Y_UP\s*</up_axis>")


def with_upright_meshes(bodies: Sequence[Body], folder: Path | None) -> list[Body]:
    """The bodies, with meshes that say Y_UP turned if that brings them to their centres of mass."""
    files = {
        shape: file
        for body in bodies
        for shape in body.shapes
        if isinstance(shape, Mesh) and shape.path.lower().endswith(".dae")
        for file in [find_mesh(shape.path, folder)]
        if file is not None and _says_y_up(file)
    }
    if not files:
        return list(bodies)
    there, turned = 0.0, 0.0
    for body in bodies:
        for shape in body.shapes:
            if shape in files and body.mass.mass > 0.0:
                middle = _middle(shape, files[shape])
                if middle is not None:
                    there += float(np.linalg.norm(shape.pose.apply(middle) - body.mass.center))
                    both = shape.pose @ Z_UP_FROM_Y_UP
                    turned += float(np.linalg.norm(both.apply(middle) - body.mass.center))
    if turned >= there:
        return list(bodies)
    return [replace(body, shapes=tuple(_turned(shape, shape in files) for shape in body.shapes)) for body in bodies]


def _says_y_up(file: Path) -> bool:
    with file.open("rb") as stream:
        return _SAYS_Y_UP.search(stream.read(HEAD_BYTES)) is not None


def _middle(shape: Shape, file: Path) -> np.ndarray | None:
    """(3,) the middle of the box around a mesh, in its own frame; None if the file cannot be read."""
    try:
        vertices, _ = read_triangles(file)
    except PoiseError:
        return None
    assert isinstance(shape, Mesh)
    scaled = vertices * np.asarray(shape.scale)
    middle: np.ndarray = 0.5 * (scaled.min(axis=0) + scaled.max(axis=0))
    return middle


def _turned(shape: Shape, is_turned: bool) -> Shape:
    return replace(shape, pose=shape.pose @ Z_UP_FROM_Y_UP) if is_turned else shape
