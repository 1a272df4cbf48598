"""Motion: clips of a figure moving."""

from poise.motion.clip.clip import Clip

__all__ = ["Clip"]
