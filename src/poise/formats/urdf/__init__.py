"""Figures from URDF files, and the loops that a file beside one closes."""
