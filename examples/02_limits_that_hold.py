"""Move a leg beyond its limits and clamp it: swing ellipse, twist, and the coupling of hip and knee.

Run: python examples/02_limits_that_hold.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

import poise
from poise.figure import turn
from poise.pictures import strip


def main(folder: Path) -> None:
    """Clamp three impossible postures of a leg and draw the results."""
    human = poise.human(stature=1.75, mass=70.0)
    wanted: dict[str, dict[str, ArrayLike]] = {
        "kick": {"right_hip": turn("x", -170.0)},
        "split": {"right_hip": turn("z", 120.0), "left_hip": turn("z", -120.0)},
        "knee": {"right_knee": math.radians(170.0)},
    }
    legal = []
    for name, joints in wanted.items():
        asked = human.posture(joints)
        print(f"{name}: " + "; ".join(str(violation) for violation in human.violations(asked)))
        given = human.clamp(asked)
        moved = np.degrees(np.abs(human.difference(asked, given)).max())
        print(f"  the nearest legal posture is {moved:.0f} degrees away")
        assert human.violations(asked)
        assert human.violations(given) == []
        assert human.clamp(given) == given
        legal.append(given)

    folder.mkdir(parents=True, exist_ok=True)
    strip(human, [human.neutral(), *legal], size=(400, 600)).save(folder / "limits.png")
    print(f"See {folder / 'limits.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
