"""What poise raises: always about the question, never because a goal is out of reach."""

from __future__ import annotations

from pathlib import Path


class PoiseError(ValueError):
    """Something in the question is wrong."""


class FigureError(PoiseError):
    """A figure, a name in it, or a posture of it is wrong."""


class TaskError(PoiseError):
    """A task asks for something that makes no sense."""


class FormatError(PoiseError):
    """A file cannot be read.

    Attributes:
        path: The file, or None for text that came without one.
        line: The line, counted from 1, or None where the format has no lines.
        reason: What is wrong, in one sentence.
    """

    def __init__(self, reason: str, path: Path | str | None = None, line: int | None = None) -> None:
        """Put file and line before the reason, as compilers do."""
        self.reason = reason
        self.path = Path(path) if path is not None else None
        self.line = line
        where = ":".join(str(part) for part in (self.path, line) if part is not None)
        super().__init__(f"{where}: {reason}" if where else reason)


class RobotError(PoiseError):
    """A robot's port, its servos, or the answer of its device is wrong."""
