"""Solves of `poise serve`, as one client and as two at once meet them, and while another one retargets a long clip.

An armature of sixty bones stands on both feet, in balance, and its hand is pulled from the side to the floor in 120
solves of four steps, sent and answered over a web socket one after the other, as the Blender add-on does. Processor
time is that of the server.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from machine import describe
from results import Table
from websockets.sync.client import ClientConnection, connect

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from poise.service.wire import pack, unpack
from tests.unit.service.people import person

FRAMES, STEPS, CLIP_FRAMES = 120, 4, 1200


class Client:
    """A program with a person."""

    def __init__(self, address: str) -> None:
        """Connect, and send the armature."""
        self.socket: ClientConnection = connect(address, max_size=None)
        answer = self.ask(do="figure", bones=person())
        self.figure, self.bones = answer["figure"], answer["bones"]

    def ask(self, **message: object) -> dict:
        """Send a message, and wait for its answer."""
        self.socket.send(pack(message, binary=True))
        answer = unpack(self.socket.recv())
        if "error" in answer:
            raise SystemExit(answer["error"])
        return answer

    def stand(self, *, natural: bool) -> None:
        """Pin the feet, keep the balance, and pull a hand."""
        self.ask(do="pose", figure=self.figure, pose={"rotations": {bone: [1, 0, 0, 0] for bone in self.bones}})
        world = self.ask(do="pose", figure=self.figure, give=["world"])
        at = dict(zip(self.bones, zip(world["heads"].tolist(), world["frames"].tolist(), strict=True), strict=True))
        feet = [
            {"kind": "frame", "site": foot, "at": at[foot][0], "turned": at[foot][1]} for foot in ("foot.L", "foot.R")
        ]
        balance = {"kind": "center_of_mass", "at": [0.0, -0.06, 0.0], "axes": "xy", "priority": 2}
        hand = {"kind": "position", "site": "hand.R", "name": "hand", "at": at["hand.R"][0], "priority": 3}
        self.start = np.array(at["hand.R"][0])
        self.ask(do="tasks", figure=self.figure, tasks=[*feet, balance, hand], natural=natural)

    def drag(self) -> np.ndarray:
        """Times of the solves [s]."""
        times = []
        for share in np.linspace(0.0, 1.0, FRAMES):
            at = self.start + np.array([0.5 * share, -0.5 * np.sin(0.5 * np.pi * share), -1.2 * share])
            begin = time.perf_counter()
            self.ask(do="solve", figure=self.figure, targets={"hand": at.tolist()}, steps=STEPS)
            times.append(time.perf_counter() - begin)
        return np.array(times)

    def retarget(self) -> None:
        """Retarget a long clip, in which an arm swings."""
        source = self.ask(do="figure", bones=person())["figure"]
        turns = np.zeros((CLIP_FRAMES, len(self.bones), 4))
        turns[:, :, 0] = 1.0
        angles = np.sin(np.linspace(0.0, 20.0, CLIP_FRAMES))
        arm = self.bones.index("upper_arm.L")
        turns[:, arm, 0], turns[:, arm, 1] = np.cos(0.5 * angles), np.sin(0.5 * angles)
        clip = {"rate": 60.0, "rotations": turns, "locations": {"hips": np.zeros((CLIP_FRAMES, 3))}}
        self.ask(**{"do": "retarget", "figure": self.figure, "from": source, "clip": clip})


class Spent(NamedTuple):
    """What drags took."""

    times: np.ndarray
    """Of all solves [s]."""
    processor: float
    """Processor time of the server for a solve [s]."""


def main() -> None:
    """Print the table."""
    print(describe("numba", "numpy", "websockets"))
    command = [sys.executable, "-m", "poise", "serve", "--until-stdin-closes"]
    table = Table("", "", "solves a second, each client", "median ms", "99 % ms", "server's processor time, ms a solve")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        clients = [Client(address), Client(address)]
        for natural, word in ((False, "plain"), (True, "natural motion")):
            for each in clients:
                each.stand(natural=natural)
            clients[0].drag()  # loads or compiles what is needed
            table.row(f"{word}, one client", *row(dragged(clients[:1], server.pid)))
            table.row(f"{word}, two clients", *row(dragged(clients, server.pid)))
        clients[1].retarget()
        working = threading.Thread(target=clients[1].retarget)
        working.start()
        table.row("natural motion, beside a client that retargets", *row(dragged(clients[:1], server.pid))[:3], "")
        working.join()
        server.stdin.close()


def dragged(clients: list[Client], process: int) -> Spent:
    """Let clients drag at the same time."""
    before, found = processor_time(process), []
    threads = [threading.Thread(target=lambda each=each: found.append(each.drag())) for each in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = processor_time(process) - before
    return Spent(np.concatenate(found), spent / (FRAMES * len(clients)))


def row(spent: Spent) -> tuple[float, ...]:
    """The cells of a row."""
    ms = 1e3 * spent.times
    return 1e3 / ms.mean(), float(np.median(ms)), float(np.percentile(ms, 99)), 1e3 * spent.processor


def processor_time(process: int) -> float:
    """Processor time that a process has used [s]; 0 where /proc is not there."""
    path = Path(f"/proc/{process}/stat")
    if not path.exists():
        return 0.0
    used = path.read_text().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / 100.0


if __name__ == "__main__":
    main()
