"""Distances between spheres, capsules, boxes, cylinders, ellipsoids, hulls and planes, with their nearest points."""
