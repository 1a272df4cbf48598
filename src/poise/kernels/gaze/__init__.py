"""Chains that face a target: what is asked, and how far an answer is from it."""
