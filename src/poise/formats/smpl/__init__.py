"""Motions of the SMPL family of body models: AMASS archives, and tables of joint positions in SMPL's order."""

from poise.extras import require

require("scipy", "reading motions of SMPL")
