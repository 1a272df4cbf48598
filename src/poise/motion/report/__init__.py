"""Measures of a retargeted motion: tracking errors, foot slip, limits, balance and jerk."""

from poise.motion.report.report import Quality, measure

__all__ = ["Quality", "measure"]
