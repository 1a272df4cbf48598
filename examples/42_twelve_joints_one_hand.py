"""Six hinges and six slides in series move their end along a figure of eight while it turns.

After [Schumacher et al. 2021, fig. 6b]. Run: python examples/42_twelve_joints_one_hand.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from poise import Frame, Pose, Solver
from poise.pictures import strip

FRAMES = 600


def main(folder: Path) -> None:
    """Track a frame with twelve joints."""
    figure = poise.load("serial12")
    posture = figure.posture("bent")
    rest = figure.pose_of("tip", posture)
    hand = Frame("tip", rest)
    solver = Solver(figure, [hand])
    errors, turns, shown = [], [], []
    for k in range(FRAMES + 1):
        phase = 2.0 * np.pi * k / FRAMES
        turn = Rotation.from_rotvec([0.0, 0.3 * np.sin(phase), 0.2 * np.sin(2.0 * phase)]).as_matrix() @ rest.matrix
        eight = [0.10 * np.sin(phase), 0.05 * np.sin(2.0 * phase), 0.04 * (1.0 - np.cos(phase))]
        place = rest.position + np.array(eight)
        wanted = Pose(place, Rotation.from_matrix(turn).as_quat(scalar_first=True))
        solver.target(hand, wanted)
        posture = solver.step(posture)
        here = figure.pose_of("tip", posture)
        errors.append(float(np.linalg.norm(here.position - wanted.position)))
        turns.append(float(Rotation.from_matrix(here.matrix.T @ turn).magnitude()))
        assert figure.violations(posture) == []
        if k in (0, FRAMES // 8, FRAMES // 2, 7 * FRAMES // 8):
            shown.append(posture)
    print(f"at most {1e3 * max(errors):.1e} mm and {max(turns):.1e} rad away")
    assert max(errors) < 1e-6
    assert max(turns) < 1e-6

    folder.mkdir(parents=True, exist_ok=True)
    strip(figure, shown, size=(330, 460)).save(folder / "twelve_joints.png")
    print(f"See {folder / 'twelve_joints.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
