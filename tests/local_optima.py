"""Whether the last of three levels can still be improved where a solve rests: asked of a general optimiser."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import poise
from poise import LookAt, Orientation, Position
from poise.engine.problem import Problem
from poise.kernels.engine.indirect_calls import evaluate_current
from poise.tasks.task import Task

RANK = 1e-4
"""Singular value above which a combination of errors counts as one that can change [m or rad per rad]."""
MET = 1e-6
"""Error up to which a level is met [m or rad]."""
NEAR = 0.03
"""Largest change of a joint that the optimiser may make [rad]."""
KEPT = 1e-9
"""Error that the levels above may gain in its answer [m or rad]: at the best of a level, a tenth of a micrometre of its
error is worth a third of a millimetre to the levels below."""


def chain_question(seed: int) -> tuple[poise.Figure, list[Task], poise.Posture]:
    """A random chain with limits, three tasks on three levels, some of them in conflict, a random start."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(7, 11))
    axes = "".join(rng.choice(list("XYZ"), count))
    figure = poise.chain(axes, lengths=[0.3] * count, limits=float(rng.uniform(40.0, 120.0)))
    names = [joint.child for joint in figure.joints]
    tasks: list[Task] = []
    reference = figure.random(rng)
    for priority in (1, 2, 3):
        site = "tip" if priority == 1 else str(rng.choice(names))
        there = figure.pose_of(site, reference if rng.integers(3) else figure.random(rng))
        away = float(rng.choice([0.0, 0.3])) * rng.normal(size=3)
        match rng.integers(3):
            case 0:
                tasks.append(Position(site, at=there.position + away, priority=priority))
            case 1:
                ahead = there.apply((0.0, 1.0, 0.0)) if rng.integers(2) else 2.0 * rng.normal(size=3)
                tasks.append(LookAt(site, at=ahead, priority=priority))
            case _:
                tasks.append(Orientation(site, there.rotation, priority=priority))
    return figure, tasks, figure.random(rng)


def possible_gain(figure: poise.Figure, tasks: list[Task], posture: poise.Posture) -> float:
    """How much the error of the last level falls where SLSQP ends, from a posture and near it [m or rad].

    The levels above must stay as good, and limits hold; an answer that breaks one of them does not count. SLSQP is
    asked twice, with the errors above unchanged, and with errors that are no larger.
    """
    problem, q0 = Problem(figure, tasks), posture.q.copy()
    bounds = figure.compiled.bounds
    box = list(zip(np.maximum(bounds.lower, q0 - NEAR), np.minimum(bounds.upper, q0 + NEAR), strict=True))

    def errors(q: np.ndarray) -> list[np.ndarray]:
        evaluate_current(problem.handle, np.ascontiguousarray(q))
        weighted = problem.engine.goals.weight * problem.engine.current.error
        return [weighted[t.rows].copy() for t in problem.task_rows]

    first = errors(q0)
    before = [float(np.linalg.norm(error)) for error in first]
    met = [b <= MET for b in before[:-1]]

    def changes(q: np.ndarray, chosen: list[bool]) -> np.ndarray:
        found = [e - f for e, f, wanted in zip(errors(q), first, chosen, strict=False) if wanted]
        return np.concatenate(found) if found else np.zeros(0)

    def independent(chosen: list[bool]) -> np.ndarray:
        """Combinations of the errors above that change independently of each other, as SLSQP needs them."""
        rows = [(changes(q0 + d, chosen) - changes(q0 - d, chosen)) / 2e-6 for d in 1e-6 * np.eye(q0.size)]
        u, sizes, _ = np.linalg.svd(np.transpose(rows), full_matrices=False)
        return u[:, sizes > RANK].T

    def margins(q: np.ndarray) -> np.ndarray:
        return np.array([b - np.linalg.norm(e) for e, b, m in zip(errors(q), before, met, strict=False) if not m])

    every = [True] * len(met)
    of_all, of_met = independent(every), independent(met)
    same = {"type": "eq", "fun": lambda q: of_all @ changes(q, every)}
    as_good = [{"type": "eq", "fun": lambda q: of_met @ changes(q, met)}, {"type": "ineq", "fun": margins}]
    best = 0.0
    for constraints in ([same], [c for c in as_good if c["fun"](q0).size]):
        found = minimize(
            lambda q: float(np.linalg.norm(errors(q)[-1])),
            q0,
            jac="3-point",
            method="SLSQP",
            bounds=box,
            constraints=constraints,
            options={"maxiter": 200, "ftol": 1e-12},
        )
        q = np.clip(found.x, *np.transpose(box))
        after = [float(np.linalg.norm(error)) for error in errors(q)]
        if all(a <= b + KEPT for a, b in zip(after[:-1], before[:-1], strict=True)):
            best = max(best, before[-1] - after[-1])
    return best
