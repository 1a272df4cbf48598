"""Exceptions of poise: they report wrong input. A goal that cannot be reached is a result, not an exception."""

from __future__ import annotations

from pathlib import Path


class PoiseError(ValueError):
    """The base class: an argument or a file is wrong."""


class FigureError(PoiseError):
    """A figure, a name in it, or a posture of it is wrong."""


class TaskError(PoiseError):
    """A task is inconsistent, or refers to something that does not exist."""


class FormatError(PoiseError):
    """A file cannot be read.

    Attributes:
        path: The file, or None for text that came without one.
        line: The line, counted from 1, or None where the format has no lines.
        reason: What is wrong, in one sentence.
    """

    def __init__(self, reason: str, path: Path | str | None = None, line: int | None = None) -> None:
        """Format the message as file:line: reason, as compilers do."""
        self.reason = reason
        self.path = Path(path) if path is not None else None
        self.line = line
        where = ":".join(str(part) for part in (self.path, line) if part is not None)
        super().__init__(f"{where}: {reason}" if where else reason)


class RobotError(PoiseError):
    """A robot's port, its servo settings, or the reply of its device is wrong."""


class MissingPackageError(PoiseError, ImportError):
    """A feature needs a package that is not installed: see `poise.extras`."""


class NotReadyError(PoiseError):
    """A call needs kernels that worker processes are still compiling."""


class UnmappedWarning(UserWarning):
    """A retargeting leaves limbs of the clip or joints of the figure out."""
