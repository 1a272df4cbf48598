"""JSON files that hold one object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from poise.errors import FormatError
from poise.formats.text.files import read_bytes


def read_json_object(path: str | Path, otherwise: str) -> dict[str, Any]:
    """The object in a JSON file; NaN and infinities, which JSON does not have, are refused.

    Args:
        path: The file.
        otherwise: Error message for a file whose value is not an object.
    """
    try:
        content = json.loads(read_bytes(path), parse_constant=_refuse)
    except json.JSONDecodeError as problem:
        raise FormatError(f"is not JSON: {problem.msg.lower()}.", path, problem.lineno) from None
    except RecursionError:
        raise FormatError("nests arrays too deeply.", path) from None
    except ValueError as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"is not JSON: {problem}.", path) from None
    if not isinstance(content, dict):
        raise FormatError(otherwise, path)
    return content


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a finite number")
