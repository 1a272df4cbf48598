"""Skeletons and animations from glTF 2.0 and GLB files."""

from poise.extras import require

require("scipy", "reading glTF")
