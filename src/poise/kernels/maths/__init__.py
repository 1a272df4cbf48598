"""Vectors, quaternions, portable trigonometry, singular values and projection onto a polyhedron."""
