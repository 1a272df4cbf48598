"""Poise's own gaze solver: exact gaze, nearest shape, continuous from frame to frame."""
