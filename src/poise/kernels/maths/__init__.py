"""Vectors, quaternions, singular values and nearest points: mathematics that knows no figure."""
