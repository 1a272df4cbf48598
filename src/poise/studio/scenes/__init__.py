"""Scenes to begin with, and examples."""
