"""Skeletons and motions as BVH, read and written."""
