"""The cheapest sequence of tracks, and limbs that are not caught on the wrong side of the body."""

from itertools import pairwise, product

import numpy as np
import pytest

import poise
from poise.kernels.motion.separation import clip_depths
from poise.motion.report import measure
from poise.motion.report.training import self_depths
from poise.motion.retarget.self_collision import separation
from poise.motion.retarget.sides import _cheapest
from tests.unit.motion.retarget.test_self_collision import one_armed


@pytest.mark.parametrize("seed", range(5))
def test_no_other_sequence_of_tracks_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    costs, change = rng.random((6, 3)), rng.random((3, 3, 6))
    begins, ends = rng.random(3), rng.random(3)

    def cost_of(sequence):
        total = begins[sequence[0]] + ends[sequence[-1]] + sum(costs[t, k] for t, k in enumerate(sequence))
        return total + sum(change[a, b, t + 1] for t, (a, b) in enumerate(pairwise(sequence)) if a != b)

    least = min(product(range(3), repeat=6), key=cost_of)
    assert tuple(_cheapest(costs, change, begins, ends)) == least


@pytest.mark.parametrize("seed", [371, 386])
def test_a_hand_that_ends_behind_the_body_gets_there(seed):
    """Posture, and the way to it, are free of contact at both ends and pass through the body between."""
    rng, figure = np.random.default_rng(seed), one_armed()
    least, most = (-1.5, -1.5, -1.5, -2.3), (1.5, 0.8, 1.5, -0.3)
    start, end = rng.uniform(least, most), rng.uniform(least, most)
    share = np.clip(np.linspace(-1.0, 2.0, 90), 0.0, 1.0)[:, None]
    through = poise.Motion(figure, start + share**2 * (3.0 - 2.0 * share) * (end - start), 30.0)
    depths = self_depths(through)[0]
    assert depths.max() > 0.05
    assert depths[:25].max() == depths[-25:].max() == 0.0
    around = poise.retarget(through, figure, {"upper": "upper", "fore": "elbow", "hand": "hand"})
    quality = measure(around)
    assert self_depths(around)[0].max() < 0.01
    assert np.array(quality.tracking)[-10:].max() < 0.02
    assert not quality.spikes
    assert quality.violations == 0


def test_pairs_that_are_left_out_are_far_apart():
    """Distances that are measured only when they may be near are those of a new measurement in every posture."""
    figure, found = one_armed(), 0
    kept = separation(figure, 1.0)
    for t in np.linspace(0.0, 20.0, 400):
        q = np.sin(np.array([0.9, 0.7, 1.3, 1.1]) * t) - (0.0, 0.2, 0.0, 1.4)
        fresh = separation(figure, 1.0)
        depths = [np.zeros(1), np.zeros(1)]
        for apart, depth in zip((kept, fresh), depths, strict=True):
            clip_depths(figure.compiled.tree, q[None], apart, depth, np.zeros(1, dtype=np.int64))
        np.testing.assert_allclose(depths[0], depths[1], atol=1e-9)
        found += bool(depths[0] > 0.0)
    assert 20 < found < 380
