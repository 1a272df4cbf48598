"""The secret key in the studio's address; stored for a day, so that open pages reconnect after a restart."""

from __future__ import annotations

import os
import secrets
import stat
import time
from pathlib import Path

from poise.kernels.jit.cache import user_cache

KEY_FILE = "studio.key"
KEY_LIFETIME = 24.0 * 3600.0
"""Age at which a stored key is replaced [s]."""
ACCESS_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""File permissions of the group and of other users, none of which a key file may have."""


def new_key() -> str:
    """A new random key."""
    return secrets.token_urlsafe(16)


def stored_key() -> str:
    """This user's stored key; a new one if there is none, if it is a day old, or if others can read its file."""
    path = user_cache() / KEY_FILE
    return _read(path) or _store(path, new_key())


def _read(path: Path) -> str:
    try:
        about = path.stat()
        if time.time() - about.st_mtime > KEY_LIFETIME or (os.name == "posix" and about.st_mode & ACCESS_BY_OTHERS):
            return ""
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _store(path: Path, key: str) -> str:
    """Store a key if possible and return it; the studio also starts if the cache folder is not writable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(key)
    except OSError:
        pass
    return key
