"""Reads figures from xacro files, which the package `xacrodoc` expands to URDF."""

from __future__ import annotations

from pathlib import Path

from poise.errors import FormatError
from poise.extras import require
from poise.figure.model.figure import Figure
from poise.formats.text.files import checked_file
from poise.formats.urdf.read import parse_urdf


def read_xacro(path: Path) -> Figure:
    """Read the figure in a xacro file; packages that it names are searched in the folders above it."""
    checked_file(path)
    require("xacrodoc", "reading xacro")
    from xacrodoc import XacroDoc

    try:
        text = XacroDoc.from_file(str(path), resolve_packages=False).to_urdf_string()
    except Exception as problem:
        # xacro raises exceptions of many kinds: of its own, of its expressions, of the XML parser and of files.
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise FormatError(f"xacro cannot expand it: {reason.rstrip('.')}.", path) from None
    return parse_urdf(text, path)
