"""Motion: clips, retargeting from one skeleton to another, reports on motions, and the motion filter."""

from poise.motion.clip.clip import Clip

__all__ = ["Clip"]
