"""Mechanisms with loops: closing them, keeping them closed, moving them by their motors."""
