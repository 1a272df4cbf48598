"""Which source files a solve, a drag in the studio and a retargeting pass through, as docs/architecture.md counts them.

python benchmarks/journeys.py [solve] [drag] [retarget]

Kernels run as plain Python (the script sets NUMBA_DISABLE_JIT), so that the profiler sees their calls. A file counts
when one of its functions is called; what runs while a module is imported does not count, and neither do the built-in
figures.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

import poise
from poise import Natural, Position, retarget, solve

SOURCE = str(Path(poise.__file__).parent) + os.sep
CLIP = Path(__file__).resolve().parents[2] / "shared" / "data" / "bvh" / "cmu" / "02_01.bvh"
FRAMES = slice(60, 110)
"""Part of the clip: half a second of a walk, with steps of both feet."""
HEAVY = ("distances/", "figure/collision/", "near_pairs", "engine/avoidance", "tasks/avoid")
"""Files of solid figures."""


@contextmanager
def passed(name: str) -> Iterator[set[str]]:
    """Print the files that the calls in this block pass through."""
    files: set[str] = set()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(SOURCE) and file not in files and not is_importing(frame):
            files.add(file)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield files
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    show(name, files)


def is_importing(frame: FrameType | None) -> bool:
    """Whether a call is made while a module of poise is imported."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(SOURCE):
            return True
        frame = frame.f_back
    return False


def show(name: str, files: set[str]) -> None:
    named = sorted(file.removeprefix(SOURCE) for file in files)
    named = [file for file in named if not file.startswith("figures/")]
    kernels = [file for file in named if file.startswith("kernels/")]
    others = [file for file in named if file not in kernels]
    solid = sum(any(part in file for part in HEAVY) for file in named)
    print(f"\n{name}: {len(named)} files, {len(kernels)} of them kernels ({solid} for solid figures)")
    print(f"  {', '.join(others)}\n  {', '.join(kernels)}", flush=True)


def solves() -> None:
    for name, site in (("arm", "tip"), ("human", "right_hand")):
        figure = poise.load(name)
        place = figure.pose_of(site, figure.neutral()).position + np.array((0.05, 0.08, 0.03))
        with passed(f"the first solve of the {name}"):
            solve(figure, [Position(site, at=place)], stand=False, criteria=[])
        with passed(f"a further solve of the {name}"):
            solve(figure, [Position(site, at=1.01 * place)], stand=False, criteria=[])
    with passed("a solve of a human that moves naturally and keeps standing"):
        solve(figure, [Position(site, at=place)], criteria=[Natural()])


def drags() -> None:
    from poise.studio.session.session import Session
    from poise.studio.wire.connection import take
    from poise.studio.wire.frames import packed
    from poise.studio.wire.viewport import point

    for name, part in (("arm", "hand"), ("human", "right_hand")):
        session = Session(poise.load(name))
        session.tick()
        figure = session.state.figure
        body = figure.body_of(part if part in figure.bodies.names else figure.sites.names[-1])

        def send(session: Session = session, **message: Any) -> None:
            text = json.dumps({"figure": session.state.figure_number, **message})
            take(text, lambda received: point(session, "pointer", received))
            for _ in range(4):
                session.tick()
            packed(session.state)

        place = figure.pose_of(body, session.state.posture).position
        with passed(f"a drag of the {name}"):
            send(do="press", body=figure.bodies.names.index(body), point=[0, 0, 0])
            for k in range(1, 4):
                send(do="drag", at=(place + k * np.array((0.01, 0.02, 0.01))).tolist())
            send(do="release")


def retargetings() -> None:
    if not CLIP.is_file():
        print(f"no clip {CLIP.name} in ../shared/data beside the repository: the retargeting is left out")
        return
    clip, figure = poise.load_clip(CLIP)[FRAMES], poise.load("walker")
    with passed("a retargeting to the walker"):
        retarget(clip, figure)


JOURNEYS = {"solve": solves, "drag": drags, "retarget": retargetings}

if __name__ == "__main__":
    for journey in sys.argv[1:] or JOURNEYS:
        JOURNEYS[journey]()
