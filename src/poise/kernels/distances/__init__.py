"""Distances between solids: capsules, boxes, spheres, planes and points."""
