"""Reads figures from URDF files, and their loops from closures files."""

from poise.extras import require

require("lxml", "reading URDF")
require("yaml", "reading URDF")
