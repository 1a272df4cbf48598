"""Random pulls of the standing human in the studio: what passes through the floor or the body, and what comes to rest.

    python benchmarks/pulls.py [PULLS [hollow]]

A pull goes as a user's does: a point of a hand, foot, elbow, of the head or the pelvis is pressed, dragged for half a
second to a random place up to a metre away, which may lie under the floor or inside the body, held for half a second,
and released. Every pull begins where the one before ended; every tenth begins with the standing human. All postures
that the studio would show are measured. With `hollow`, the figure is not solid.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np
from machine import describe

from poise.figure.collision.collisions import Collisions, node_frames
from poise.figure.model.posture import Posture
from poise.figures import built_in
from poise.studio.scenes.openings import FEET, opening
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.obstacles import with_solid
from poise.studio.session.pulls import dragged, pressed, released
from poise.studio.session.session import Session
from poise.tasks.avoid import solid_task
from poise.tasks.place import Frame

BODIES = ("left_hand", "right_hand", "left_foot", "right_foot", "left_ulna", "right_ulna", "head", "pelvis")
FARTHEST = 1.0
"""Largest distance of a target from the point that is pulled [m]."""
DRAG_STEPS, HOLD_STEPS, REST_STEPS = 30, 30, 60
"""Ticks of the drag, of the hold, and until the figure should rest after its release; sixty are a second."""
MAX_REST_STEPS = 300
RESET_EVERY = 10
FLOOR_DEPTH, SELF_DEPTH, FOOT_ERROR = 1e-3, 5e-3, 1e-5
"""What counts as passing through the floor and through the body [m], and as a foot that has moved [m, rad]."""


class Witness:
    """Measures how deep a figure is in the floor and in itself."""

    def __init__(self, session: Session) -> None:
        figure = session.state.figure
        task = solid_task(figure)
        assert task is not None
        self.floor = task.obstacles[0]
        self.collisions = Collisions(figure, [self.floor], reach=0.01)
        self.feet = [task for task in session.state.scene.tasks if isinstance(task, Frame) and task.site in FEET]
        self.figure = figure

    def depths(self, posture: Posture) -> tuple[float, float]:
        """Greatest depth in the floor, and in the body beyond that of the neutral posture [m]."""
        collisions = self.collisions
        floor = own = 0.0
        count = collisions.nearest(*node_frames(self.figure, posture))
        rows = collisions.rows
        for k in range(count):
            pair, distance = int(rows.pair[k]), float(rows.distance[k])
            if collisions.pairs[pair][1] == self.floor.name:
                floor = max(floor, -distance)
            else:
                own = max(own, collisions.neutral_depth[pair] - distance)
        return floor, own

    def foot_error(self, posture: Posture) -> float:
        """Largest error of a foot [m or rad]."""
        worst = 0.0
        for task in self.feet:
            here, there = self.figure.pose_of(task.site, posture), task.pose
            turn = (there.inverse() @ here).rotation
            worst = max(worst, float(np.abs(here.position - there.position).max()), 2.0 * float(np.abs(turn[1:]).max()))
        return worst


def main(pulls: str = "200", how: str = "solid") -> None:
    rng = np.random.default_rng(0)
    session = Session(opening(built_in("human")))
    if how == "hollow":
        session.update(scene_change(with_solid, False))
    witness, first = Witness(session), session.state
    found, spent, ticks = [], 0.0, 0
    for number in range(int(pulls)):
        if number % RESET_EVERY == 0:
            session.update(lambda state: replace(state, posture=first.posture, pulls=()))
        name = BODIES[rng.integers(len(BODIES))]
        body = session.state.figure.bodies.index(name)
        way = rng.normal(size=3)
        way *= FARTHEST * rng.uniform() ** (1.0 / 3.0) / np.linalg.norm(way)
        begin = time.perf_counter()
        result, more = pull(session, witness, body, way)
        spent, ticks = spent + time.perf_counter() - begin, ticks + more
        found.append((number, name, *result))
        if result[0] > FLOOR_DEPTH or result[1] > SELF_DEPTH or result[2] > FOOT_ERROR or result[3] > REST_STEPS:
            print(f"  {number:4d} {name:12s} floor {1e3 * result[0]:6.2f} mm  body {1e3 * result[1]:6.2f} mm  "
                  f"feet {result[2]:.1e}  rest {result[3]} ticks", flush=True)  # fmt: skip
    report(np.array([row[2:] for row in found]), how, spent / ticks)


def pull(session: Session, witness: Witness, body: int, way: np.ndarray) -> tuple[tuple[float, float, float, int], int]:
    """Pull a body's origin by `way` (3,) and release it: depths, error of the feet, ticks to rest; and all ticks."""
    session.update(lambda state: pressed(state, "me", body, (0.0, 0.0, 0.0)))
    start = np.array(session.state.pulls[0].at)
    floor = own = feet = 0.0
    ticks = 0
    for k in range(1, DRAG_STEPS + HOLD_STEPS + 1):
        if k <= DRAG_STEPS:
            at = start + k / DRAG_STEPS * way
            session.update(lambda state, at=at: dragged(state, "me", at), undoable=False)
        session.tick()
        ticks += 1
        depths = witness.depths(session.state.posture)
        floor, own = max(floor, depths[0]), max(own, depths[1])
        feet = max(feet, witness.foot_error(session.state.posture))
    session.update(lambda state: released(state, "me"))
    steps = 0
    while session.tick() and steps < MAX_REST_STEPS:
        steps += 1
    depths = witness.depths(session.state.posture)
    return (max(floor, depths[0]), max(own, depths[1]), feet, steps), ticks + steps + 1


def report(found: np.ndarray, how: str, seconds: float) -> None:
    count = len(found)
    print(describe("numba", "numpy"))
    print(f"{count} pulls of the {how} human, {1e3 * seconds:.2f} ms a tick with measurements and verdicts")
    for title, column, limit, scale, unit in (
        ("through the floor", 0, FLOOR_DEPTH, 1e3, "mm"),
        ("through the body", 1, SELF_DEPTH, 1e3, "mm"),
        ("feet", 2, FOOT_ERROR, 1e3, "mm or mrad"),
        ("rest after release", 3, REST_STEPS, 1.0 / 60.0, "s"),
    ):
        values = found[:, column]
        bad = int((values > limit).sum())
        print(f"{title:20s} worst {scale * values.max():8.3f} {unit}, 99 % {scale * np.percentile(values, 99):8.3f}, "
              f"above {scale * limit:g} {unit}: {bad} of {count}")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
