"""Repeat the evaluations of the papers: their tables and figures, computed with this implementation."""
