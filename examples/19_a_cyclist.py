"""A cyclist's feet stay on the pedals through a full turn: hips, knees and ankles by intersection of circles.

After [Ramachandran & John 2013, fig. 6]. Run: python examples/19_a_cyclist.py [folder for the pictures]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise.pictures.camera import framing
from poise.pictures.draw import drawable_points, render_picture
from poise.pictures.parts import appearance

FRAMES = 36
SIDES = ("left", "right")
SIZE = (360, 360)


def pedalled(cyclist: poise.Figure, posture: poise.Posture, angle: float) -> poise.chains.ChainResult:
    """The posture with the crank at an angle and both feet on the pedals; feet keep their pitch if possible."""
    turned = posture.changed({"crank": angle})
    pedals = {f"{side}_foot": cyclist.pose_of(f"{side}_pedal", turned).position for side in SIDES}
    return poise.chains.circles(cyclist, pedals, start=turned, keep="directions")


def feet_flat(posture: poise.Posture) -> poise.Posture:
    """The posture with the pedals turned flat under the soles."""
    slopes = {}
    for side in SIDES:
        foot = -(float(np.sum(posture[f"{side}_hip"])) + float(np.sum(posture[f"{side}_ankle"])))
        slope = foot + float(np.sum(posture[f"{side}_knee"]))
        slopes[f"{side}_pedal"] = slope - float(np.sum(posture["crank"]))
    return posture.changed(slopes)


def ride(cyclist: poise.Figure) -> list[poise.Posture]:
    """Two turns of the crank; the first one only reaches the periodic motion."""
    posture, ridden = cyclist.posture("riding"), []
    legs = [cyclist.q_slice(f"{side}_{joint}").start for side in SIDES for joint in ("hip", "knee", "ankle")]
    steps: list[NDArray[np.float64]] = []
    for k in range(2 * FRAMES):
        result = pedalled(cyclist, posture, math.radians(40.0) + 2.0 * math.pi * k / FRAMES)
        assert result.status == "solved"
        assert max(result.errors.values()) <= 1e-12, "feet are exactly on the pedals"
        assert cyclist.violations(result.posture) == []
        steps.append(np.degrees(np.abs(result.posture.q - posture.q)[legs]))
        posture = result.posture
        ridden.append(feet_flat(posture))
    largest = float(np.max(steps[1:]))
    print(f"No leg joint turns by more than {largest:.1f}° while the crank turns by {360 / FRAMES:.0f}°")
    assert largest < 12.0
    return ridden[FRAMES:]


def main(folder: Path) -> None:
    """Ride, and draw a film."""
    cyclist = poise.load("cyclist")
    postures = ride(cyclist)
    look = appearance(cyclist)
    frames = [cyclist.frames(posture) for posture in postures]
    points = np.concatenate([drawable_points(cyclist, look, pose) for pose in frames])
    camera = framing(points, cyclist.up, "side", SIZE)
    film = [render_picture(cyclist, look, pose, camera, joints=False).image().quantize(64) for pose in frames]
    folder.mkdir(parents=True, exist_ok=True)
    film[0].save(folder / "cyclist.gif", save_all=True, append_images=film[1:], duration=40, loop=0, optimize=True)
    print(f"See {folder / 'cyclist.gif'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
