"""Strict priorities inside limits: one step of a lexicographic least-squares problem."""
