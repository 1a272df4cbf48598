"""The studio on this machine: solves and frames per second while a hand is dragged, delay, processor, memory.

python benchmarks/studio.py               the server: a client drags a hand around for ten seconds
python benchmarks/studio.py --browser     the same in Chromium too: from a pointer's move to the picture that shows it
python benchmarks/studio.py --soak 600    random dragging and turning for that many seconds: no error, no leak, no NaN
python benchmarks/studio.py --monkey 600  random clicks, drags, keys and numbers on the page: no error, memory
python benchmarks/studio.py --scenes 2100 all scenes and figures opened in random order, and pulled: no error, memory
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe
from studio_browser import measure_browser
from studio_monkey import monkey, scenes
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

import poise
from poise import CenterOfMass, Frame, Hold, LookAt, Orientation, Position
from poise.engine.scene import Scene
from poise.studio.wire.connection import ACKNOWLEDGED
from poise.studio.wire.frames import Frame as Row
from poise.studio.wire.frames import unpacked

FEET = ("left_foot", "right_foot")
SECONDS, RATE = 10.0, 60.0
WARM = 2.0
"""Seconds of dragging before anything is counted."""
CIRCLE = 0.25
"""Radius of the circle on which the hand is dragged [m]."""
LEAK = 30.0
"""Growth of the server that counts as a leak, after the first fifth of a soak [MB]."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", action="store_true", help="measure in Chromium too")
    parser.add_argument("--soak", type=float, metavar="SECONDS", help="drag at random for so long instead")
    parser.add_argument("--monkey", type=float, metavar="SECONDS", help="click at random for so long instead")
    parser.add_argument("--scenes", type=float, metavar="SECONDS", help="open scenes on the page for so long instead")
    parser.add_argument("--seed", type=int, default=0, help="chooses what the soak does")
    given = parser.parse_args()
    print(describe("nicegui", "numba", "numpy") + f", load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten_tasks.toml"
        ten_tasks().save(path)
        with Server(path) as server:
            if given.soak is not None:
                soak(server, given.soak, given.seed)
                return
            if given.monkey is not None:
                monkey(server.door, given.monkey, given.seed, server.megabytes)
                return
            if given.scenes is not None:
                scenes(server.door, given.scenes, given.seed, server.megabytes)
                return
            measure(server)
            if given.browser:
                hand = _hand()
                measure_browser(server.door, hand, lambda seconds: lead(Client(server), hand, seconds))


def ten_tasks() -> Scene:
    """The human with ten tasks at five levels."""
    human, start = poise.load("human"), "standing"

    def place(site: str) -> np.ndarray:
        return human.pose_of(site, start).position

    tasks = [
        *(Frame(foot, human.pose_of(foot, start), priority=1) for foot in FEET),
        CenterOfMass(over=FEET, margin=0.02, priority=2),
        LookAt("eyes", at=(0.0, 1.4, 2.0), priority=3),
        Position("left_hand", place("left_hand"), priority=3),
        Orientation("pelvis", human.pose_of("pelvis", start).rotation, axes="xz", priority=4),
        *(Position(f"{side}_radius", place(f"{side}_radius"), priority=4, weight=0.5) for side in ("left", "right")),
        Position("chest", place("chest"), axes="y", priority=4),
        Hold(start, joints=("neck", "head"), priority=5, gain=0.1),
    ]
    assert len(tasks) == 10
    return Scene(human, tasks, start=start)


class Server:
    """A studio in a process of its own."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-m", "poise", "studio", str(path), "--no-browser", "--port", "0"]
        self.remarks = path.with_suffix(".log")
        with self.remarks.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)

    def __enter__(self) -> Server:
        assert self.process.stdout is not None
        found = re.search(r"(http://127\.0\.0\.1:\d+/)\?key=(\S+)", self.process.stdout.readline())
        assert found, self.remarks.read_text() or "the studio did not start"
        self.address, self.door = found.group(1), found.group(0)
        jar = CookieJar()
        urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar)).open(self.door).read()
        self.cookie = "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=120)
        said = self.remarks.read_text()
        assert code == 0 and "Traceback" not in said, said

    def seconds(self) -> float:
        """Processor time that the server used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Memory that the server holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) / 1024.0


class Client:
    """One viewport's connection."""

    def __init__(self, server: Server) -> None:
        headers = {"Cookie": server.cookie, "Origin": server.address.rstrip("/")}
        address = server.address.replace("http", "ws") + "studio/stream"
        self.socket: ClientConnection = connect(address, additional_headers=headers, legacy=True)
        self.frames: list[tuple[float, Row]] = []
        self.last = unpacked(self.socket.recv())  # type: ignore[arg-type]
        self.socket.send(ACKNOWLEDGED)
        self.bad = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(ConnectionClosed):  # the server ends before its clients
            for data in self.socket:
                self._take(data)

    def _take(self, data: Any) -> None:
        self.last = row = unpacked(data)
        self.socket.send(ACKNOWLEDGED)
        self.frames.append((time.perf_counter(), row))
        self.bad += not all(np.isfinite(part).all() for part in (row.bodies, row.targets, row.marks))

    def say(self, **message: Any) -> None:
        """Send a message of the pointer."""
        self.socket.send(json.dumps({"figure": self.last.figure_number, **message}))


def _hand() -> int:
    return [body.name for body in poise.load("human").bodies].index("right_hand")


