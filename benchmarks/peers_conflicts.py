"""Random conflicts: accuracy and smoothness of a solver when not all tasks can be met."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from peers_judge import Errors, Judge
from peers_problem import Targets
from peers_process import Process
from peers_talos import HAND, HEAD, SHOULDER
from results import Table
from rich.progress import track

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.scenarios import TALOS, Evaluation, scenario


class Outcome(NamedTuple):
    """One solver in one scenario."""

    kind: str
    milliseconds: float
    """Median duration of a step."""
    errors: Errors | None
    """None when the solver gave up on the way."""


def conflicts(contestants: list[Process], judge: Judge, seeds: range) -> None:
    """Every solver through the scenarios of all seeds, one after the other in each."""
    at = stance(judge)
    outcomes: dict[str, list[Outcome]] = {solver.name: [] for solver in contestants}
    for seed in track(seeds, "scenarios", transient=True):
        asked = scenario(seed, at)
        targets = Targets(asked.hand, asked.center, np.array([matrix(q) for q in asked.gaze]))
        for solver in contestants:
            motion = solver.run(targets)
            errors = None if motion.failure else judge.errors(motion.q, targets)
            took = 1e3 * float(np.median(motion.seconds)) if motion.seconds.size else np.nan
            outcomes[solver.name].append(Outcome(asked.kind, took, errors))
    show(outcomes, f"{len(seeds)} random conflicts, seeds {seeds.start} to {seeds.stop - 1}")


def stance(judge: Judge) -> Evaluation:
    """Poses of Talos at the start, by Pinocchio."""
    q = judge.problem.start
    head = judge.place(HEAD, q)
    x, y, z, w = pin.Quaternion(head.rotation).coeffs()
    return Evaluation(
        hand=judge.place(HAND, q).translation,
        shoulder=judge.place(SHOULDER, q).translation,
        center=judge.center(q),
        head=head.translation,
        gaze=np.array([w, x, y, z]),
        faces=head.rotation @ np.array(TALOS.faces),
        up=np.array([0.0, 0.0, 1.0]),
    )


def matrix(q: np.ndarray) -> np.ndarray:
    """The matrix of a quaternion (w, x, y, z)."""
    return np.array(pin.Quaternion(*q).matrix())


def show(outcomes: dict[str, list[Outcome]], title: str) -> None:
    """One line per solver and kind of scenario, and one for all kinds."""
    places = ("feet: max", "centre mm: median, worst", "hand mm at end: mean")
    calm = ("change of dq at rest: median, worst", "over limits", "speed ratio", "gave up")
    table = Table(title, "solver", "kind", "ms", *places, *calm)
    for name, results in outcomes.items():
        kinds = sorted({outcome.kind for outcome in results})
        for kind in (*kinds, "all"):
            chosen = [outcome for outcome in results if kind in {outcome.kind, "all"}]
            table.row(name, kind, *cells(chosen))


def cells(outcomes: list[Outcome]) -> tuple[str, ...]:
    """Figures over scenarios: medians of each one's median, and the worst frame of all."""
    done = [outcome.errors for outcome in outcomes if outcome.errors is not None]
    gave_up = str(len(outcomes) - len(done))
    if not done:
        return ("",) * 7 + (gave_up,)
    return (
        f"{np.median([outcome.milliseconds for outcome in outcomes]):.4f}",
        f"{max(e.feet.max() for e in done):.1e}",
        f"{np.median([np.median(e.center) for e in done]):.2g}, {max(e.center.max() for e in done):.2g}",
        f"{np.mean([e.hand[-1] for e in done]):.4g}",
        f"{np.median([np.median(e.change) for e in done]):.1e}, {max(e.change.max() for e in done):.1e}",
        f"{max(e.limit_excess for e in done):.1e}",
        f"{max(e.speed_ratio for e in done):.4f}",
        gave_up,
    )
