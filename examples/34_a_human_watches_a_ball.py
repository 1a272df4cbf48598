"""A human in five postures watches a ball: the eyes turn first, then the head, then the chest; the posture stays.

`poise.Expressive` on a whole body. Run: python examples/34_a_human_watches_a_ball.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise.expressive.result import ExpressiveResult
from poise.pictures import contact_sheet
from poise.pictures.film import film

POSTURES = ["standing", "thinking", "waving", "sitting", "walking"]
AZIMUTHS = [0.0, 35.0, 75.0, 120.0]
FRAMES = 180


def ball_at(azimuth: float) -> NDArray[np.float64]:
    """Position of the ball on a circle round the human, higher at its side [m]."""
    turn = np.radians(azimuth)
    return np.array([1.1 * np.sin(turn), 1.3 + 0.3 * np.sin(turn) ** 2, 1.1 * np.cos(turn)])


def azimuth_of(human: poise.Figure, posture: poise.Posture, part: str) -> float:
    """Where a body faces, against straight ahead [degrees]."""
    ahead = human.pose_of(part, posture).matrix[:, 2]
    return float(np.degrees(np.arctan2(ahead[0], ahead[2])))


def main(folder: Path) -> None:
    """Sweep the ball in every posture, and draw the human at some places."""
    human = poise.human(eyes=True)
    solver = poise.Expressive(human)
    shown, balls = [], []
    for name in POSTURES:
        wanted = human.posture(name)
        result: ExpressiveResult | None = None
        off, steps = [], []
        for k in range(FRAMES):
            before = result
            target = poise.at(ball_at(120.0 * np.sin(np.pi * k / FRAMES)))
            result = solver.solve(wanted, target, previous=before)
            off.append(result.orientation_error)
            if before is not None:
                steps.append(np.abs(human.difference(before.posture, result.posture)).max())
        for azimuth in AZIMUTHS:
            found = solver.solve(wanted, poise.at(ball_at(azimuth)))
            shown.append(found.posture)
            balls.append(ball_at(azimuth))
        small, large = (solver.solve(wanted, poise.at(ball_at(turn))).posture for turn in (20.0, 110.0))
        head, chest = (azimuth_of(human, large, part) - azimuth_of(human, wanted, part) for part in ("head", "thorax"))
        moved = azimuth_of(human, small, "thorax") - azimuth_of(human, wanted, "thorax")
        print(
            f"{name}: gaze off by {np.degrees(4.0 * np.arcsin(max(off) / np.sqrt(2.0))):.1e}° at most, largest step"
            f" {np.degrees(max(steps)):.1f}°, shape error {result.shape_error if result else 0.0:.4f}; at 110° the head"
            f" turns by {head:.0f}° and the chest by {chest:.0f}°, at 20° the chest by {moved:.0f}°"
        )
        assert max(off) < 1e-4, "the gaze is exact"
        assert max(steps) < np.radians(5.0) + 1e-9, "nothing jumps"
        assert abs(moved) < 5.0, "eyes first, then the head"
        assert 20.0 < chest < head, "then the chest"
        for arm in ("left_shoulder", "left_elbow", "right_shoulder", "right_elbow"):
            assert np.allclose(large[arm], wanted[arm], atol=0.05), "the arms keep the posture"
        for foot in ("left_foot", "right_foot"):
            apart = human.pose_of(foot, large).position - human.pose_of(foot, wanted).position
            assert np.linalg.norm(apart) < 1e-3, "the feet stay"

    folder.mkdir(parents=True, exist_ok=True)
    shots = film(human, shown, ball=balls, radius=0.05, eyes="eyes", size=(300, 260))
    titles = [f"{name}, {turn:.0f}°" for name in POSTURES for turn in AZIMUTHS]
    picture = contact_sheet(list(zip(titles, shots, strict=True)), columns=len(AZIMUTHS))
    picture.save(folder / "human_watches_a_ball.png")
    print(f"See {folder / 'human_watches_a_ball.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
