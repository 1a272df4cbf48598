"""Figures from MuJoCo's MJCF files."""
