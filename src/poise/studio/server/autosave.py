"""Saves the scene every few seconds, so that a studio that is started again at the same port shows it again."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

from poise.errors import NotReadyError, PoiseError
from poise.studio.control.archives import mesh_files
from poise.studio.control.files import saved_scene
from poise.studio.control.modes import Modes
from poise.studio.session.state import State

AUTOSAVE_INTERVAL = 3.0
"""Time between two saves of a scene that changes [s]."""
SAVED_MODES = ("pose", "mechanism")
"""Modes that show the user's own scene; others make a scene of their own."""
ZIP_MAGIC = b"PK"


def user_state() -> Path:
    """The folder for what poise remembers of this user: `POISE_STATE_DIR`, or the operating system's usual place."""
    if override := os.environ.get("POISE_STATE_DIR"):
        return Path(override)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "poise"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "poise"
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (given if given.is_absolute() else home / ".local" / "state") / "poise"


def autosave_file(port: int) -> Path:
    """The file with the scene of the studio at a port."""
    return user_state() / f"studio-{port}.scene"


def dropped_files(port: int) -> Path:
    """The folder of the files that are dropped on the page, which the saved scene may need."""
    return user_state() / f"studio-{port}.files"


def forget_unused(modes: Modes) -> None:
    """Delete the files that were dropped in former sessions, but for those of the present scene."""
    folder, scene = modes.inbox.folder, modes.session.state.scene
    used = [str(path) for path in mesh_files(scene.figure)]
    if scene.origin is not None:
        used += [scene.origin.figure, scene.origin.closures or ""]
    for path in folder.iterdir() if folder.is_dir() else ():
        if any(Path(each).is_relative_to(path) for each in used):
            continue
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


class Autosave:
    """Saves the scene of a session to a file, and opens it again."""

    def __init__(self, modes: Modes, path: Path) -> None:
        """Save to `path`; `start` starts the thread that does."""
        self.modes, self.path = modes, path
        self._waiting = b""
        self._saved: State | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="poise studio autosave", daemon=True)

    def recover(self) -> None:
        """Open the scene that was saved last, if there is one; undo returns to the scene that the studio began with."""
        try:
            self._waiting = self.path.read_bytes()
        except OSError:
            return
        self._open_waiting()

    def _open_waiting(self) -> None:
        """Open what was saved; if its kernels are still being compiled, try again later."""
        data = self._waiting
        try:
            self.modes.inbox.take("scene.zip" if data.startswith(ZIP_MAGIC) else "scene.toml", data)
            self.modes.recovered = True
        except NotReadyError:
            return
        except PoiseError as problem:
            print(f"the scene of the last session could not be opened: {problem}", file=sys.stderr, flush=True)
        self._waiting, self._saved = b"", self.modes.session.state

    def save(self) -> bool:
        """Save the scene if it has changed since; returns whether it was saved."""
        session = self.modes.session
        state = session.state
        same = self._saved is not None and state.scene is self._saved.scene and state.posture == self._saved.posture
        if same or not session.can_undo or state.mode.name not in SAVED_MODES:
            return False
        try:
            _, data = saved_scene(session)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_suffix(".new")
            new.write_bytes(data)
            new.replace(self.path)
        except (PoiseError, OSError):  # a task in Python has no file; a folder may not be writable
            return False
        self._saved = state
        return True

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and save once more."""
        self._stopped.set()
        self._thread.join()
        self.save()

    def _run(self) -> None:
        while not self._stopped.wait(AUTOSAVE_INTERVAL):
            if self._waiting and not self.modes.session.can_undo:
                self._open_waiting()
            else:
                self._waiting = b""
                self.save()
