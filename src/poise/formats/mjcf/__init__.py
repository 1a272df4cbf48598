"""Reads figures from MuJoCo's MJCF files."""

from poise.extras import require

require("lxml", "reading MJCF", extra="mjcf")
