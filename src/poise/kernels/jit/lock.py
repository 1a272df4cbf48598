"""A lock between processes, so that two of them that start cold do not compile the same kernel twice."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 600.0
"""Longest wait for a process that holds a lock but does not finish, such as a suspended one [s]."""
TICK = 0.05
"""Time between two attempts [s]."""


class FileLock:
    """A file that the operating system locks for one process and releases when the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        """A lock by the name of `path`, not held yet."""
        self._path = path
        self._file = -1

    @property
    def is_held(self) -> bool:
        """Whether this process holds the lock."""
        return self._file >= 0

    def acquire(self, patience: float = PATIENCE) -> None:
        """Wait for the lock, at most `patience` seconds; go on without it if the folder allows no locks."""
        give_up = time.monotonic() + patience
        with suppress(OSError):
            while not self._attempt() and time.monotonic() < give_up:
                time.sleep(TICK)

    def _attempt(self) -> bool:
        """Try once to take the lock; returns whether it is held and its file still exists, which others may delete."""
        file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            _lock(file)
            if os.name == "nt" or os.fstat(file).st_nlink:
                self._file = file
                return True
        except (BlockingIOError, PermissionError):
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        return False

    def release(self) -> None:
        """Release the lock, if it is held, and delete its file."""
        if self.is_held:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._file)
            self._file = -1


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
