"""The VMC protocol: frames from a pseudo sender, read back; and packets that are nonsense."""

import numpy as np
import pytest

from poise.errors import FormatError
from poise.formats.osc import Message, bundle, decode, encode
from poise.formats.vmc import BONE, ROOT, skeleton, take, values
from tests.unit.formats.performer import packet, performer


def test_a_performer_comes_back_as_it_was_sent():
    clip, bones = performer(), {}
    for q in clip.q[::20]:
        assert take(decode(packet(clip.figure, q)), bones)
        figure = skeleton(bones)
        seen, sent = figure.frames(figure.posture(values(figure, bones))), clip.figure.frames(clip.figure.posture(q))
        for name in figure.bodies.names:
            assert np.allclose(seen[name].position, sent[name].position, atol=1e-5)


def test_the_sides_are_those_of_unity_with_x_to_the_right():
    bones = {}
    take([Message(BONE, ("LeftUpperLeg", -0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))], bones)
    assert bones["LeftUpperLeg"][0] == pytest.approx(0.1), "left is +x for a performer who looks along z"


def test_a_moved_root_moves_the_hips():
    bones = {}
    take([Message(BONE, ("Hips", 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0))], bones)
    take([Message(ROOT, ("root", 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0))], bones)
    assert np.allclose(values(skeleton(bones), bones)[:3], [-1.0, 1.0, 2.0])


def test_missing_bones_are_skipped():
    bones = {"Hips": np.array([0, 1, 0, 1, 0, 0, 0.0]), "Head": np.array([0, 0.6, 0, 1, 0, 0, 0.0])}
    assert skeleton(bones).joints["Head"].parent == "Hips"


@pytest.mark.parametrize(
    "arguments",
    [("Hips",), ("Hips", 0, 0, 0, 0, 0, 0, 0), (), (1, 0, 0, 0, 0, 0, 0, 1), ("Hips", "a", 0, 0, 0, 0, 0, 1)],
)
def test_nonsense_is_refused(arguments):
    with pytest.raises(FormatError):
        take(decode(bundle([encode(BONE, arguments)])), {})


def test_other_messages_are_skipped():
    assert not take([Message("/VMC/Ext/OK", (1,)), Message("/VMC/Ext/Blend/Val", ("A", 0.5))], {})
    with pytest.raises(FormatError, match="Hips"):
        skeleton({})
