"""Motion: clips of a figure moving."""

from poise.motion.clip import Clip

__all__ = ["Clip"]
