"""Compiles all kernels in worker processes, in the order of need, while this process does other things.

LLVM keeps the memory of all that it compiles, 1.2 GB for a worker that does half of the work, so a worker that holds
much is replaced by another one.

The workers have a low priority, so that a studio that is in use answers at once. As long as they are at work, this
process compiles nothing itself: a call that needs a kernel which is not there yet raises `NotReadyError` and can be
repeated later. Compiling would block every thread of the process, since numba holds Python's global lock.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from poise.cores import usable_cores
from poise.errors import NotReadyError, PoiseError
from poise.kernels.jit import cache, machine_code
from poise.warmup import PURPOSES, Step, steps

R = TypeVar("R")
MOST_WORKERS = 8
"""Most workers at once: the longest step takes a seventh of the time of all, so more would only take memory."""
MUCH_MEMORY = 450.0
"""A worker that has held more than this is replaced [MB]. The largest step adds 400 MB."""


class Preparation:
    """The workers, what they have done, and how long the stages took."""

    def __init__(self) -> None:
        """Plan all steps; `start` starts the workers."""
        self._waiting = list(steps())
        self._left = list(self._waiting)
        self._running: dict[str, float] = {}
        self._changed = threading.Condition()
        self._started = time.monotonic()
        self._problem: str | None = None
        self._is_stopped = False
        self._threads: list[threading.Thread] = []
        self._workers: list[subprocess.Popen[str]] = []
        self._files: set[str] = set()
        self.times: list[float] = []
        """Time from the start to the end of each stage that is done [s]."""
        self.on_stage: Callable[[int, float], object] = lambda stage, seconds: None
        """Called with a stage and its time when it is done, from another thread."""
        self.on_problem: Callable[[str], object] = lambda sentence: None
        """Called with what a worker said when it failed, from another thread."""

    def start(self) -> None:
        """Keep one worker per core busy, but no more than are of use."""
        machine_code.when_missing.append(self._refuse)
        for _ in range(min(usable_cores(), MOST_WORKERS, len(self._waiting))):
            self._threads.append(threading.Thread(target=self._work, name="poise compiling", daemon=True))
            self._threads[-1].start()

    def stop(self) -> None:
        """End the workers; what they have compiled is kept."""
        with self._changed:
            self._is_stopped = True
            for worker in self._workers:
                worker.kill()
        self._let_compile()
        for thread in self._threads:
            thread.join()

    @property
    def is_over(self) -> bool:
        """Whether everything is compiled, or nothing more will be."""
        return not self._left or self._problem is not None

    @property
    def seconds(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._started

    def share(self, stage: int | None = None) -> float:
        """Share of the work of a stage, or of all, that is done: by estimated time, also of what is being done."""
        now = time.monotonic()
        with self._changed:
            rest = sum(
                step.effort - min(0.9 * step.effort, now - self._running.get(step.what, now))
                for step in self._left
                if stage in (None, step.stage)
            )
        return 1.0 - rest / sum(step.effort for step in steps() if stage in (None, step.stage))

    @property
    def activity(self) -> str:
        """Names of what is being compiled."""
        with self._changed:
            return ", ".join(self._running)

    def wait(self, patience: float | None = None) -> None:
        """Wait until a step is done, or for so many seconds."""
        with self._changed:
            if not self.is_over:
                self._changed.wait(patience)

    def wait_until_over(self) -> None:
        """Wait until everything is compiled; raises `PoiseError` if a worker failed."""
        while not self.is_over:
            self.wait(1.0)
        if self._problem is not None:
            raise PoiseError(f"compiling failed:\n{self._problem}")

    def patiently(self, call: Callable[[], R]) -> R:
        """Repeat a call until the kernels that it needs are there."""
        while True:
            try:
                return call()
            except NotReadyError:
                self.wait()

    def _refuse(self, kernel: str) -> None:
        raise NotReadyError("getting ready: this works in a moment.")

    def _let_compile(self) -> None:
        """Let this process compile what it lacks from now on."""
        if self._refuse in machine_code.when_missing:
            machine_code.when_missing.remove(self._refuse)

    def _work(self) -> None:
        """Let a worker run one step after another, until none is left or it holds much memory and is replaced."""
        while self._waiting:
            with self._hired() as worker:
                while (step := self._next()) is not None:
                    name, memory, files = _ask(worker, step.what)
                    if name != step.what:
                        self._fail(worker)
                        return
                    self._finish(step, files)
                    if memory > MUCH_MEMORY:
                        break
                else:
                    return

    def _hired(self) -> subprocess.Popen[str]:
        with self._changed:
            worker = _worker()
            self._workers.append(worker)
            if self._is_stopped:
                worker.kill()
            return worker

    def _next(self) -> Step | None:
        with self._changed:
            if not self._waiting or self._problem is not None or self._is_stopped:
                return None
            step = self._waiting.pop(0)
            self._running[step.what] = time.monotonic()
            return step

    def _finish(self, step: Step, files: Iterable[str] = ()) -> None:
        with self._changed:
            self._files.update(files)
            self._left.remove(step)
            del self._running[step.what]
            done = min((left.stage for left in self._left), default=len(PURPOSES))
            reached = range(len(self.times), done)
            self.times += [self.seconds] * len(reached)
            if not self._left:
                cache.mark_complete(self._files)
                self._let_compile()
            self._changed.notify_all()
        for stage in reached:
            self.on_stage(stage, self.times[stage])

    def _fail(self, worker: subprocess.Popen[str]) -> None:
        assert worker.stderr is not None
        said = worker.stderr.read()
        with self._changed:
            if self._is_stopped or self._problem is not None:
                return
            self._problem = said or "a worker ended without a word."
            self._let_compile()
            self._changed.notify_all()
        self.on_problem(f"compiling failed, so kernels are compiled when they are called:\n{self._problem}")


def _ask(worker: subprocess.Popen[str], what: str) -> tuple[str, float, list[str]]:
    """Let a worker run a step; returns its name (empty if the worker has ended), its memory [MB] and its files."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        print(what, file=worker.stdin, flush=True)
        name, memory, *files = [*worker.stdout.readline().strip().split("\t"), ""]
        return name, float(memory or 0.0), files
    except (OSError, ValueError):
        return "", 0.0, []


def _worker() -> subprocess.Popen[str]:
    """A process that runs steps of the warm-up, which Ctrl-C does not reach."""
    return subprocess.Popen(
        [sys.executable, "-m", "poise.warmup"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"POISE_QUIET": "1"},
        start_new_session=True,
    )
