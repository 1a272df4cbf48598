"""Random pulls of the human in the studio pass neither through the floor nor through the body, and come to rest."""

import numpy as np
import pytest

from poise.figure.collision.collisions import Collisions, node_frames
from poise.figure.model.posture import Posture
from poise.figures import built_in
from poise.studio.scenes.openings import opening
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.obstacles import with_solid
from poise.studio.session.pulls import dragged, pressed, released
from poise.studio.session.session import Session
from poise.tasks.avoid import solid_task

HUMAN = built_in("human")
BODIES = ("left_hand", "right_hand", "left_foot", "right_foot", "left_ulna", "right_ulna", "head", "pelvis")
FLOOR_DEPTH, SELF_DEPTH = 1e-3, 5e-3
"""Depths that can hardly be seen [m]."""
SECOND = 60
"""Ticks of the studio in a second."""


def depths(collisions: Collisions, posture: Posture) -> tuple[float, float]:
    """Greatest depth in the floor, and in the body beyond that of the neutral posture [m]."""
    count = collisions.nearest(*node_frames(HUMAN, posture))
    pairs = collisions.rows.pair[:count]
    deep = collisions.neutral_depth[pairs] - collisions.rows.distance[:count]
    is_floor = np.array([collisions.pairs[pair][1] == "floor" for pair in pairs], dtype=bool)
    return float(deep[is_floor].max(initial=0.0)), float(deep[~is_floor].max(initial=0.0))


def pull(session: Session, rng: np.random.Generator, collisions: Collisions) -> tuple[float, float]:
    """Pull a random part to a random place for a second; returns the greatest depths on the way."""
    body = HUMAN.bodies.index(str(rng.choice(BODIES)))
    way = rng.uniform(-0.6, 0.6, 3) - (0.0, 0.2, 0.0)
    session.update(lambda state: pressed(state, "me", body, (0.0, 0.0, 0.0)))
    start, worst = np.array(session.state.pulls[0].at), np.zeros(2)
    for k in range(1, SECOND + 1):
        at = start + min(1.0, 2.0 * k / SECOND) * way
        session.update(lambda state, at=at: dragged(state, "me", at), undoable=False)
        session.tick()
        worst = np.maximum(worst, depths(collisions, session.state.posture))
    session.update(lambda state: released(state, "me"))
    return float(worst[0]), float(worst[1])


@pytest.mark.parametrize("seed", range(5))
def test_a_pulled_human_passes_through_nothing_and_comes_to_rest(seed: int) -> None:
    rng, session = np.random.default_rng(seed), Session(opening(HUMAN))
    task = solid_task(HUMAN)
    assert task is not None
    collisions = Collisions(HUMAN, task.obstacles, reach=0.01)
    for _ in range(3):
        floor, body = pull(session, rng, collisions)
        assert floor < FLOOR_DEPTH
        assert body < SELF_DEPTH
        assert any(not session.tick() for _ in range(SECOND))


def test_a_hollow_human_does_pass_through_the_floor_or_itself() -> None:
    session, rng = Session(opening(HUMAN)), np.random.default_rng(0)
    session.update(scene_change(with_solid, False))
    task = solid_task(HUMAN)
    assert task is not None
    collisions = Collisions(HUMAN, task.obstacles, reach=0.01)
    found = [pull(session, rng, collisions) for _ in range(15)]
    assert sum(floor > FLOOR_DEPTH or body > SELF_DEPTH for floor, body in found) >= 2
