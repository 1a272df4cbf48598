"""Paths in a scene file, which are relative to the folder of the file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from poise.errors import FormatError
from poise.figure.model.shapes import Mesh, Shape


def path_beside(path: str | Path, folder: Path | None) -> str:
    """`path` relative to `folder`, so that both can be moved together."""
    try:
        relative = os.path.relpath(Path(path).resolve(), (folder or Path()).resolve())
    except ValueError:
        raise FormatError("must be on the same drive as the scene, whose paths are relative.", path) from None
    return Path(relative).as_posix()


def mesh_from(shape: Shape, folder: Path | None) -> Shape:
    """The shape, with the path of a mesh in `folder` made absolute."""
    if not isinstance(shape, Mesh) or folder is None or "\0" in shape.path:
        return shape
    found = folder / shape.path
    return replace(shape, path=str(found.resolve())) if found.is_file() else shape


def mesh_beside(shape: Shape, folder: Path | None) -> Shape:
    """The shape, with the path of a mesh made relative to `folder`."""
    if not isinstance(shape, Mesh) or not Path(shape.path).is_absolute():
        return shape
    return replace(shape, path=path_beside(shape.path, folder))
