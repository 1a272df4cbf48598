"""Two parallel robots: a delta that draws a circle without ever turning, and a Stewart platform that nods.

Each is then pulled far out of reach, and its loops stay closed.
Run: python examples/45_delta_and_stewart.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from poise import Frame, Pose, Position, Posture, Solver
from poise.pictures import contact_sheet, draw

FRAMES = 300
CIRCLE = 0.12
"""Radius of the delta's circle [m]."""
NOD = 0.2
"""How far the platform tilts [rad]."""


def circle(figure: poise.Figure) -> Posture:
    """Move the tip on a circle; returns the posture after a quarter of it."""
    rest = figure.pose_of("tip", figure.neutral())
    tip = Position("tip", at=rest.position)
    solver, posture, shown = Solver(figure, [tip]), figure.neutral(), figure.neutral()
    for k in range(FRAMES):
        phase = 2.0 * np.pi * k / FRAMES
        wanted = rest.position + CIRCLE * np.array([np.sin(phase), 0.0, 1.0 - np.cos(phase)]) * min(1.0, k / 50)
        solver.target(tip, wanted)
        posture = solver.step(posture)
        here = figure.pose_of("tip", posture)
        assert np.linalg.norm(here.position - wanted) < 1e-6
        assert np.abs(here.matrix - rest.matrix).max() < 1e-9, "a delta's platform never turns"
        assert figure.closure_error(posture) < 1e-9
        shown = posture if k == FRAMES // 4 else shown
    return shown


def nod(figure: poise.Figure) -> Posture:
    """Tilt the platform in all directions; returns a tilted posture."""
    rest = figure.pose_of("tip", figure.neutral())
    tip = Frame("tip", rest)
    solver, posture, shown = Solver(figure, [tip]), figure.neutral(), figure.neutral()
    for k in range(FRAMES):
        phase = 2.0 * np.pi * k / FRAMES
        tilt = Rotation.from_rotvec(NOD * min(1.0, k / 50) * np.array([np.cos(phase), 0.0, np.sin(phase)]))
        turned = Rotation.from_matrix(tilt.as_matrix() @ rest.matrix).as_quat(scalar_first=True)
        solver.target(tip, Pose(rest.position, turned))
        posture = solver.step(posture)
        assert np.linalg.norm(figure.pose_of("tip", posture).position - rest.position) < 1e-6
        assert figure.closure_error(posture) < 1e-9
        assert figure.violations(posture) == []
        shown = posture if k == FRAMES // 4 else shown
    return shown


def main(folder: Path) -> None:
    """Move both, then pull both out of reach."""
    sheet = []
    for name, move in (("delta", circle), ("stewart", nod)):
        figure = poise.load(name)
        sheet.append((name, draw(figure, move(figure), size=(420, 460))))
        away = figure.pose_of("tip", figure.neutral()).position + np.array([0.6, 0.5, 0.3])
        pulled = poise.solve(figure, [Position("tip", at=away)])
        open_by = figure.closure_error(pulled.posture)
        print(f"{name}, pulled too far: {pulled.status} in {pulled.steps} steps, open by {open_by:.1e}")
        assert pulled.status == "unreachable"
        assert open_by < 1e-9
        assert figure.violations(pulled.posture) == []
        sheet.append(("pulled too far", draw(figure, pulled.posture, size=(420, 460))))

    folder.mkdir(parents=True, exist_ok=True)
    contact_sheet(sheet, columns=4).save(folder / "delta_and_stewart.png")
    print(f"See {folder / 'delta_and_stewart.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
