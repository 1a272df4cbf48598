"""Reads figures from MuJoCo's MJCF files."""
