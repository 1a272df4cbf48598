"""Reads and writes skeletons and motions as BVH."""

from poise.extras import require

require("scipy", "reading and writing BVH")
