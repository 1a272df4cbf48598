"""A solver in a process of its own, so that libraries with conflicting requirements can be compared in one run.

Every solver, ours included, is treated the same: it runs alone in one process on one thread, times its own steps, and
waits while the others run. Requests and results are pickled over pipes, outside the timed part.
"""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from peers_problem import Problem, Solver, Targets

HOMES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "poise": ("peers_poise", "PoiseSolver", {}),
    "placo": ("peers_placo", "Placo", {"feet": "soft"}),
    "placo, hard feet": ("peers_placo", "Placo", {"feet": "hard"}),
    "placo, damped": ("peers_placo", "Placo", {"feet": "soft", "rest": 0.1}),
    "pink": ("peers_pink", "Pink", {}),
    "mink": ("peers_mink", "Mink", {}),
}
"""Where each solver lives: module, class, options."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Motion(NamedTuple):
    """The results of a solver."""

    q: np.ndarray
    """Postures in Pinocchio's coordinates, the start first (k + 1, nq); fewer when it failed on the way."""
    seconds: np.ndarray
    """Duration of each step [s] (k,)."""
    failure: str
    """What the solver said when it gave up; empty when it went through."""


class Process:
    """A solver working in a process of its own.

    Args:
        name: one of `HOMES`.
        problem: what is asked.
        python: the interpreter that has this solver installed.

    Raises:
        RuntimeError: the solver could not be set up, with its own words.
    """

    def __init__(self, name: str, problem: Problem, *, python: Path) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, "-c", "import peers_process; peers_process.serve()"],
            cwd=Path(__file__).parent,
            env=os.environ | ONE_THREAD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        failure = self._ask((name, problem))
        if failure:
            self.close()
            raise RuntimeError(f"{name} cannot take part: {failure}")

    def run(self, targets: Targets) -> Motion:
        """Follow the targets from the start, once."""
        q, seconds, failure = self._ask(tuple(targets))
        return Motion(q, seconds, failure)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def _ask(self, question: object) -> Any:
        assert self.process.stdin and self.process.stdout
        try:
            pickle.dump(question, self.process.stdin)
            self.process.stdin.flush()
            return pickle.load(self.process.stdout)
        except (BrokenPipeError, EOFError):
            raise RuntimeError(f"{self.name} ended unexpectedly with status {self.process.wait()}") from None


def serve() -> None:
    """Answer requests until the pipe closes: first a solver and its problem, then targets to follow."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a solver prints must not end up among the answers
    logging.disable(logging.WARNING)  # nor is anyone timed while writing to a terminal
    name, problem = pickle.load(sys.stdin.buffer)
    try:
        solver = build(name, problem)
    except Exception as error:
        _send(answers, f"{type(error).__name__}: {error}")
        return
    _send(answers, "")
    while True:
        try:
            targets = Targets(*pickle.load(sys.stdin.buffer))
        except EOFError:
            return
        _send(answers, tuple(follow(solver, problem, targets)))


def build(name: str, problem: Problem) -> Solver:
    """The solver of a name."""
    module, kind, options = HOMES[name]
    solver: Solver = getattr(importlib.import_module(module), kind)(problem, **options)
    return solver


def follow(solver: Solver, problem: Problem, targets: Targets) -> Motion:
    """One step per frame, each timed alone."""
    q, seconds, failure = [problem.start], [], ""
    try:
        solver.begin(targets)
        for frame in range(len(targets.hand)):
            start = time.perf_counter()
            answer = solver.step(frame)
            seconds.append(time.perf_counter() - start)
            q.append(solver.coordinates(answer))
    except Exception as error:  # peers raise errors of many kinds when a program has no solution
        failure = f"{type(error).__name__} after {len(seconds)} frames: {error}"
    return Motion(np.array(q), np.array(seconds), failure)


def _send(pipe: Any, answer: object) -> None:
    pickle.dump(answer, pipe)
    pipe.flush()
