"""Files that a scene names, always relative to the scene's own folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from poise.errors import FormatError
from poise.figure.model.shapes import Mesh, Shape


def beside(path: str | Path, folder: Path | None) -> str:
    """How a file in `folder` names `path`, so that both can move together."""
    try:
        relative = os.path.relpath(Path(path).resolve(), (folder or Path()).resolve())
    except ValueError:
        raise FormatError("is on another drive than the scene, which names files relative to itself.", path) from None
    return Path(relative).as_posix()


def mesh_from(shape: Shape, folder: Path | None) -> Shape:
    """A shape from a file in `folder`: a mesh found there is kept by where it is."""
    if not isinstance(shape, Mesh) or folder is None or "\0" in shape.path:
        return shape
    found = folder / shape.path
    return replace(shape, path=str(found.resolve())) if found.is_file() else shape


def mesh_beside(shape: Shape, folder: Path | None) -> Shape:
    """A shape as a file in `folder` names it."""
    if not isinstance(shape, Mesh) or not Path(shape.path).is_absolute():
        return shape
    return replace(shape, path=beside(shape.path, folder))
