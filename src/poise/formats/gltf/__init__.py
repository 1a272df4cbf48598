"""Skeletons and animations from glTF 2.0 and GLB files."""
