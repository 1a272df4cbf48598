import copy
import math
import pickle

import numpy as np
import pytest

from poise.errors import FigureError
from poise.figure.model.body import Body, Site
from poise.figure.model.builder import Builder, ball, elbow, planar, revolute, universal
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Coupling, Joint, Term
from poise.figure.model.mass import Mass
from poise.figure.model.pose import Pose
from tests.unit.figure.model.samples import every_kind, leg, two_links


@pytest.fixture(scope="module")
def links():
    return two_links()


def test_parts_are_found_by_name_and_by_order(links):
    assert links.joints.names == ("shoulder", "elbow", "lower_fist", "upper_bob")
    assert links.joints["elbow"] is links.joints[1]
    assert "elbow" in links.joints
    assert [joint.name for joint in links.joints[:2]] == ["shoulder", "elbow"]
    assert (links.nq, links.nv, links.mass, links.up) == (2, 2, 2.0, "y")
    assert links.roots == ("base",)
    assert links.moving_joints == ("shoulder", "elbow")


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda f: f.joints["elbw"], "no joint 'elbw'. Did you mean 'elbow'"),
        (lambda f: f.pose_of("tipp", [0, 0]), "no site or body 'tipp'. Did you mean 'tip'.*Sites and bodies: base"),
        (lambda f: f.posture("bend"), "no posture 'bend'. Did you mean 'bent'"),
        (lambda f: f.posture({"elbow": math.nan}), r"joint 'elbow' .* has the value \[nan\]"),
        (lambda f: f.posture({"elbow": [1.0, 2.0]}), "joint 'elbow' takes a number"),
        (lambda f: f.posture([1.0]), "has 2 numbers"),
        (lambda f: f.integrate([0, 0], [1.0]), "is 2 finite numbers"),
        (lambda f: f.rerooted("hand"), "no body 'hand'"),
        (lambda f: f.posture(["a", "b"]), "is no posture"),
        (lambda f: f.posture([1e200, 0.0]), "has the value"),
        (lambda f: f.integrate([0, 0], [1e200, 0.0]), "is 2 finite numbers"),
    ],
    ids=["joint", "site", "posture", "nan", "count", "length", "velocity", "root", "words", "huge", "huge rate"],
)
def test_wrong_questions_get_one_helpful_sentence(links, ask, sentence):
    with pytest.raises(FigureError, match=sentence):
        ask(links)


