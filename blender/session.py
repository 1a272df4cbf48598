# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection to poise, the armatures that were sent to it, and the live mode."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import bpy

from . import targets
from .client import Client, ReportedError
from .rig import Rig

TICK = 1.0 / 60.0
"""Time between two looks at the targets [s]."""
PATIENCE = 0.012
"""Time that one look may wait for an answer [s]; it comes with the next one otherwise."""
SERVO_INTERVAL = 0.1
"""Longest time between two postures for servos, which return to their safe posture after half a second [s]."""
LIVE_STEPS = 4
"""Largest number of steps of the solver for one look."""


class Session:
    """What this Blender has with poise."""

    def __init__(self) -> None:
        """Begin without a server."""
        self.client: Client | None = None
        self.rigs: dict[str, Rig] = {}
        self.sentence = ""
        """What was last to be said, for the panel."""

    def start(self, command: str) -> None:
        """Start the server, if it does not run."""
        if self.is_running:
            return
        self.stop()
        self.client = Client(command)

    @property
    def is_running(self) -> bool:
        """Whether the server runs."""
        return self.client is not None and self.client.is_alive

    def stop(self) -> None:
        """Stop the live mode and the server."""
        live.stop()
        self.rigs.clear()
        if self.client is not None:
            self.client.stop()
            self.client = None

    def connected(self) -> Client:
        """The connection; a `ReportedError` without one."""
        if self.client is None or not self.client.is_alive:
            raise ReportedError("poise does not run: press Start first.")
        return self.client

    def send(self, armature, base: str) -> Rig:
        """Send an armature anew."""
        client = self.connected()
        before = self.rigs.pop(armature.name, None)
        rig = Rig(client, armature, base)
        if before is not None:
            before.forget()
        self.rigs[armature.name] = rig
        return rig

    def rig(self, armature) -> Rig:
        """An armature that was sent; sent now if it was not."""
        self.connected()
        found = self.rigs.get(armature.name)
        if found is None or any(name not in armature.data.bones for name in found.bones):
            found = self.send(armature, armature.poise_base)
        return found


class Solving:
    """An armature with its tasks, as poise has them."""

    def __init__(self, rig: Rig, armature, scene, *, is_animated: bool = False) -> None:
        """Send the tasks.

        Args:
            rig: The armature, as poise has it.
            armature: The armature.
            scene: The scene, with the empties and the settings.
            is_animated: Whether an animation is corrected, to whose poses everything else returns.
        """
        self.rig, self.rest = rig, scene.poise_rest
        natural = self.rest == "NATURAL" and rig.is_person and not is_animated
        self.keep = self.rest != "STAY" and not natural
        empties = targets.targets_of(armature, scene)
        if not empties:
            raise ReportedError(f"{armature.name!r} has no targets yet: add a pin, a point to look at, or a balance.")
        self._signature = targets.signature(empties, self.rest)
        found = targets.tasks(rig, armature, empties, self.keep)
        rig.client.ask(do="tasks", figure=rig.handle, tasks=found, natural=natural)

    def message(self, places: dict, *, pose: dict | None, kept: dict | None, steps: int) -> dict[str, Any]:
        """A solve for targets, from a pose, near to a pose that is to be kept."""
        found: dict[str, Any] = {"do": "solve", "figure": self.rig.handle, "steps": steps, "targets": places}
        if kept is not None and self.keep:
            found["targets"] = places | {targets.KEEP: kept}
        if pose is not None:
            found["pose"] = pose
        return found

    def is_outdated(self, empties, rest: str) -> bool:
        """Whether the tasks are others by now."""
        return targets.signature(empties, rest) != self._signature


class Live:
    """The live mode: looks at the targets sixty times a second, and lets the character follow."""

    def __init__(self) -> None:
        """Begin switched off."""
        self._armature, self._scene = "", ""
        self._solving: Solving | None = None
        self._seen: dict[str, list[float]] = {}
        self._waits = self._to_servos = self._first = False
        self._rests = True
        self._written = 0.0
        self.solves = 0
        """Number of poses that came since the start."""

    @property
    def is_on(self) -> bool:
        """Whether it is on."""
        return bool(self._armature)

    @property
    def armature_name(self) -> str:
        """Name of the armature that follows; "" if none does."""
        return self._armature

    @property
    def streams(self) -> bool:
        """Whether poses go to servos."""
        return self._to_servos

    def start(self, armature, scene) -> None:
        """Let an armature follow its targets."""
        self.stop()
        rig = session.rig(armature)
        self._begin(rig, armature, scene)
        self._armature, self._scene, self.solves = armature.name, scene.name, 0
        if not bpy.app.timers.is_registered(look):
            bpy.app.timers.register(look, first_interval=TICK)

    def _begin(self, rig: Rig, armature, scene) -> Solving:
        self._solving = None  # should the tasks be refused
        self._solving = Solving(rig, armature, scene)
        self._kept = rig.pose(armature)
        rig.note_pose(armature)
        self._first, self._rests, self._seen = True, False, {}
        return self._solving

    def stop(self) -> None:
        """Switch it off; servos stop."""
        if bpy.app.timers.is_registered(look):
            bpy.app.timers.unregister(look)
        if self._to_servos and session.is_running and self._solving is not None:
            with contextlib.suppress(ReportedError):
                session.client.ask(do="stop", figure=self._solving.rig.handle)
        self.end()

    def end(self) -> None:
        """Switch it off without asking poise, which may be gone."""
        self._armature, self._solving, self._waits, self._to_servos = "", None, False, False

    def stream(self, on: bool) -> None:
        """Send poses to servos, which are connected."""
        self._to_servos = on

    def tick(self) -> bool:
        """Look at the targets once; returns whether the pose has changed."""
        armature, scene = bpy.data.objects.get(self._armature), bpy.data.scenes.get(self._scene)
        if armature is None or scene is None or armature.type != "ARMATURE":
            raise ReportedError(f"the armature {self._armature!r} is gone, so the live mode ends.")
        if self._waits:
            return self._receive(armature, PATIENCE)
        rig, empties = session.rig(armature), targets.targets_of(armature, scene)
        solving = self._solving
        if solving is None or solving.rig is not rig or solving.is_outdated(empties, scene.poise_rest):
            solving = self._begin(rig, armature, scene)
        changed = rig.was_changed(armature)
        seen = targets.values(rig, armature, empties)
        due = self._to_servos and time.monotonic() - self._written > SERVO_INTERVAL
        if seen == self._seen and self._rests and not (changed or self._first or due):
            return False
        pose = rig.pose(armature) if changed or self._first else None
        kept = self._kept if self._first else None
        message = solving.message(seen, pose=pose, kept=kept, steps=LIVE_STEPS)
        rig.client.send(message | ({"servos": True} if self._to_servos else {}))
        self._seen, self._waits, self._first = seen, True, False
        self._written = time.monotonic()
        return self._receive(armature, PATIENCE)

    def _receive(self, armature, patience: float) -> bool:
        assert self._solving is not None
        rig = self._solving.rig
        try:
            answer = rig.client.poll(patience)
        except ReportedError:
            self._waits = False
            raise
        if answer is None:
            return False
        self._waits, self._rests = False, answer["steps"] < LIVE_STEPS
        rig.apply(armature, answer["rotations"], answer["locations"])
        self.solves += 1
        return True


session = Session()
live = Live()


def look() -> float | None:
    """What Blender's timer does: look at the targets; returns when to look again, None when the live mode has ended."""
    try:
        live.tick()
    except ReportedError as problem:
        session.sentence = str(problem)
        print(f"poise: {problem}")
        live.end()
    return TICK if live.is_on else None
