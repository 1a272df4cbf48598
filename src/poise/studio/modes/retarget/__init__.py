"""Retarget: an animation becomes a motion of another figure."""
