"""Largest numbers that readers of motion files accept."""

from __future__ import annotations

LARGEST_NUMBER = 1e30
"""Largest magnitude of a length, angle or factor: sums and products of a few such numbers stay finite."""


def is_number(word: str) -> bool:
    """Whether a word of a text file is a number, and its magnitude at most `LARGEST_NUMBER`."""
    try:
        return word.isascii() and "_" not in word and abs(float(word)) <= LARGEST_NUMBER
    except ValueError:
        return False
