"""Pickles of data: dictionaries, lists, numbers, texts and arrays, and nothing else.

A pickle says what is to be called to build its contents, and could so run any program. Readers therefore refuse one
that asks for anything that is not needed for data.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poise.errors import FormatError

_DATA = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("_codecs", "encode"),
    ("builtins", "bytearray"),
    ("builtins", "dict"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
}
"""What a pickle of data may call."""


def refuse_unless_data(module: str, name: str) -> None:
    """Raise an error if a pickle asks for something that is not needed for data."""
    if (module, name) not in _DATA:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def dictionary(path: str | Path, load: Callable[[], object]) -> dict[Any, Any]:
    """The dictionary that `load` reads from a file; a `FormatError` if the file is damaged, or holds something else."""
    try:
        content = load()
    except FormatError:
        raise
    except Exception as problem:
        # A damaged archive or pickle raises exceptions of almost any kind.
        raise FormatError(f"cannot be read: {str(problem) or type(problem).__name__}.", path) from None
    if not isinstance(content, dict):
        raise FormatError(f"holds a {type(content).__name__}; a motion is a dictionary.", path)
    return content
