"""Likely slips of people who are new to poise: each is answered by one sentence that says what would do."""

import copy
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import poise
from poise import (
    Animation,
    Builder,
    CenterOfMass,
    Character,
    Distance,
    Expressive,
    Gradient,
    Hold,
    Key,
    LookAt,
    Natural,
    Orientation,
    Plane,
    Position,
    Solver,
    Support,
)
from poise.engine.problem import StepSize
from poise.errors import PoiseError
from poise.motion.mapping.mapping import Link
from poise.motion.retarget.retarget import retarget_all

HUMAN, LAMP, ARM = poise.load("human"), poise.load("adelino"), poise.load("arm")
HAND = Position("right_hand", (-0.3, 1.2, 0.4))
BALL = poise.figure.Sphere(0.1)
FILTER = poise.MotionFilter(velocity=1, acceleration=2, jerk=3)
FILTER.reset(0.0)
CLIP = poise.Clip(LAMP, np.tile(LAMP.neutral().q, (3, 1)), 30.0)

SLIPS: dict[str, tuple[Callable[[], object], str]] = {
    "one task without a list": (lambda: poise.solve(HUMAN, HAND), "give a list of tasks, also for a single one"),
    "no tasks at all": (lambda: poise.solve(HUMAN, None), "the tasks must be a list, not None"),
    "None among the tasks": (lambda: poise.solve(HUMAN, [None]), "None is not a task"),
    "the class of a task": (lambda: poise.solve(HUMAN, [Position]), r"Give its arguments: Position\(…\)"),
    "a criterion among the tasks": (lambda: poise.solve(HUMAN, [HAND, Natural()]), r"given as criteria=\[…\]"),
    "a task among the criteria": (lambda: poise.solve(HUMAN, [HAND], criteria=[HAND]), "Tasks are given in the list"),
    "one criterion without a list": (lambda: poise.solve(HUMAN, [HAND], criteria=Natural()), "give a list of criteria"),
    "one obstacle without a list": (lambda: poise.solve(HUMAN, [HAND], obstacles=Plane("y")), "a list of obstacles"),
    "self as an obstacle": (lambda: poise.solve(HUMAN, [HAND], obstacles=["self"]), "avoid_self=True"),
    "a number as force": (lambda: poise.solve(HUMAN, [HAND], forces=[9.81]), "9.81 is not a force"),
    "tasks by site": (lambda: poise.solve(HUMAN, {"right_hand": (0, 1, 0)}), "'right_hand' is not a task"),
    "no figure": (lambda: poise.solve(None, [HAND]), "needs a figure, not None"),
    "the name of a figure": (lambda: poise.solve("human", [HAND]), r"poise.load\('human'\) returns one"),
    "arguments exchanged": (lambda: poise.solve([HAND], HUMAN), "needs a figure"),
    "a reach of a name": (lambda: poise.reach("arm", "tip", (1, 0, 0)), r"poise.load\('arm'\) returns one"),
    "retargeting to a name": (lambda: poise.retarget(CLIP, "human"), r"poise.load\('human'\) returns one"),
    "a file instead of a clip": (lambda: poise.retarget("walk.bvh", HUMAN), "needs a clip, such as poise.load_clip"),
    "a mapping that is none": (lambda: poise.retarget(CLIP, HUMAN, mapping=3), r"a table \{joint: site\} or None"),
    "a style by name": (lambda: poise.retarget(CLIP, HUMAN, style="smooth"), r"is a Style\(smooth=…"),
    "NaN as tolerance": (lambda: poise.solve(HUMAN, [HAND], tolerance=math.nan), "tolerance .* not nan"),
    "infinite tolerance": (lambda: poise.solve(HUMAN, [HAND], tolerance=math.inf), "tolerance .* not inf"),
    "text as tolerance": (lambda: poise.solve(HUMAN, [HAND], tolerance="1e-6"), "tolerance .* not '1e-6'"),
    "no tolerance": (lambda: poise.solve(HUMAN, [HAND], tolerance=None), "tolerance .* not None"),
    "negative steps": (lambda: poise.solve(HUMAN, [HAND], max_steps=-1), "max_steps must be a whole number of 0"),
    "half a step": (lambda: poise.solve(HUMAN, [HAND], max_steps=1.5), "whole number of 0 or more, not 1.5"),
    "a flag as steps": (lambda: poise.solve(HUMAN, [HAND], max_steps=True), "whole number of 0 or more, not True"),
    "text as restarts": (lambda: poise.solve(HUMAN, [HAND], restarts="3"), "restarts must be a whole number"),
    "a negative seed": (lambda: poise.solve(HUMAN, [HAND], seed=-1), "the seed must be a whole number of 0 or more"),
    "a seed of random": (lambda: HUMAN.random(-1), "the seed of a random posture must be a whole number"),
    "a word as seed": (lambda: HUMAN.random("dice"), "must be a whole number of 0 or more, not 'dice'"),
    "a duration as text": (lambda: Solver(HUMAN, [HAND], dt="0.1"), "dt of a step must be a positive number of sec"),
    "a step from nowhere": (lambda: Solver(HUMAN, [HAND]).step(None), "None is no posture of figure 'human'"),
    "a pickled solver": (lambda: pickle.dumps(Solver(HUMAN, [HAND])), "cannot be copied or pickled"),
    "a copied solver": (lambda: copy.deepcopy(Solver(HUMAN, [HAND])), "make another solver"),
    "complex joint values": (lambda: ARM.posture(ARM.neutral().q + 1j), "give a name, joint values by name, or 4"),
    "a joint value as text": (lambda: ARM.posture({"elbow": "90"}), "joint 'elbow' takes a number, not '90'"),
    "no posture": (lambda: HUMAN.posture(None), "None is no posture of figure 'human'"),
    "an assignment to a posture": (
        lambda: HUMAN.neutral().__setitem__("right_elbow", 1.0),
        r"posture.changed\(\{'right_elbow': …\}\)",
    ),
    "a priority as text": (lambda: Position("tip", (0, 0, 0), priority="first"), "priority must be a whole number"),
    "a weight as text": (lambda: Position("tip", (0, 0, 0), weight="heavy"), "weight must be one number or one per"),
    "a gain above one": (lambda: Position("tip", (0, 0, 0), gain=2), "gain must be above 0 and at most 1"),
    "a gain as text": (lambda: Position("tip", (0, 0, 0), gain="high"), "gain must be a finite number"),
    "nothing to load": (lambda: poise.load(None), "the name of a file must be text or a path, not None"),
    "a number to load": (lambda: poise.load(3), "the name of a file must be text or a path, not 3"),
    "no clip to load": (lambda: poise.load_clip(None), "the name of a file must be text or a path"),
    "a billion frames": (lambda: CLIP.resampled(1e12), "too many frames .* give a rate of at most"),
    "a rate as text": (lambda: CLIP.resampled("30"), "a positive number of frames per second, not '30'"),
    "a rate of a gigahertz": (lambda: Character(LAMP).frames(rate=1e9), "at most 10000 frames per second"),
    "limits exchanged": (
        lambda: poise.figure.revolute("j", "x", limits=(1.5, -1.5)),
        r"lower limit 1.5 rad \(85.9437°\) above its upper limit -1.5 rad",
    ),
    "a roll as text": (lambda: poise.facing("x", roll="a bit"), "a roll must be a finite number of radians"),
    "a gaze of two numbers": (lambda: Expressive(LAMP).solve("sad", [1, 0]), "an orientation must be 4 numbers"),
    "a held posture of nothing": (lambda: poise.solve(ARM, [Hold(None)]), "None is no posture of figure 'arm'"),
    "support by nothing": (lambda: poise.solve(HUMAN, [CenterOfMass(over=[])]), "at least one support"),
    "a frame duration as text": (lambda: FILTER.step(0.0, "fast"), "dt of a motion filter must be a positive number"),
    "lengths as text": (lambda: poise.chain("YX", lengths="ab"), "needs 2 lengths"),
    "a length as text": (lambda: poise.chain("YX", lengths=["a", "b"]), "must be zero or a positive number, not 'a'"),
    "one length for all": (lambda: poise.chain("YX", lengths=0.1), "needs 2 lengths, not 1"),
    "a mass as text": (lambda: poise.figure.Builder("x").body("a", mass="heavy"), "a mass must be zero or a positive"),
    "a human's height as text": (lambda: poise.human(stature="tall"), "stature of a human must be a positive number"),
    "a clip of a name": (lambda: poise.Clip("adelino", [[0.0] * 5], 30), r"poise.load\('adelino'\) returns one"),
    "a time as text": (lambda: CLIP.at("1"), "a time in a clip must be a finite number of seconds"),
    "half a frame": (lambda: CLIP[1.5], "a frame is a whole number, not 1.5"),
    "nothing to avoid": (lambda: poise.solve(ARM, [poise.Avoid(None)]), "a figure can avoid an obstacle, a plane or"),
    "a criterion's weight as text": (lambda: poise.LeastTorque(weight="a"), "weight must be zero or a positive number"),
    "a velocity as text": (lambda: ARM.integrate(ARM.neutral(), "fast"), "a velocity of figure 'arm' is 4 finite"),
    "a scene of one task": (lambda: poise.Scene("human", HAND), "give a list of tasks"),
    "a robot of a name": (lambda: poise.robots.connect("serial:/dev/x", "adelino"), r"poise.load\('adelino'\)"),
    "no address": (lambda: poise.robots.connect(None, LAMP), "None names no robot"),
    "a solver of a name": (lambda: Expressive("adelino"), r"poise.load\('adelino'\) returns one"),
    "a look at nothing": (lambda: LookAt("eyes"), "a point .* or a direction"),
    "a matrix as target": (lambda: Position("tip", np.eye(4)), r"3 numbers, not array\(\[\[1., 0., 0., 0.\], \[0"),
    "Euler angles": (lambda: poise.solve(ARM, [Orientation("tip", (90, 0, 0))]), r'poise.figure.turn\("x", degrees\)'),
    "axes in a list": (lambda: poise.solve(ARM, [Position("tip", (0, 1, 0), axes=["x"])]), 'letters such as "xz"'),
    "joints by number": (lambda: poise.solve(ARM, [Position("tip", (0, 1, 0), joints=3)]), "3 is neither a name nor"),
    "lists of tasks in a list": (lambda: poise.solve(HUMAN, [[HAND]]), "Give one flat list of tasks"),
    "names as tasks": (lambda: poise.solve(HUMAN, ["right_hand"]), r"Make one, such as Position\(name"),
    "a shape as obstacle": (lambda: poise.solve(ARM, [], obstacles=[BALL]), r"Obstacle\(shape, Pose\(position\)\)"),
    "a start that is a result": (lambda: poise.solve(ARM, [], start=poise.solve(ARM, [])), "give its posture, a name"),
    "a start of zero": (lambda: poise.solve(ARM, [], start=0), "0 is no posture of figure 'arm'"),
    "a support by a wrong name": (
        lambda: poise.solve(HUMAN, [HAND], forces=[Support("lft_foot")]),
        "no site or body 'lft_foot'. Did you mean 'left_foot'",
    ),
    "a target by site": (
        lambda: Solver(ARM, [Position("tip", (0, 1, 0))]).target("tip", (0, 2, 0)),
        "'tip' is not one",
    ),
    "a number as step size": (lambda: Solver(ARM, [], step=0.1), r"must be StepSize\(…\), not 0.1"),
    "a step size below zero": (lambda: StepSize(turn=-1), "turn of a step must be a positive number of radians"),
    "a step size of NaN": (lambda: StepSize(min_gain=math.nan), "the least gain of a step must be"),
    "a reach of tasks": (lambda: poise.reach(ARM, [Position("tip", (0, 1, 0))]), "one site or body, given by its name"),
    "a joint to hold by number": (lambda: poise.reach(ARM, "tip", (0, 1, 0), hold=3), "3 is neither a name nor"),
    "a gradient that is no function": (lambda: Gradient("speed"), "give a function of a posture, not 'speed'"),
    "a distance as text": (lambda: Distance("tip", "column", "near"), "must be a positive number, not 'near'"),
    "a picture of a name": (lambda: poise.pictures.draw("human"), r"poise.load\('human'\) returns one"),
    "a picture's width alone": (lambda: poise.pictures.draw(ARM, size=100), r"\(900, 600\), not 100"),
    "a picture of half pixels": (lambda: poise.pictures.draw(ARM, size=(100.5, 100)), r"not \(100.5, 100\)"),
    "a picture saved to nothing": (
        lambda: poise.pictures.draw(ARM, size=(16, 16)).save(None),
        "must be text or a path",
    ),
    "an animation of a figure": (lambda: poise.animate(ARM), r"such as Scene\(figure, animation=…\)"),
    "live retargeting to a name": (lambda: poise.LiveRetarget("human", CLIP), r"poise.load\('human'\) returns one"),
    "live retargeting of nothing": (lambda: poise.LiveRetarget(HUMAN, None), "needs a clip, such as poise.load_clip"),
    "watching a file": (
        lambda: poise.watching("walk.bvh", poise.at((0, 1, 0))),
        "needs a clip, such as poise.load_clip",
    ),
    "a mapping of a clip without a name": (
        lambda: poise.retarget(CLIP, ARM, mapping={"x": "tip"}),
        "the clip has no jo",
    ),
    "a floor as a number": (
        lambda: poise.retarget(CLIP, LAMP, {"head": "eyes"}, floor=3),
        r"must be Floor\(…\), not 3",
    ),
    "cores as text": (lambda: list(retarget_all([], LAMP, cores="2")), "number of cores must be a whole number of 1"),
    "the rate of an animation as text": (
        lambda: poise.animate(poise.Scene(ARM, animation=Animation([Key(0, "ready"), Key(1, "folded")])), rate="30"),
        "rate of an animation must be a positive number of frames per second, not '30'",
    ),
    "a misspelt role": (lambda: Link("Hips", "pelvis", "pelvs"), "no role 'pelvs'. Did you mean 'pelvis'"),
    "a human in centimetres": (lambda: poise.human(stature=180), "give the stature in metres, such as 1.8"),
    "fingers by word": (lambda: poise.human(fingers="yes"), "fingers of a human must be True or False, not 'yes'"),
    "a figure without a name": (lambda: poise.human(name=None), "the name of a figure must be text, not None"),
    "a body by number": (lambda: built(lambda made: made.body(3)), "the name of a body must be text, not 3"),
    "a joint as text": (lambda: built(lambda made: made.body("a", joint="revolute")), r"what revolute\(…\), ball\(…\)"),
    "one shape without a list": (lambda: built(lambda made: made.body("a", shapes=BALL)), r"\[Sphere\(…\)\]"),
    "a shape as text": (lambda: built(lambda made: made.body("a", shapes=["box"])), "'box' is not a shape"),
    "a root somewhere else": (lambda: built(lambda made: made.body("a", at=(0, 1, 0))), r"a placement=Pose\(…\)"),
    "limits of a ball joint as numbers": (
        lambda: poise.figure.ball("j", limits=(-1, 1)),
        r"BallLimits\(swing, twist\)",
    ),
    "a size as text": (lambda: poise.figure.Sphere("big"), "radius of a shape must be a positive number, not 'big'"),
    "weights as a number": (lambda: Expressive(LAMP, weights=3), r"weights must be Weights\(…\), not 3"),
    "settings as a table": (lambda: Expressive(LAMP, settings={}), r"settings must be ExpressiveSettings\(…\)"),
    "settings of a body as a table": (lambda: Expressive(HUMAN, settings={}), r"must be ExpressiveSettings\(…\)"),
    "a character's solver by name": (lambda: Character(LAMP, solver="erik"), r"poise.Expressive\(figure\) is one"),
}


