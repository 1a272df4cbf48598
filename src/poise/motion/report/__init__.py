"""How good a motion is, in numbers."""

from poise.motion.report.report import Quality, measure

__all__ = ["Quality", "measure"]
