"""The clips of the examples are those that `scripts/make_clips.py` writes."""

from pathlib import Path

import numpy as np
import pytest

import poise
from tests.unit.motion.retarget.performances import dancing, fox_on_the_spot, walking, waving

CLIPS = Path(__file__).parents[4] / "examples" / "clips"
MADE = {"walk": walking, "dance": dancing, "wave": waving, "fox": fox_on_the_spot}


def test_there_are_no_others():
    assert {path.stem for path in CLIPS.glob("*.bvh")} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_the_clips_of_the_examples_are_up_to_date(name):
    made, written = MADE[name](), poise.load_clip(CLIPS / f"{name}.bvh")
    assert written.rate == pytest.approx(made.rate)
    names = made.figure.bodies.names
    np.testing.assert_allclose(written.positions(names), made.positions(names), atol=1e-6)
