"""Circles: joints go where circles meet, in a side view."""
