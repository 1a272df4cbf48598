"""The solver's steps: the solver of a state, one step of it, and the thread that takes the steps."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from poise.engine.elastic_solver import ElasticSolver
from poise.engine.problem import StepSize
from poise.engine.scene import Scene
from poise.engine.solver import Solver
from poise.errors import NotReadyError, PoiseError
from poise.figure.model.posture import Posture
from poise.studio.session.driver import TICK, Driven
from poise.studio.session.outcome import Outcome, outcome_of
from poise.studio.session.state import State, has_work
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.task import Task

if TYPE_CHECKING:
    from poise.studio.session.pulls import Pull
    from poise.studio.session.session import Session

LIVE_STEP = StepSize(turn=0.1)
"""Size of a step: at sixty steps per second, joints turn by at most 6 rad/s, so that no leap can be seen."""
STEPS_PER_VERDICT = 6
"""Solver steps between two evaluations of the tasks while the figure moves."""
SHOWN_AS_MET_ERROR = 1e-3
"""Error below which the page shows a task as met; smaller errors cannot be seen [m or rad]."""
RETRY_INTERVAL = 0.5
"""Time between two attempts to take a step whose kernels are still being compiled [s]."""
RESTING_STEP = 1e-6
"""Largest change of a joint in one step at which the figure counts as resting [m or rad]."""


class Stepper:
    """Moves the figure of a state by one step; keeps the solver of the last state as long as it fits.

    One thread takes steps. Others prepare solvers for it, and wait for nothing.
    """

    def __init__(self) -> None:
        """Start without a solver."""
        self.driver: Callable[[State], Driven | None] | None = None
        """Computes the next posture in place of the solver, in modes whose driver moves the figure."""
        self._compiled: CompiledState | None = None
        self._prepared: CompiledState | None = None
        self._steps = 0

    def prepare(self, before: State, after: State) -> None:
        """Compile the solver of a changed state, or check its targets if only they differ; raises `PoiseError`.

        A mode whose driver moves the figure needs no solver, so that its scene is not compiled.
        """
        if after.mode.drives:
            return
        if not same_problem(before.scene, before.pulls, after):
            self._prepared = CompiledState(after)
            return
        for old, new in zip(before.scene.tasks, after.scene.tasks, strict=True):
            if new is not old and new.active:
                new.goals(after.figure)

    def forget(self) -> None:
        """Discard the solver."""
        self._compiled = self._prepared = None

    def step(self, state: State) -> tuple[State, bool]:
        """The state after one step, and whether another step is needed."""
        driven = self.driver(state) if self.driver is not None and state.mode.drives else None
        if driven is not None:
            return replace(state, posture=driven.posture, outcome=driven.outcome, **driven.fields), driven.more
        if not has_work(state):
            return replace(state, outcome=Outcome()), False
        compiled = self._fitting(state)
        posture = compiled.solver.step(state.posture)
        moved = np.abs(state.figure.difference(state.posture, posture)).max(initial=0.0)
        self._steps += 1
        if self._steps % STEPS_PER_VERDICT:
            return replace(state, posture=posture), True
        # A resting figure is stepped on until its tasks have been evaluated, which happens every few steps.
        rests = bool(moved < RESTING_STEP)
        return replace(state, posture=posture, outcome=compiled.judged(posture, at_rest=rests)), not rests

    def _fitting(self, state: State) -> CompiledState:
        """The solver with the tasks and targets of a state; compiled again only if more than targets has changed."""
        found, self._compiled = self._compiled, None
        if found is None or not found.fits(state):
            found, self._prepared = self._prepared, None
        if found is None or not found.fits(state):
            found = CompiledState(state)
        found.aim(state)
        self._compiled = found
        return found


class CompiledState:
    """The solver of a scene and of the pulls on its figure."""

    def __init__(self, state: State) -> None:
        """Compile the tasks of the scene and of the pulls."""
        self._scene, self._pulls = state.scene, state.pulls
        self._tasks, self._obstacles = state.scene.tasks, state.scene.obstacles
        scene = state.scene
        kind = ElasticSolver if any(pull.task.soft for pull in state.pulls) else Solver
        self.solver: Solver | ElasticSolver = kind(
            scene.figure,
            [*scene.tasks, *(pull.task for pull in state.pulls)],
            obstacles=scene.obstacles,
            solid=scene.solid,
            forces=scene.forces,
            criteria=scene.criteria,
            step=LIVE_STEP,
        )
        for pull in state.pulls:
            self.solver.target(pull.task, pull.at)

    def fits(self, state: State) -> bool:
        """Whether a state differs only in the targets of tasks and pulls, and in the places of obstacles."""
        return same_problem(self._scene, self._pulls, state)

    def aim(self, state: State) -> None:
        """Set the targets, and move the obstacles, that differ from those of the last state."""
        for compiled, old, new in zip(self._tasks, self._scene.tasks, state.scene.tasks, strict=True):
            if new is not old and new.active:
                self.solver.target(compiled, new)
        for obstacle, was, there in zip(self._obstacles, self._scene.obstacles, state.scene.obstacles, strict=True):
            if there is not was:
                self.solver.move(obstacle, there)
        for before, now in zip(self._pulls, state.pulls, strict=True):
            if now is not before:
                self.solver.target(now.task, now.at)
        self._scene, self._pulls = state.scene, state.pulls

    def judged(self, posture: Posture, *, at_rest: bool) -> Outcome:
        """Evaluate the tasks in a posture, in which the figure rests or does not."""
        found = outcome_of(self.solver.judge(posture, tolerance=SHOWN_AS_MET_ERROR, at_rest=at_rest).verdicts)
        present = dict(zip(self._tasks, self._scene.tasks, strict=True))
        return replace(found, verdicts={present.get(task, task): verdict for task, verdict in found.verdicts.items()})


def same_problem(old: Scene, pulls: Sequence[Pull], state: State) -> bool:
    """Whether a state differs from a scene and pulls only in targets, and in the places of obstacles."""
    new = state.scene
    if [pull.task for pull in pulls] != [pull.task for pull in state.pulls]:
        return False
    return old is new or (
        all(getattr(old, part) is getattr(new, part) for part in ("figure", "forces", "criteria", "solid"))
        and len(old.tasks) == len(new.tasks)
        and all(map(differ_in_target_only, old.tasks, new.tasks))
        and len(old.obstacles) == len(new.obstacles)
        and all(map(differ_in_place_only, old.obstacles, new.obstacles))
    )


def differ_in_target_only(old: Task, new: Task) -> bool:
    """Whether two tasks have the same fields but for the value of a target that a solver can change in place."""
    if old is new or type(old) is not type(new):
        return old is new
    given = [[name for name in old.target_fields if getattr(task, name) is not None] for task in (old, new)]
    names = [each.name for each in fields(old) if each.name not in old.target_fields]
    same = all(getattr(old, name) is getattr(new, name) for name in names)
    return same and given[0] == given[1] != []


def differ_in_place_only(old: Obstacle | Plane, new: Obstacle | Plane) -> bool:
    """Whether two obstacles have the same shape and name."""
    if isinstance(old, Plane) or isinstance(new, Plane):
        return type(old) is type(new) and old.name == new.name
    return old is new or (old.shape is new.shape and old.name == new.name and old.convex == new.convex)


class SolverThread:
    """Steps a session sixty times per second until it rests, and again after every change."""

    def __init__(self, session: Session) -> None:
        """Create the thread; `start` starts it."""
        self._session = session
        self._has_work, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="poise studio solver", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._unsubscribe = self._session.subscribe(self._has_work.set)
        self._has_work.set()
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread after its current step."""
        self._unsubscribe()
        self._stopped.set()
        self._has_work.set()
        self._thread.join()

    def _run(self) -> None:
        due = time.perf_counter()
        while not self._stopped.is_set():
            self._has_work.clear()
            if not self._tick():
                self._has_work.wait()
                due = time.perf_counter()
                continue
            due = max(due + TICK, time.perf_counter() - TICK)
            self._stopped.wait(max(0.0, due - time.perf_counter()))

    def _tick(self) -> bool:
        try:
            return self._session.tick()
        except NotReadyError:
            self._session.say_not_ready()
            self._stopped.wait(RETRY_INTERVAL)
            return True
        except PoiseError as problem:
            self._session.give_up(str(problem))
            return False
        except Exception:
            logging.getLogger(__name__).exception("the solver of the studio failed")
            self._session.give_up("The solver failed; see the terminal for the error. Undo, or change a task.")
            return False
