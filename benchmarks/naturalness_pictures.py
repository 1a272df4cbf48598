"""Pairs of pictures, a real posture and an answer to its handles, in random order: which of the two is the person?

    python benchmarks/naturalness_pictures.py [PAIRS [SOLVER...]]

The solvers of `naturalness.py` get feet, hands and head of real postures that no model has seen. Their answers are
drawn beside the real postures, from the same side and with the same camera, and written to build/naturalness: sheets of
ten pairs for each solver, and key.csv with the side that is real, which is drawn by lot and should be opened last. With
`--docs`, a sheet of twelve postures with the answers of all solvers is written to docs/pictures instead, with titles.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from naturalness import answers_of
from naturalness_cases import Case, Witness, cases
from scipy.spatial.transform import Rotation

import poise
from poise.pictures import Picture, contact_sheet
from poise.pictures.camera import framing
from poise.pictures.draw import drawable_points, render_picture
from poise.pictures.parts import appearance

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "naturalness"
SHEET = ROOT / "docs" / "pictures" / "natural_pairs.png"
HANDLES = "hands, head"
SIZE, SHEET_SIZE = (340, 400), (200, 230)
"""Pictures of a pair and on the sheet of the documentation [pixels]."""
PAIRS_ON_SHEET = 10
SHOWN = 12
"""Postures on the sheet of the documentation."""
DRAWN = ("poise", "PlaCo", "mink")
"""Solvers whose answers are drawn unless others are named."""


def main(pairs: str = "50", *solvers: str) -> None:
    if pairs == "--docs":
        print(sheet().save(SHEET))
        return
    witness, questions = asked(int(pairs))
    FOLDER.mkdir(parents=True, exist_ok=True)
    lot, key = random.SystemRandom(), []
    for solver in solvers or DRAWN:
        answers = answers_of(solver, witness, questions, HANDLES).postures
        drawn: list[tuple[str, Picture]] = []
        for n, (case, answer) in enumerate(zip(questions, answers, strict=True)):
            left_is_real = lot.random() < 0.5
            pictures = pictures_of(case, [case.real, answer] if left_is_real else [answer, case.real])
            drawn += [(f"{n + 1} {side}", picture) for side, picture in zip(("left", "right"), pictures, strict=True)]
            key.append((solver, n + 1, case.name, "left" if left_is_real else "right"))
        for k in range(0, len(drawn), 2 * PAIRS_ON_SHEET):
            page = contact_sheet(drawn[k : k + 2 * PAIRS_ON_SHEET], columns=4)
            page.save(FOLDER / f"{solver}_{k // (2 * PAIRS_ON_SHEET) + 1}.png")
    with (FOLDER / "key.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("solver", "pair", "posture", "real"), *key])
    print(f"sheets and key in {FOLDER}")


def sheet() -> Picture:
    """Twelve real postures, and below each the answers of the solvers from the same handles."""
    witness, questions = asked(SHOWN)
    rows = [[case.real for case in questions]]
    rows += [answers_of(solver, witness, questions, HANDLES).postures for solver in DRAWN]
    columns = [
        pictures_of(case, postures, SHEET_SIZE)
        for case, postures in zip(questions, zip(*rows, strict=True), strict=True)
    ]
    half, titles = SHOWN // 2, ("real", *DRAWN)
    drawn = [
        (title, column[row])
        for part in (columns[:half], columns[half:])
        for row, title in enumerate(titles)
        for column in part
    ]
    return contact_sheet(drawn, columns=half)


def asked(count: int) -> tuple[Witness, list[Case]]:
    """That many real postures, spread over all clips, and what measures answers to them."""
    human = poise.load("human")
    found = cases(human, 2 * count)
    return Witness(human), [found[k] for k in np.linspace(0, len(found) - 1, count).astype(int)]


def pictures_of(case: Case, postures: Sequence[poise.Posture], size: tuple[int, int] = SIZE) -> list[Picture]:
    """Postures seen from the left in front of the feet, all by one camera."""
    human, look = case.real.figure, appearance(case.real.figure)
    frames = [human.frames(at_home(case, posture)) for posture in postures]
    points = np.concatenate([drawable_points(human, look, frame) for frame in frames])
    camera = framing(points, human.up, "three-quarter", size)
    return [render_picture(human, look, frame, camera, joints=False) for frame in frames]


def at_home(case: Case, posture: poise.Posture) -> poise.Posture:
    """A posture moved and turned about the vertical so that the feet are at the origin and point forward."""
    start, base = np.asarray(case.start["base"]), np.asarray(posture["base"])
    back = Rotation.from_quat(start[3:], scalar_first=True).inv()
    turned = back * Rotation.from_quat(base[3:], scalar_first=True)
    at = back.apply(base[:3] - [start[0], 0.0, start[2]])
    return posture.changed({"base": (*at, *turned.as_quat(scalar_first=True))})


if __name__ == "__main__":
    main(*sys.argv[1:])
