"""Largest numbers that readers of motion files accept."""

from __future__ import annotations

LARGEST_NUMBER = 1e30
"""Largest magnitude of a length, angle or factor: sums and products of a few such numbers stay finite."""
MOST_JOINT_VALUES = 50_000_000
"""Most joint values, 400 MB of them, that resampling a file may produce."""


def is_number(word: str) -> bool:
    """Whether a word of a text file is a number within `LARGEST_NUMBER`."""
    try:
        return word.isascii() and "_" not in word and abs(float(word)) <= LARGEST_NUMBER
    except ValueError:
        return False
