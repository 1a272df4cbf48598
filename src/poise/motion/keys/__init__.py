"""Motions from keys: postures and targets are interpolated, and every frame is solved with its tasks."""
