"""Postures of captured people on the built-in human, and which clips are kept for testing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import poise

ROOT = Path(__file__).resolve().parents[1]
CLIPS = ROOT.parent / "shared" / "data" / "bvh" / "cmu30"
"""Where the clips are: CMU motion capture at 30 frames a second, named SUBJECT_TRIAL.bvh."""
POSTURES = ROOT / "build" / "people"
"""Where retargeted postures are kept, one file for each clip."""


def clip_names(folder: Path = CLIPS) -> list[str]:
    """Names of all clips; ends the program if there are none."""
    names = sorted(path.stem for path in folder.glob("*_*.bvh"))
    if not names:
        print(f"no clips in {folder}: skipped")
        raise SystemExit(0)
    return names


def held_out(names: list[str]) -> list[str]:
    """The clips of every fifth subject: kept out of every fit."""
    subjects = sorted({int(name.split("_")[0]) for name in names})[2::5]
    return [name for name in names if int(name.split("_")[0]) in subjects]


def postures_of(name: str, human: poise.Figure, folder: Path = CLIPS) -> np.ndarray:
    """Postures (frames, nq) of a clip, retargeted unless that has been done before."""
    file = POSTURES / f"{name}.npz"
    if not file.exists():
        POSTURES.mkdir(parents=True, exist_ok=True)
        np.savez(file, q=poise.retarget(poise.load_clip(folder / f"{name}.bvh"), human).q)
    return np.load(file)["q"][1:]  # Frame 0 is a T-pose that the conversion to BVH added.
