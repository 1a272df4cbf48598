"""Two ways to give a task a lower priority: solve it in the null space of the first, or project its own solution.

The thesis compares eq. 5.12 (A) with eq. 5.13 (B) [Baerlocher 2001, 5.3.5]. Both are implemented here in a few lines
and compared with poise. Run: python examples/07_two_formulations.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Page
from numpy.typing import NDArray

import poise
from poise import CenterOfMass, Position

Array = NDArray[np.float64]
LINKS = 8
DAMPING = 0.2
STEPS = 300
START = np.array([0.9, -0.6, -0.6, -0.2, 0.4, 0.5, 0.3, -0.2])
CHAIN = poise.chain("Z" * LINKS, lengths=[0.25] * LINKS, limits=360)


def inverse(J: Array) -> Array:
    """Jᵀ(JJᵀ + λ²I)⁻¹, the damped least-squares inverse."""
    return J.T @ np.linalg.inv(J @ J.T + DAMPING**2 * np.eye(len(J)))


def freedom(J: Array) -> Array:
    """I - J⁺J, the projector on the null space of J."""
    return np.eye(J.shape[1]) - np.linalg.pinv(J, rcond=1e-8) @ J


def restricted(J1: Array, x1: Array, J2: Array, x2: Array) -> Array:
    """A: the second task is solved in the null space of the first, eq. 5.12."""
    first = inverse(J1) @ x1
    return first + inverse(J2 @ freedom(J1)) @ (x2 - J2 @ first)


def projected(J1: Array, x1: Array, J2: Array, x2: Array) -> Array:
    """B: the second task is solved alone and its solution projected, eq. 5.13."""
    return inverse(J1) @ x1 + freedom(J1) @ inverse(J2) @ x2


def walk(formula: Callable[[Array, Array, Array, Array], Array], start: poise.Posture, goal: Array) -> Array:
    """Path of the tip (STEPS + 1, 2) from a posture to a goal, with the centre of mass on the vertical line x = 0."""
    posture, tips = start, [tip(start)]
    for _ in range(STEPS):
        x1, x2 = -CHAIN.center_of_mass(posture)[:1], goal - tip(posture)
        x2 *= min(1.0, 0.1 / max(float(np.linalg.norm(x2)), 1e-12))
        J1, J2 = CHAIN.center_of_mass_jacobian(posture)[:1], CHAIN.jacobian("tip", posture)[:2]
        posture = CHAIN.integrate(posture, formula(J1, x1, J2, x2))
        tips.append(tip(posture))
    return np.array(tips)


def tip(posture: poise.Posture) -> Array:
    """Position of the tip in the plane."""
    return CHAIN.pose_of("tip", posture).position[:2]


def poised(start: poise.Posture, goal: Array) -> Array:
    """The same path with poise, one step at a time."""
    tasks = [CenterOfMass(at=(0, 0, 0), axes="x", priority=1), Position("tip", at=(*goal, 0.0), axes="xy", priority=2)]
    solver, posture, tips = poise.Solver(CHAIN, tasks), start, [tip(start)]
    for _ in range(60):
        posture = solver.step(posture)
        tips.append(tip(posture))
    assert abs(CHAIN.center_of_mass(posture)[0]) < 1e-6
    return np.array(tips)


def main(folder: Path) -> None:
    """Compare the paths to a goal within reach, and the final tip for a goal out of reach."""
    balanced = poise.solve(CHAIN, [CenterOfMass(at=(0, 0, 0), axes="x")], start=CHAIN.posture(START)).posture
    page = Page(figsize=(9, 4.2), layout="constrained")
    ends = {}
    for plot, title, goal in zip(
        page.subplots(1, 2), ("within reach", "out of reach"), np.array([[0.5, 0.9], [1.5, 1.5]]), strict=True
    ):
        walks = {
            "A: in the freedom left": walk(restricted, balanced, goal),
            "B: projected": walk(projected, balanced, goal),
            "poise": poised(balanced, goal),
        }
        for name, tips in walks.items():
            length = float(np.linalg.norm(np.diff(tips, axis=0), axis=1).sum())
            ends[title, name[0]] = length, float(np.linalg.norm(tips[-1] - goal))
            print(f"{title}, {name}: path {length:.2f} m, misses by {ends[title, name[0]][1]:.4f} m")
            plot.plot(*tips.T, label=f"{name}: {length:.2f} m", lw=2 if name == "poise" else 1.2)
        plot.plot(*goal, "x", color="tab:green", ms=10, mew=2)
        plot.set(title=f"The goal is {title}", aspect="equal", xlabel="x [m]", ylabel="y [m]")
        plot.legend(fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    page.savefig(folder / "two_formulations.png", dpi=90)
    print(f"See {folder / 'two_formulations.png'}")

    assert ends["within reach", "A"][0] < ends["within reach", "B"][0], "A takes the shorter path"
    assert ends["out of reach", "B"][1] > ends["out of reach", "A"][1] + 0.01, "B rests where it is not nearest"
    assert ends["out of reach", "p"][1] <= ends["out of reach", "A"][1] + 1e-4
    assert ends["within reach", "p"][1] < 1e-6


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
