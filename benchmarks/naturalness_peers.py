"""The peers' answers to the questions of `naturalness.py`, found in a process of their own.

They have the same human, feet, handles and start.

PlaCo and mink get one MJCF model of the figure, whose ball joints are three hinges with the widest angles that the ball
joint allows; their world has z up, which PlaCo's support polygon needs.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from machine import peers_python
from naturalness_cases import FEET, SETS, Case
from peers_hinges_model import from_hinges, hinge_mjcf, hinges_of, to_hinges
from scipy.spatial import ConvexHull

import poise
from poise import Frame

PEERS = ("PlaCo", "mink")
POSTURE_WEIGHTS = (1e-4, 1e-3, 1e-2)
"""Squared weights of the task on the rest posture, of which a peer is given its best [m²/rad²]."""
FEET_WEIGHT, HANDLE_WEIGHT = 100.0, 1.0
"""Squared weights of feet and of other handles."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
Z_UP = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Rotation from our world, with y up, to the peers'."""
SAME = 1e-6
"""Distance up to which both speak of the same figure [m]."""


class Answers(NamedTuple):
    """What a peer answers with one weight of the posture."""

    postures: list[poise.Posture]
    seconds: np.ndarray
    """(n,) processor time of each [s]."""
    steps: np.ndarray
    """(n,) steps until rest."""


def asked(peer: str, human: poise.Figure, cases: Sequence[Case], handles: str, balances: bool) -> dict[float, Answers]:
    """The answers of a peer for all weights of the posture.

    Args:
        peer: One of `PEERS`.
        human: The figure.
        cases: Real postures.
        handles: One of `SETS`.
        balances: Whether it is told to keep the centre of mass over the feet that carry the weight: PlaCo by an
            inequality, mink, which has none, by a task towards the middle of the support.
    """
    kinds = SETS[handles]
    names = (*FEET, *kinds)
    poses = [[case.real.figure.pose_of(name, case.real) for name in names] for case in cases]
    with tempfile.TemporaryDirectory() as folder:
        question, answer, model = (Path(folder) / name for name in ("question.npz", "answer.npz", "human.xml"))
        model.write_text(hinge_mjcf(human, {f"{name} handle": name for name in names}))
        np.savez(
            question,
            peer=peer,
            model=str(model),
            joints=hinges_of(human),
            start=[to_hinges(case.start, Z_UP) for case in cases],
            sites=[f"{name} handle" for name in names],
            turned=[name in FEET or kinds[name] is Frame for name in names],
            weights=[FEET_WEIGHT if name in FEET else HANDLE_WEIGHT for name in names],
            positions=[[Z_UP @ pose.position for pose in row] for row in poses],
            rotations=[[Z_UP @ pose.matrix for pose in row] for row in poses],
            supports=padded([support(case) if balances else np.zeros((0, 2)) for case in cases]),
            posture_weights=POSTURE_WEIGHTS,
        )
        script = Path(__file__).with_name("peers_natural.py")
        subprocess.run([peers_python(), script, question, answer], check=True, env=os.environ | ONE_THREAD)
        given = np.load(answer)
        found = {
            weight: Answers(
                [from_hinges(human, q, Z_UP) for q in given["q"][k]], given["seconds"][k], given["steps"][k]
            )
            for k, weight in enumerate(POSTURE_WEIGHTS)
        }
        for k, answers in enumerate(found.values()):
            for posture, seen in zip(answers.postures, given["seen"][k], strict=True):
                places = [Z_UP @ human.pose_of(name, posture).position for name in names]
                assert np.abs(places - seen).max() < SAME, "both must speak of the same figure"
    return found


def support(case: Case) -> np.ndarray:
    """(k, 2) corners of the support, clockwise seen from above, in the peers' horizontal axes."""
    human = case.real.figure
    corners = [site for foot in case.standing for site in human.sites.names if site.startswith(f"{foot}_")]
    if not corners:
        return np.zeros((0, 2))
    flat = np.array([(Z_UP @ human.pose_of(site, case.real).position)[:2] for site in corners])
    return flat[ConvexHull(flat).vertices[::-1]]


def padded(polygons: Sequence[np.ndarray]) -> np.ndarray:
    """Polygons as one array, with NaN after the last corner of each."""
    found = np.full((len(polygons), max(1, *map(len, polygons)), 2), np.nan)
    for row, polygon in zip(found, polygons, strict=True):
        row[: len(polygon)] = polygon
    return found