def lead(client: Client, hand: int, seconds: float) -> None:
    """Drag the hand around for so long."""
    middle = np.add(client.last.bodies[hand, :3].astype(float), [-0.15, 0.35, 0.25])
    client.say(do="press", body=hand, point=[0, 0, 0])
    start = time.perf_counter()
    while (now := time.perf_counter() - start) < seconds:
        client.say(do="drag", at=_on_the_way(middle, now).tolist())
        time.sleep(1.0 / RATE)
    client.say(do="release")


def _on_the_way(middle: np.ndarray, now: float) -> np.ndarray:
    return middle + CIRCLE * np.array([np.cos(2.0 * now), np.sin(2.0 * now), 0.3 * np.sin(3.0 * now)])


def measure(server: Server) -> None:
    """Drag the right hand around, and count."""
    client, hand = Client(server), _hand()
    middle = np.add(client.last.bodies[hand, :3].astype(float), [-0.15, 0.35, 0.25])
    client.say(do="press", body=hand, point=[0, 0, 0])
    sent: list[tuple[float, np.ndarray]] = []
    start = time.perf_counter()
    used = counted = 0.0
    while (now := time.perf_counter() - start) < WARM + SECONDS:
        if now > WARM and not counted:
            used, counted = server.seconds(), time.perf_counter()
            client.frames.clear()
            sent.clear()
        at = _on_the_way(middle, now)
        sent.append((time.perf_counter(), at.astype("<f4")))
        client.say(do="drag", at=at.tolist())
        time.sleep(1.0 / RATE)
    span = time.perf_counter() - counted
    share = (server.seconds() - used) / span
    steps = [row.step for _, row in client.frames]
    delays = _delays(sent, client.frames)
    print(f"human, ten tasks at five levels and a pull, which is dragged {len(sent) / span:.0f} times/s")
    print(f"  {_solves(steps, len(sent)) / span:.0f} solves/s, {len(steps) / span:.0f} frames/s")
    print(f"  drag to frame: median {np.median(delays):.1f} ms, 95 % below {np.percentile(delays, 95):.1f} ms")
    print(f"  server: {100.0 * share:.0f} % of a core, {server.megabytes():.0f} MB")
    client.say(do="release")


def _solves(steps: list[int], drags: int) -> int:
    """Changes of the state that were not drags: those are steps of the solver."""
    return steps[-1] - steps[0] - drags


def _delays(sent: list[tuple[float, np.ndarray]], frames: list[tuple[float, Row]]) -> list[float]:
    """From each drag to the first frame that has its target, of those that any frame has [ms]."""
    found, k = [], 0
    for when, row in frames:
        pulled = row.targets[row.targets[:, 0] < 0, 2:5]
        for j in range(k, len(sent)):
            if len(pulled) and np.array_equal(pulled[0], sent[j][1]):
                found.append(1000.0 * (when - sent[j][0]))
                k = j + 1
                break
    return found


def soak(server: Server, seconds: float, seed: int) -> None:
    """Drag, turn, aim, pin and undo at random from two clients; fail for an error, a leak or a NaN."""
    rng = np.random.default_rng(seed)
    clients = [Client(server), Client(server)]
    human = poise.load("human")
    start, sizes, done = time.perf_counter(), [server.megabytes()], 0
    while time.perf_counter() - start < seconds:
        client = clients[int(rng.integers(2))]
        done += _gesture(client, rng, len(human.bodies), human.nv)
        client.frames.clear()
        sizes.append(server.megabytes())
        assert server.process.poll() is None, "the studio died"
        assert client.bad == 0, "a frame has a number that is none"
    settled = sizes[len(sizes) // 5]
    print(f"{seconds:.0f} s of random dragging, seed {seed}: {done} messages, {len(sizes)} gestures")
    print(f"  memory: {settled:.0f} MB after a fifth, {sizes[-1]:.0f} MB at the end; light {clients[0].last.light}")
    assert sizes[-1] - settled < LEAK, "the studio grows"


def _gesture(client: Client, rng: np.random.Generator, bodies: int, freedoms: int) -> int:
    """One random gesture with the pointer."""
    kind = rng.choice(["pull", "turn", "aim"], p=[0.7, 0.15, 0.15])
    steps = int(rng.integers(2, 60))
    body, freedom, task = int(rng.integers(bodies)), int(rng.integers(6, freedoms)), int(rng.integers(2))
    at = client.last.bodies[body, :3].astype(float)
    way = rng.normal(size=3) * rng.choice([0.02, 0.2, 1.0, 5.0])
    if kind == "pull":
        client.say(do="press", body=body, point=(0.05 * rng.normal(size=3)).tolist())
    elif kind == "turn":
        client.say(do="grip", freedom=freedom)
    for k in range(1, steps + 1):
        there = (at + k / steps * way + 0.005 * rng.normal(size=3)).tolist()
        if kind == "pull":
            client.say(do="drag", at=there)
        elif kind == "turn":
            client.say(do="twist", freedom=freedom, amount=float(3.0 * k / steps * np.sign(way[0])))
        else:
            client.say(do="aim", task=task, at=(0.1 * np.array(there)).tolist(), gesture=repr(way[0]))
        time.sleep(1.0 / RATE)
    client.say(do="release")
    return steps


if __name__ == "__main__":
    main()
