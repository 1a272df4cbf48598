# SPDX-License-Identifier: GPL-3.0-or-later
"""What poise itself finds, in its own Python: reads a problem as JSON, writes the matrices of all bones per frame."""

from __future__ import annotations

import json
import sys

import numpy as np

import poise
from poise.engine.problem import StepSize
from poise.figure.model.pose import to_matrix
from poise.formats.text.toml_tables import Source
from poise.service.answers import Skeleton
from poise.service.bones import figure_of_bones

given = json.load(sys.stdin)
figure = figure_of_bones(Source.table_of({"bones": given["bones"]}, "the problem").tables("bones", "bone"), "rig", "z")
feet = [poise.Frame(foot["bone"], poise.Pose(foot["at"], foot["turned"])) for foot in given["feet"]]
hand = poise.Position(given["hand"], at=given["path"][0], priority=2)
rest = () if given["natural"] else (poise.Hold(figure.neutral(), priority=3),)
criteria = [poise.Natural()] if given["natural"] else []
solver = poise.Solver(figure, [*feet, hand, *rest], step=StepSize(min_gain=1e-6), criteria=criteria)
begin = Source.table_of(given["pose"], "the pose")
posture, frames = Skeleton(figure).posture(begin, figure.neutral()), []
for point, last in zip(given["path"], [None, *given["path"]], strict=False):
    if point != last:  # poise serve, too, passes on only what has changed
        solver.target(hand, np.array(point))
    for _ in range(given["steps"]):
        before, posture = posture, solver.step(posture)
        if np.abs(figure.difference(before, posture)).max() < 1e-7:
            break
    found = figure.frames(posture)
    rows = []
    for bone in figure.bodies.names:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = to_matrix(found[bone].rotation), found[bone].position
        rows.append(matrix.tolist())
    frames.append(rows)
json.dump({"bones": list(figure.bodies.names), "frames": frames}, sys.stdout)
