"""Motions of robots in the file formats of programs that train controllers, such as GMR, BeyondMimic and mjlab."""

from poise.extras import require

require("scipy", "reading and writing motions for trainers")