def test_postures_are_values(links):
    posture = links.posture("bent")
    assert (posture["shoulder"], posture["elbow"]) == (0.5, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        posture.q[0] = 1.0
    other = posture.changed({"elbow": 0.2})
    assert (posture["elbow"], other["elbow"], other["shoulder"]) == (1.0, 0.2, 0.5)
    assert posture.as_dict() == {"shoulder": 0.5, "elbow": 1.0}
    assert posture is links.posture("bent")
    assert posture == links.posture([0.5, 1.0])
    assert hash(posture) == hash(links.posture([0.5, 1.0]))
    assert "elbow=1." in repr(posture)


def test_posture_takes_the_given_array_by_value(links):
    given = np.array([0.5, 1.0])
    posture = links.posture(given)
    given[0] = 9.0
    assert posture["shoulder"] == 0.5


def test_figures_and_postures_copy_and_pickle(links):
    posture = links.posture("bent")
    for figure in (pickle.loads(pickle.dumps(links)), copy.deepcopy(links)):
        assert figure == links
        assert hash(figure) == hash(links)
    again = pickle.loads(pickle.dumps(posture))
    assert again == posture
    with pytest.raises(ValueError, match="read-only"):
        again.q[0] = 1.0


def test_quaternions_are_normalised_and_zero_ones_refused():
    figure = leg()
    assert figure.posture({"hip": (0, 0, 2, 0)})["hip"] == pytest.approx([0, 0, 1, 0])
    with pytest.raises(FigureError, match="zero quaternion"):
        figure.posture({"hip": (0, 0, 0, 0)})


def test_a_neutral_posture_may_be_named_and_lies_inside_limits():
    b = Builder("arm")
    b.body("base")
    b.body("arm", parent="base", joint=revolute("joint", "x", limits=(0.5, 1.0)))
    assert b.build().neutral()["joint"] == 0.5
    b.posture("neutral", {"joint": 0.75})
    assert b.build().neutral()["joint"] == 0.75


def test_describe_names_everything():
    text = leg().describe()
    for word in (
        "leg: 5 degrees of freedom",
        "hip (ball, swing 115° × 40°)",
        "knee (revolute, 0° … 137.5°)",
        "hamstring",
    ):
        assert word in text
    assert "postures: bent" in two_links().describe()


def test_planar_axes_follow_the_normal():
    assert planar("p", "z").axes == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    x, y, z = (np.array(axis) for axis in planar("p", (1.0, 1.0, 1.0)).axes)
    assert np.cross(x, y) == pytest.approx(z)


def body(name, **parts):
    return Body(name, **parts)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Figure("f", [], []), "has no bodies"),
        (lambda: Figure("f", [body("a"), body("a")], []), "two bodies named 'a'"),
        (lambda: Figure("f", [body("a")], [Joint("j", "fixed", "b", "a")]), "parent body 'b', which does not exist"),
        (lambda: Figure("f", [body("a")], [Joint("j", "fixed", "a", "a")]), "'a' form a cycle"),
        (lambda: Figure("f", [body("a"), body("b")], []), "is not connected: bodies 'a', 'b'"),
        (
            lambda: Figure("f", [body("a"), body("b")], [Joint("j", "fixed", "a", "b"), Joint("k", "fixed", "a", "b")]),
            "is the child of joints 'j' and 'k'",
        ),
        (lambda: Figure("f", [body("a")], [], sites=[Site("s", "b")]), "site 's' is on the body 'b'"),
        (lambda: Figure("f", [body("a")], [], up="w"), "up must be x, y or z"),
        (lambda: Joint("j", "hinge", None, "a"), "unknown kind 'hinge'"),
        (lambda: revolute("j", (0, 0, 0)), "no direction"),
        (lambda: revolute("j", "q"), "one of x, y, z"),
        (lambda: universal("j", "x", "x"), "must not be parallel"),
        (lambda: elbow("j", "x", "y", limits=(0, 1)), "takes 2 limits"),
        (lambda: revolute("j", "x", speed=0.0), "speed limit must be positive"),
        (lambda: Joint("j", "revolute", None, "a"), "needs 1 axes, not 0"),
        (lambda: Mass(-1.0), "positive number of kilograms, not -1"),
        (lambda: Mass(math.nan), "positive number of kilograms"),
        (lambda: Mass(1.0, inertia=np.array([[1, 2, 3], [0, 1, 0], [0, 0, 1]])), "symmetric"),
        (lambda: Pose((0, 0)), "must be 3 numbers"),
        (lambda: Pose((0, 0, math.inf)), r"finite numbers, not \[0.0, 0.0, inf\]"),
        (lambda: Pose(rotation=(0, 0, 0, 0)), "zero quaternion"),
        (lambda: Pose((0, 0, 1e300)), "finite numbers"),
        (lambda: revolute("j", "x", limits="wide"), "limits are"),
        (lambda: Coupling("c", ()), "no terms"),
        (lambda: Coupling("c", (Term("a"),)), "neither a lower nor an upper"),
        (lambda: Term("a", 0.0), "finite and not 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_impossible_parts_are_refused(make, sentence):
    with pytest.raises(FigureError, match=sentence):
        make()


def test_couplings_must_name_one_coordinate():
    b = Builder("f")
    b.body("a")
    b.body("b", parent="a", joint=ball("hip"))
    b.couple("c", {"hip": 1.0}, equals=0.0)
    with pytest.raises(FigureError, match=r"which coordinate of 'hip'.*swing_x, swing_y, twist"):
        b.build()


def test_every_kind_has_the_counts_it_promises():
    figure = every_kind()
    assert figure.nq == sum(joint.nq for joint in figure.joints) == 7 + 1 + 1 + 2 + 2 + 2 + 3 + 3 + 4 * 3
    assert figure.nv == sum(joint.nv for joint in figure.joints) == 6 + 1 + 1 + 2 + 2 + 2 + 3 + 3 + 3 * 3
    assert repr(figure) == "Figure('every_kind', 11 bodies, 29 degrees of freedom)"
