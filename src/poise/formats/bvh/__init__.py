"""Reads and writes skeletons and motions as BVH."""
