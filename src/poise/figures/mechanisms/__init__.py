"""Mechanisms with kinematic loops, and two serial robots from the same paper."""
