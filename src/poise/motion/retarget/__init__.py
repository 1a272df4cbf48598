"""Retargeting: a clip of one skeleton becomes a motion of another figure."""
