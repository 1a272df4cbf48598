"""One motor moves a mechanism of every kind of joint, in three loops; its plate follows a target back and forth.

After [Schumacher et al. 2021, fig. 6a]. Run: python examples/41_every_kind_of_joint.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Position, Solver
from poise.pictures import strip

FRAMES = 240
SWING = 0.08
"""How far the plate goes [m]; the crank is 0.12 m long."""


def main(folder: Path) -> None:
    """Follow a target with the plate, then pull it out of reach."""
    figure = poise.load("all_joints")
    rest = figure.pose_of("tip", figure.neutral()).position
    plate = Position("tip", at=rest)
    solver, posture = Solver(figure, [plate]), figure.neutral()
    errors, open_by, shown = [], [], []
    for k in range(FRAMES):
        wanted = rest + np.array([SWING * np.sin(2.0 * np.pi * k / FRAMES), 0.0, 0.0])
        solver.target(plate, wanted)
        posture = solver.step(posture)
        errors.append(float(np.linalg.norm(figure.pose_of("tip", posture).position - wanted)))
        open_by.append(figure.closure_error(posture))
        assert figure.violations(posture) == []
        if k > 0 and k % (FRAMES // 4) == 0:
            shown.append(posture)
    print(f"at most {max(errors):.1e} m away, open by {max(open_by):.1e} at most")
    kinds = {joint.kind for joint in (*figure.joints, *figure.loops)}
    print("joints:", ", ".join(sorted(kinds)))
    assert len(kinds) >= 9
    assert max(open_by) < 1e-9
    assert max(errors) < 1e-6
    far = poise.solve(figure, [Position("tip", at=rest + np.array([0.5, 0.3, 0.2]))])
    print(f"pulled too far: {far.status}, open by {figure.closure_error(far.posture):.1e}")
    assert far.status == "unreachable"
    assert figure.closure_error(far.posture) < 1e-9

    folder.mkdir(parents=True, exist_ok=True)
    strip(figure, [*shown, far.posture], size=(420, 420)).save(folder / "every_kind_of_joint.png")
    print(f"See {folder / 'every_kind_of_joint.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
