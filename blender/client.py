# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts `poise serve`, asks it, and ends it. Knows nothing of Blender.

docs/serve.md of poise describes the messages.
"""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np

from .websocket import ConnectionLostError, WebSocket

PROTOCOL = 1
"""Version of the protocol that this client speaks."""
START_TIME = 60.0
"""Time that the server may take to start [s]."""
ANSWER_TIME = 600.0
"""Longest time for an answer [s]: the first ones may compile."""
NUMBER = np.dtype("<f8")
INSTALL = "install it with: pip install 'poise[serve]'; then give its path in the preferences of the add-on."


class ReportedError(Exception):
    """What went wrong, in a sentence for people."""


class Client:
    """A server that this program has started, and the connection to it."""

    def __init__(self, command: str = "") -> None:
        """Start the server.

        Args:
            command: The program and its arguments, such as "/home/me/venv/bin/poise"; empty to look for poise.
        """
        self.events: list[str] = []
        """Sentences of the server about servos, the newest last."""
        self._asked = 0
        self._process, self._socket = _started(command), None
        try:
            about = _first_line(self._process)
            if about.get("protocol") != PROTOCOL:
                raise ReportedError(
                    f"poise {about.get('poise')} speaks version {about.get('protocol')} of the protocol, this add-on "
                    f"version {PROTOCOL}: update the older one."
                )
            self._socket = _connected(about["address"])
            self.about = self.ask(do="hello")
        except BaseException:
            self.stop()
            raise

    @property
    def process_id(self) -> int:
        """The number of the server's process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the server runs."""
        return self._process.poll() is None and self._socket is not None

    def ask(self, **message) -> dict:
        """Send a message and wait for its answer."""
        self.send(message)
        answer = self.poll(ANSWER_TIME)
        if answer is None:
            raise ReportedError(f"poise did not answer within {ANSWER_TIME / 60.0:.0f} minutes.")
        return answer

    def send(self, message: dict) -> None:
        """Send a message, whose answer `poll` returns; that of an earlier one is no longer of interest."""
        self._asked += 1
        try:
            self._open().send(packed(message | {"id": self._asked}))
        except ConnectionLostError as problem:
            raise ReportedError(self._why(problem)) from None

    def poll(self, timeout: float = 0.0) -> dict | None:
        """The answer to the last message; None if it has not come in this time [s]. Events are noted on the way."""
        while True:
            try:
                found = self._open().receive(timeout)
            except ConnectionLostError as problem:
                raise ReportedError(self._why(problem)) from None
            if found is None:
                return None
            answer = unpacked(found)
            if "event" in answer:
                self.events = [*self.events[-99:], str(answer["text"])]
            elif answer.get("id", self._asked) != self._asked:
                continue
            elif "error" in answer:
                raise ReportedError(str(answer["error"]))
            else:
                return answer

    def stop(self) -> None:
        """End the connection and the server; does nothing if that is done."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        with self._process as server:  # closes its input, by which it ends
            try:
                if server.stdin is not None:
                    server.stdin.close()
                server.wait(10.0)
            except (OSError, subprocess.TimeoutExpired):
                server.kill()

    def _open(self) -> WebSocket:
        if self._socket is None:
            raise ReportedError("poise has been stopped; start it again.")
        return self._socket

    def _why(self, problem: ConnectionLostError) -> str:
        """What to say when the connection is lost."""
        code = self._process.poll()
        return f"poise has ended (code {code}); start it again." if code is not None else str(problem)


def found_command(command: str = "") -> list[str]:
    """The program to start, and its arguments."""
    if not command.strip():
        path = shutil.which("poise")
        if path is None:
            raise ReportedError(f"poise is not on the search path: {INSTALL}")
        return [path]
    if Path(command).exists():
        return [command]
    return [part.strip('"') for part in shlex.split(command, posix=os.name != "nt")]


def _started(command: str) -> subprocess.Popen:
    words = [*found_command(command), "serve", "--until-stdin-closes"]
    hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    # Blender's own Python must not be where poise's Python looks for its modules.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=inherited, creationflags=hidden)
    except OSError as problem:
        raise ReportedError(f"{words[0]!r} cannot be started ({problem.strerror}): {INSTALL}") from None


def _first_line(server: subprocess.Popen) -> dict:
    """The line with the address; what the server says else is kept for an error."""
    lines: queue.Queue[bytes] = queue.Queue()
    said: list[bytes] = []

    def read() -> None:
        lines.put(server.stdout.readline())
        for _ in server.stdout:  # so that its pipe does not fill
            pass

    def listen() -> None:
        for line in server.stderr:
            said[:] = [*said[-9:], line]

    reader, listener = (threading.Thread(target=work, daemon=True) for work in (read, listen))
    reader.start()
    listener.start()
    try:
        about = json.loads(lines.get(timeout=START_TIME))
        if not isinstance(about, dict) or "address" not in about:
            raise ValueError
    except queue.Empty:
        raise ReportedError(f"poise did not start within {START_TIME:.0f} seconds.") from None
    except ValueError:
        listener.join(2.0)
        words = b" ".join(said).decode("utf-8", "replace").split()
        raise ReportedError(f"this is not a poise that can serve: {' '.join(words)[-300:] or INSTALL}") from None
    return about


def _connected(address: str) -> WebSocket:
    try:
        return WebSocket(address)
    except ConnectionLostError as problem:
        raise ReportedError(str(problem)) from None


def packed(message: dict) -> bytes:
    """A message as JSON on one line, with its arrays as numbers behind it."""
    chunks: list[bytes] = []
    count = 0

    def reference(value) -> dict:
        nonlocal count
        array = np.ascontiguousarray(value, NUMBER)
        at, count = count, count + array.size
        chunks.append(array.tobytes())
        return {"shape": list(array.shape), "at": at}

    return json.dumps(message, default=reference).encode() + b"\n" + b"".join(chunks)


def unpacked(message: str | bytes) -> dict:
    """The object in a message, with its arrays."""
    if isinstance(message, str):
        return json.loads(message)
    head, _, data = message.partition(b"\n")
    numbers = np.frombuffer(data, NUMBER)

    def array(value: dict):
        if value.keys() != {"shape", "at"}:
            return value
        size = int(np.prod(value["shape"]))
        return numbers[value["at"] : value["at"] + size].reshape(value["shape"])

    return json.loads(head, object_hook=array)
