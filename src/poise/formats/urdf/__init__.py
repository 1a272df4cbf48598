"""Reads figures from URDF files, and their loops from closures files."""
