"""Random pulls of the standing human in the studio: what passes through the floor or the body, and what comes to rest.

    python benchmarks/pulls.py [PULLS] [--hollow] [--cores N] [--first NUMBER]

A pull goes as a user's does: a point of a hand, foot, elbow, of the head or the pelvis is pressed, dragged for half a
second to a random place up to a metre away, which may lie under the floor or inside the body, held for half a second,
and released. Every pull begins where the one before ended; every tenth begins with the standing human, and these ten
have a seed of their own. All postures that the studio would show are measured. With `--hollow`, the figure is not
solid.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from cores import answers, parser_of
from machine import describe
from results import Table, shown

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
TOGETHER = 10
"""Number of pulls between two standing postures."""
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


class Pulls(NamedTuple):
    """What was measured in some pulls, one after the other."""

    names: list[str]
    """The bodies that were pulled."""
    found: np.ndarray
    """(n, 4) depth in the floor and in the body [m], error of the feet [m or rad], ticks to rest."""
    ticks: int
    """Number of steps that the studio took."""
    seconds: float
    """Processor time of all of them [s]."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("pulls", type=int, nargs="?", default=200)
    parser.add_argument("--hollow", action="store_true", help="the figure is not solid")
    options = parser.parse_args()
    groups = [
        (seed, options.hollow)
        for seed in range(options.first // TOGETHER, -(-(options.first + options.pulls) // TOGETHER))
    ]
    runs = []
    for (seed, _), run in zip(groups, answers(pulls_of, groups, options.cores), strict=True):
        runs.append(run)
        for k, (name, (floor, own, feet, rest)) in enumerate(zip(run.names, run.found, strict=True)):
            if floor > FLOOR_DEPTH or own > SELF_DEPTH or feet > FOOT_ERROR or rest > REST_STEPS:
                print(f"  {TOGETHER * seed + k:4d} {name:12s} floor {1e3 * floor:6.2f} mm  body {1e3 * own:6.2f} mm  "
                      f"feet {feet:.1e}  rest {rest:.0f} ticks", flush=True)  # fmt: skip
    seconds = sum(run.seconds for run in runs) / sum(run.ticks for run in runs)
    report(np.concatenate([run.found for run in runs]), "hollow" if options.hollow else "solid", seconds)


def pulls_of(group: tuple[int, bool]) -> Pulls:
    """Ten pulls, the first of the standing human; given their seed, and whether the human is hollow."""
    seed, hollow = group
    rng = np.random.default_rng(seed)
    session = Session(opening(built_in("human")))
    if hollow:
        session.update(scene_change(with_solid, False))
    witness = Witness(session)
    names, found, ticks, begin = [], [], 0, time.process_time()
    for _ in range(TOGETHER):
        name = BODIES[rng.integers(len(BODIES))]
        way = rng.normal(size=3)
        way *= FARTHEST * rng.uniform() ** (1.0 / 3.0) / np.linalg.norm(way)
        result, more = pull(session, witness, session.state.figure.bodies.index(name), way)
        names.append(name)
        found.append(result)
        ticks += more
    return Pulls(names, np.array(found), ticks, time.process_time() - begin)


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
    print(f"{count} pulls of the {how} human, {1e3 * seconds:.2f} ms of processor time a tick, verdicts included")
    table = Table("", "", "worst", "99 %", "too much")
    for title, column, limit, scale, unit in (
        ("through the floor", 0, FLOOR_DEPTH, 1e3, "mm"),
        ("through the body", 1, SELF_DEPTH, 1e3, "mm"),
        ("feet", 2, FOOT_ERROR, 1e3, "mm or mrad"),
        ("rest after release", 3, REST_STEPS, 1.0 / 60.0, "s"),
    ):
        values = found[:, column]
        bad = int((values > limit).sum())
        most, usual = f"{shown(scale * values.max())} {unit}", f"{shown(scale * np.percentile(values, 99))} {unit}"
        table.row(title, most, usual, f"{bad} of {count} above {scale * limit:g} {unit}")


if __name__ == "__main__":
    main()
