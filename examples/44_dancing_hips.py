"""Hips that dance on feet that stand still: eight motors, six degrees of freedom, one loop of twelve hinges.

After [Schumacher et al. 2021, fig. 8]. Run: python examples/44_dancing_hips.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import poise
from poise import Frame, Solver
from poise.evaluation.loops.motions import Dance
from poise.pictures import strip

RATE, SECONDS = 1200, 2


def main(folder: Path) -> None:
    """Dance, and read off all eight motors."""
    figure, dance = poise.load("dancer"), Dance()
    pelvis = Frame("pelvis", dance.pose(figure, 0.0))
    solver, posture = Solver(figure, [pelvis]), figure.neutral()
    motors = [figure.v_slice(joint.name).start for joint in figure.joints if joint.active]
    errors, open_by, fastest, shown = [], [], 0.0, []
    for k in range(RATE * SECONDS):
        wanted = dance.pose(figure, k / RATE)
        solver.target(pelvis, wanted)
        after = solver.step(posture)
        fastest = max(fastest, float(np.abs(figure.difference(posture, after)[motors]).max()) * RATE)
        posture = after
        errors.append(float(np.linalg.norm(figure.pose_of("pelvis", posture).position - wanted.position)))
        open_by.append(figure.closure_error(posture))
        if k % (RATE * SECONDS // 5) == RATE * SECONDS // 10:
            shown.append(posture)
    print(f"{len(motors)} motors, at most {fastest:.2f} rad/s")
    print(f"at most {1e3 * max(errors):.1e} mm away (the paper: 2.46e-05), open by {max(open_by):.1e}")
    assert len(motors) == 8
    assert 1e3 * max(errors) < 2.46e-5
    assert max(open_by) < 1e-9
    assert fastest < 4.4

    folder.mkdir(parents=True, exist_ok=True)
    strip(figure, shown, size=(320, 440)).save(folder / "dancing_hips.png")
    print(f"See {folder / 'dancing_hips.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
