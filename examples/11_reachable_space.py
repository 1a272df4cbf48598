"""The area that can be reached in balance: pull in all directions and draw its border.

After [Baerlocher 2001, fig. 7.9 and 7.10]. Run: python examples/11_reachable_space.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Page
from matplotlib.path import Path as Outline
from numpy.typing import NDArray

import poise
from poise import CenterOfMass, Frame, Position
from poise.tasks.task import Task

Array = NDArray[np.float64]
LINKS = 10
LONG = 0.1
DIRECTIONS = 48
FEET = ["left_foot", "right_foot"]


def boundary(
    solver: poise.Solver, pulled: Position, start: poise.Posture, plane: list[int], middle: Array
) -> tuple[Array, list[poise.Posture]]:
    """Final positions (k, 2) of a site that is pulled far away in every direction of a plane, and the postures.

    It goes around in both senses and keeps the better result, because the local minimum found depends on the start.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    best: dict[float, tuple[float, poise.Posture]] = {}
    for round_trip in (angles, angles[::-1]):
        posture = start
        for angle in round_trip.tolist():
            goal = middle.copy()
            goal[plane] += 3.0 * np.array([np.cos(angle), np.sin(angle)])
            solver.target(pulled, goal)
            posture = solver.settle(posture, max_steps=60).posture
            gap = float(np.linalg.norm(solver.figure.pose_of(pulled.site, posture).position - goal))
            if angle not in best or gap < best[angle][0]:
                best[angle] = gap, posture
    postures = [posture for _, posture in best.values()]
    return np.array([solver.figure.pose_of(pulled.site, posture).position[plane] for posture in postures]), postures


def area(outline: Array) -> float:
    """Area inside a closed outline [m²]."""
    x, y = outline.T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def chain(plot: Axes) -> None:
    """A chain that is kept over its base by the balance task alone."""
    figure = poise.chain("Z" * LINKS, lengths=[LONG] * LINKS, limits=90)
    balance = CenterOfMass(at=(0, 0, 0), axes="x", priority=1)
    pulled = Position("tip", at=(0, 3, 0), axes="xy", priority=2)
    start = figure.posture(np.array([0.3, -0.3] * (LINKS // 2)))
    outline, postures = boundary(
        poise.Solver(figure, [balance, pulled]), pulled, start, [0, 1], np.array([0.0, 0.4, 0.0])
    )
    assert max(abs(figure.center_of_mass(posture)[0]) for posture in postures) < 1e-5 * LINKS * LONG
    assert outline[:, 1].max() > (1.0 - 1e-3) * LINKS * LONG, "straight up it reaches its whole length"
    draw(plot, outline, "tip of a balanced chain")
    for posture in postures[:: DIRECTIONS // 8]:
        frames = [figure.pose_of(f"segment_{k}", posture).position for k in range(1, LINKS + 1)]
        plot.plot(*np.array([*frames, figure.pose_of("tip", posture).position])[:, :2].T, "-o", ms=2, lw=1, color="0.4")

    inside, rng = Outline(outline * 1.01), np.random.default_rng(1)
    for _ in range(60):
        sample = poise.solve(figure, [balance], start=figure.random(rng)).posture
        assert abs(figure.center_of_mass(sample)[0]) < 1e-6
        spot = figure.pose_of("tip", sample).position[:2]
        plot.plot(*spot, ".", color="tab:orange", ms=4)
        assert inside.contains_point((spot[0], spot[1])), "no balanced posture reaches farther"
    print(f"Chain: {area(outline):.2f} of the {np.pi * (LINKS * LONG) ** 2:.2f} m² it reaches without balance")


def person(plot: Axes) -> None:
    """Hands that stay together, in the sagittal plane of a standing person."""
    human = poise.load("human")
    tasks: list[Task] = [Frame(foot, human.pose_of(foot, "standing"), priority=1) for foot in FEET]
    tasks += [
        Position("left_hand", at=(0, 0, 0), relative_to="right_hand", priority=1, name="hands together"),
        CenterOfMass(over=FEET, margin=0.01, priority=2),
    ]
    pulled = Position("right_hand", at=(0, 1, 3), priority=3)
    middle = np.array([0.0, 1.2, 0.3])
    outline, postures = boundary(
        poise.Solver(human, [*tasks, pulled]), pulled, human.posture("standing"), [2, 1], middle
    )
    for posture in postures:
        assert human.violations(posture) == []
        left, right = (human.pose_of(hand, posture).position for hand in ("left_hand", "right_hand"))
        assert np.linalg.norm(left - right) < 1e-5
    draw(plot, outline, "hands of a balanced person")
    for posture in (human.posture("standing"), postures[0], postures[DIRECTIONS * 5 // 8]):
        sticks(plot, human, posture)
    print(f"Person: hands together reach {area(outline):.2f} m², up to {outline[:, 0].max():.2f} m before the ankles")


def sticks(plot: Axes, human: poise.Figure, posture: poise.Posture) -> None:
    """A stick figure of a person, seen from the side."""
    for joint in human.joints:
        if joint.parent is not None:
            ends = np.array([human.pose_of(body, posture).position for body in (joint.parent, joint.child)])
            plot.plot(ends[:, 2], ends[:, 1], lw=1.5, color="0.4")
    crown = np.array([human.pose_of(name, posture).position for name in ("head", "crown")])
    plot.plot(crown[:, 2], crown[:, 1], lw=5, color="0.4", solid_capstyle="round")


def draw(plot: Axes, outline: Array, title: str) -> None:
    """The area and its border."""
    plot.fill(*outline.T, alpha=0.25, color="tab:blue")
    plot.plot(*np.vstack([outline, outline[:1]]).T, color="tab:blue")
    plot.set(title=f"{title}: {area(outline):.2f} m²", aspect="equal", xlabel="[m]", ylabel="height [m]")


def main(folder: Path) -> None:
    """Draw both areas."""
    page = Page(figsize=(9, 4.6), layout="constrained")
    left, right = page.subplots(1, 2)
    chain(left)
    person(right)
    folder.mkdir(parents=True, exist_ok=True)
    page.savefig(folder / "reachable_space.png", dpi=90)
    print(f"See {folder / 'reachable_space.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
