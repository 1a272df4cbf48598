"""Whole motions: the motion filter, and an engine driven through all frames of a clip."""