def built(add: Callable[[Builder], object]) -> poise.Figure:
    """A figure with what `add` adds to it."""
    made = Builder("x")
    add(made)
    return made.build()


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_answered_by_one_sentence(slip: str) -> None:
    call, words = SLIPS[slip]
    with pytest.raises(PoiseError, match=words) as problem:
        call()
    sentence = str(problem.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))


def test_a_joint_to_hold_may_be_given_by_its_name_alone() -> None:
    one = poise.reach(ARM, "tip", (0.2, 0.3, 0.1), hold="elbow")
    assert one.posture["elbow"] == poise.reach(ARM, "tip", (0.2, 0.3, 0.1), hold=["elbow"]).posture["elbow"]


def test_a_bare_direction_leaves_the_roll_free() -> None:
    solver = Expressive(LAMP)
    bare = solver.solve("sad", [1, 0.3, 0.5])
    assert np.array_equal(bare.posture.q, solver.solve("sad", poise.facing([1, 0.3, 0.5], roll=None)).posture.q)


def test_every_figure_has_a_posture_named_neutral() -> None:
    assert "neutral" not in ARM.posture_names
    assert ARM.posture("neutral") == ARM.neutral()
    assert HUMAN.posture("neutral") == HUMAN.neutral()


def test_limits_of_zero_and_minus_zero_are_one_limit() -> None:
    joint = poise.figure.revolute("j", "x", limits=(0, -0.0))
    assert math.copysign(1.0, joint.upper[0]) == 1.0


def test_a_clip_is_made_of_postures() -> None:
    ready, folded = ARM.posture("ready"), ARM.posture("folded")
    assert poise.Clip(ARM, [ready, folded], 30.0) == poise.Clip(ARM, [ready.q, folded.q], 30.0)
