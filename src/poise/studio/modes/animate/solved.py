"""Solves the frames of the scene's animation in the background; stretches that did not change are kept."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from poise.engine.scene import Scene
from poise.errors import NotReadyError, PoiseError
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.motion.clip.motion import Motion
from poise.motion.keys.inbetweens import Inbetweens, Stretch, finished

RETRY_INTERVAL = 0.5
"""Time between two attempts to solve while kernels are being compiled [s]."""
STRETCHES_KEPT = 200
"""Number of solved stretches that are remembered, for undo and redo."""
PARTS_THAT_MATTER = ("figure", "animation", "obstacles", "solid", "forces")
"""Parts of a scene that its frames depend on."""


@dataclass(eq=False)
class Plan:
    """What is asked between the keys of one version of an animation."""

    inbetweens: Inbetweens
    digests: tuple[Any, ...] = ()
    """Digest of each interval, which identifies its solved frames; empty until they have been computed."""

    def stretches(self) -> list[tuple[Stretch, Any]]:
        """The stretches with their digests; None for those that have none yet."""
        return list(zip_longest(self.inbetweens.stretches, self.digests))

    def compute_digests(self) -> None:
        """Find out what each stretch depends on."""
        scene = self.inbetweens.scene
        same = (id(scene.figure), scene.obstacles, scene.solid, scene.forces)
        self.digests = tuple((*same, stretch.digest) for stretch in self.inbetweens.stretches)


class SolvedAnimation:
    """The frames of the newest version of an animation, as far as they have been solved."""

    def __init__(self, changed: Callable[[], object]) -> None:
        """Start without an animation; `changed` is called when more frames have been solved."""
        self.problem = ""
        """Why frames could not be solved, in a sentence; empty if they could."""
        self._changed = changed
        self._plan: Plan | None = None
        self._asked: tuple[Any, ...] = ()
        self._frames: dict[tuple[Any, ...], FloatArray] = {}
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self.version = 0
        """Grows whenever an interval has been solved."""

    def follow(self, scene: Scene) -> None:
        """Solve the frames of a scene's animation if it has changed."""
        parts = tuple(getattr(scene, name) for name in PARTS_THAT_MATTER)
        if len(parts) == len(self._asked) and all(a is b for a, b in zip(parts, self._asked, strict=True)):
            return
        self._asked = parts
        if scene.animation is None and self._plan is None and not self.problem:
            return
        with self._lock:
            self.problem, self._plan = "", None
            if scene.animation is not None:
                try:
                    self._plan = Plan(Inbetweens(scene))
                except PoiseError as problem:
                    self.problem = str(problem)
            self.version += 1
        self._wanted.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="poise studio animation", daemon=True)
            self._thread.start()

    @property
    def inbetweens(self) -> Inbetweens | None:
        """What is asked at every time; None without an animation."""
        plan = self._plan
        return None if plan is None else plan.inbetweens

    def progress(self) -> list[tuple[float, float, bool]]:
        """Start and end of every stretch, and whether it has been solved [s]."""
        plan = self._plan
        if plan is None:
            return []
        return [(stretch.start, stretch.end, digest in self._frames) for stretch, digest in plan.stretches()]

    @property
    def is_solved(self) -> bool:
        """Whether all frames have been solved."""
        return self._plan is not None and all(done for _, _, done in self.progress())

    def posture_at(self, time: float) -> Posture | None:
        """The posture of the frame at a time: solved, or on the way between keys; None without an animation [s]."""
        plan = self._plan
        if plan is None:
            return None
        inbetweens = plan.inbetweens
        frame = min(max(round(time * inbetweens.rate), 0), len(inbetweens.times) - 1)
        first = 0
        for stretch, digest in plan.stretches():
            if frame < first + len(stretch.times):
                solved = self._frames.get(digest)
                if solved is not None:
                    return Posture(inbetweens.scene.figure, solved[frame - first].copy())
                break
            first += len(stretch.times)
        return inbetweens.scene.figure.clamp(inbetweens.posture_at(float(inbetweens.times[frame])))

    def motion(self) -> Motion | None:
        """The whole motion; None if not all frames have been solved."""
        plan = self._plan
        if plan is None or not self.is_solved:
            return None
        return finished(plan.inbetweens, np.concatenate([self._frames[digest] for digest in plan.digests]), None)

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            try:
                while self._solve_next():
                    pass
            except NotReadyError:
                time.sleep(RETRY_INTERVAL)
                self._wanted.set()
            except PoiseError as problem:
                self.problem = str(problem)
                self._changed()
            except Exception:
                logging.getLogger(__name__).exception("the animation could not be solved")
                self.problem = "The frames between keys could not be solved; see the terminal for the error."
                self._changed()

    def _solve_next(self) -> bool:
        """Solve the first stretch that is not; returns whether there may be another."""
        plan = self._plan
        if plan is None:
            return False
        if not plan.digests:
            plan.compute_digests()
            self.version += 1
            self._changed()
        todo = [(stretch, digest) for stretch, digest in plan.stretches() if digest not in self._frames]
        if not todo:
            return False
        stretch, digest = todo[0]
        frames = self._solve(plan, stretch)
        if frames is None:
            return self._plan is not None
        with self._lock:
            self._frames[digest] = frames
            kept = set(plan.digests)
            for old in list(self._frames)[: max(len(self._frames) - STRETCHES_KEPT, 0)]:
                if old not in kept:
                    del self._frames[old]
            self.version += 1
        self._changed()
        return True

    def _solve(self, plan: Plan, stretch: Stretch) -> FloatArray | None:
        """(frames, nq) the frames of a stretch; None if the animation has changed meanwhile."""
        frames = []
        for q in stretch.frames():
            if self._plan is not plan:
                return None
            frames.append(q)
        return np.array(frames).reshape(len(frames), plan.inbetweens.scene.figure.nq)
