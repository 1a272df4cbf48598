"""Retargeting: a clip of one skeleton becomes a motion of another figure."""

from poise.extras import require

require("scipy", "retargeting")
