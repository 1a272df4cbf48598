"""Criteria that the studio adds to a standing person change its posture, and do not hunch it or ball it up."""

import numpy as np
import pytest

from poise.studio.panels.criteria import CRITERION_KINDS, with_criterion
from poise.studio.scenes.openings import EXAMPLE_SCENES
from poise.studio.session.changes import scene_change
from poise.studio.session.session import Session

from .test_pulling import rest

MOST_SUNK = 0.1
"""How far the head may sink [m]."""


@pytest.mark.parametrize("word", ["Comfort: joints near mid-range", "Flex", "Extend"])
def test_a_criterion_is_seen_and_the_person_still_stands(word: str) -> None:
    session, kind = Session(EXAMPLE_SCENES["Standing"]()), CRITERION_KINDS[word]
    rest(session)
    before = session.state.posture
    session.update(scene_change(with_criterion, kind, kind(weight=kind.first_weight)))  # type: ignore[call-arg]
    rest(session)
    figure, after = session.state.figure, session.state.posture
    head = [figure.pose_of("head", posture).position[1] for posture in (before, after)]
    assert head[1] > head[0] - MOST_SUNK
    assert np.abs(figure.difference(before, after)).max() > np.radians(3.0)
    assert session.state.outcome.light == "green"
