"""Mechanisms with loops."""
