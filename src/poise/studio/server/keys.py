"""The key that lets a browser in: the same when the studio is started again, so that open pages find their way back."""

from __future__ import annotations

import os
import secrets
import stat
import time
from pathlib import Path

from poise.kernels.jit.cache import user_cache

FILE = "studio.key"
LASTS = 24.0 * 3600.0
"""Age at which a key is replaced [s]."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What only the user may do with the file."""


def new_key() -> str:
    """A key that nobody can guess."""
    return secrets.token_urlsafe(16)


def kept_key() -> str:
    """This user's key, from a file that nobody else can read; a new one where there is none or it is a day old."""
    path = user_cache() / FILE
    return _read(path) or _written(path, new_key())


def _read(path: Path) -> str:
    try:
        about = path.stat()
        if time.time() - about.st_mtime > LASTS or (os.name == "posix" and about.st_mode & OTHERS):
            return ""
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _written(path: Path, key: str) -> str:
    """The key, kept if it can be: a folder that cannot be written to is no reason not to start."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(key)
    except OSError:
        pass
    return key
