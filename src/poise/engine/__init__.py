"""Solvers that pose a whole figure."""
