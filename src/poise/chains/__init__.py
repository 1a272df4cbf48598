"""Solvers for a single chain."""
