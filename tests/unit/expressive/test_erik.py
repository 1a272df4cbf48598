"""The interface of the solver: its arguments, its errors, and its guarantees on any chain."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.errors import FigureError, TaskError
from poise.evaluation.erik.sampling import samples
from poise.expressive.measures import errors_of
from poise.figure.model.builder import Builder, ball
from poise.figure.model.pose import turn
from tests.unit.chains.test_chain import bent_arm

OBLIQUE = poise.chain(
    ["y", (1, 0.3, 0.2), (0.2, 0.5, 1), "x", (0.1, 1, 0.1)], lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=(-100, 80)
)
NO_TWISTER = poise.chain("YXZXZX", lengths=[0.1, 0.3, 0.3, 0.3, 0.2, 0.1], limits=120)
BACKWARDS = poise.chain(["-y", "x", "-x", "z", "-y"], lengths=[0.1, 0.3, 0.3, 0.3, 0.1])
SHORT = poise.chain("X", lengths=[0.2])
ALL_TWISTERS = poise.chain("YYY", lengths=[0.1, 0.2, 0.1])
ONE_SIDED = poise.chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=[90, (10, 80), (-80, -10), (0, 90), 90])
CHAINS = [OBLIQUE, NO_TWISTER, BACKWARDS, SHORT, ALL_TWISTERS, ONE_SIDED, bent_arm(), poise.load("snake")]
NAMES = ["oblique", "no end twister", "backwards", "one hinge", "twisters", "one-sided", "bent at rest", "snake"]


@pytest.mark.parametrize("variant", ["2019", "2017"])
@pytest.mark.parametrize("figure", CHAINS, ids=NAMES)
def test_any_chain_gets_a_legal_posture_with_its_true_errors(figure: poise.Figure, variant: str) -> None:
    solver = poise.Erik(figure, variant=variant)  # type: ignore[arg-type]
    limb = chain_of(figure)
    rng = np.random.default_rng(2)
    postures = np.array([figure.random(rng).q for _ in range(40)])
    orientations = samples(limb, 40, 2, "uniform").orientations
    for i, result in enumerate(solver.solve_batch(postures, orientations)):
        assert not figure.violations(result.posture)
        aim = poise.chains.targets.gaze(orientations[i]).aim(figure.up_vector, np.zeros(3))
        errors = errors_of(limb, solver.scoring, aim, result.posture, postures[i])
        assert result.error == pytest.approx(errors.combined, abs=1e-12)
        assert result.orientation_error == pytest.approx(errors.orientation, abs=1e-12)
        assert result.posture_error == pytest.approx(errors.posture, abs=1e-12)
        assert result.shape_error == pytest.approx(errors.shape, abs=1e-12)


@pytest.mark.parametrize("figure", [OBLIQUE, NO_TWISTER, BACKWARDS], ids=["oblique", "no end twister", "backwards"])
def test_reachable_orientations_are_nearly_always_faced(figure: poise.Figure) -> None:
    solver = poise.Erik(figure)
    rng = np.random.default_rng(4)
    postures = np.array([figure.random(rng).q for _ in range(300)])
    orientations = np.array([figure.pose_of("tip", figure.random(rng)).rotation for _ in range(300)])
    batch = solver.solve_batch(postures, orientations)
    assert np.median(batch.orientation_error) < 0.02
    assert (batch.orientation_error < 0.1).mean() > 0.85


def test_a_mirrored_chain_has_the_mirrored_solution() -> None:
    plain = poise.chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1])
    flip = np.array([-1.0, 1.0, -1.0, 1.0, -1.0])
    asked = samples(chain_of(plain), 100, 6, "uniform")
    mine = poise.Erik(plain).solve_batch(asked.postures, asked.orientations)
    theirs = poise.Erik(BACKWARDS).solve_batch(asked.postures * flip, asked.orientations)
    np.testing.assert_allclose(theirs.error, mine.error, atol=1e-9)


def test_a_direction_leaves_the_roll_alone() -> None:
    lamp = poise.load("adelino")
    solver = poise.Erik(lamp)
    direction = np.array([0.3, 0.2, 1.0])
    free = solver.solve("curious", poise.facing(direction, roll=None))
    tip = lamp.pose_of("tip", free.posture)
    assert tip.matrix[:, 1] @ direction / np.linalg.norm(direction) > math.cos(0.06)
    assert free.error <= solver.solve("curious", poise.facing(direction, roll=1.2)).error


def test_a_point_is_looked_at_from_where_the_tip_ends_up() -> None:
    lamp = poise.load("adelino")
    point = np.array([0.5, 0.3, 0.4])
    result = poise.Erik(lamp).solve("attentive", poise.at(point))
    tip = lamp.pose_of("tip", result.posture)
    sight = (point - tip.position) / np.linalg.norm(point - tip.position)
    apart = math.acos(min(1.0, float(tip.matrix[:, 1] @ sight)))
    assert math.sqrt(2.0) * math.sin(apart / 4.0) <= result.orientation_error + 0.01
    assert apart < 0.06


def test_a_limb_of_a_tree_moves_and_the_rest_keeps_its_posture() -> None:
    hand = poise.load("hand")
    with pytest.raises(FigureError, match=r"erik needs a single chain and figure 'hand' branches"):
        poise.Erik(hand)


def test_one_posture_or_one_orientation_serves_all() -> None:
    lamp = poise.load("adelino")
    solver = poise.Erik(lamp)
    views = [poise.facing([math.sin(a), 0.2, math.cos(a)]) for a in (0.0, 0.5, 1.0)]
    swept = solver.solve_batch("sad", views)
    assert len(swept) == 3
    assert swept[1].posture == solver.solve("sad", views[1]).posture
    held = solver.solve_batch(["sad", "happy", {"bend": 0.4}], views[0])
    assert held[1].error == solver.solve("happy", views[0]).error
    with pytest.raises(TaskError, match=r"3 problems need 3 postures, or one for all, not 2"):
        solver.solve_batch(["sad", "happy"], views)


def test_2017_carries_its_gradient_from_frame_to_frame() -> None:
    lamp = poise.load("adelino")
    solver = poise.Erik(lamp, variant="2017")
    views = [poise.facing([math.sin(a), 0.39, math.cos(a)]) for a in np.radians(np.arange(-170.0, 171.0))]
    carried, posture = [], None
    for view in views:
        posture = solver.solve("neutral", view, previous=posture).posture
        carried.append(posture.q)
    alone = solver.solve_batch("neutral", views)
    steps = np.abs(np.diff(carried, axis=0)).max(axis=1)
    jumps = np.abs(np.diff(alone.q, axis=0)).max(axis=1)
    assert (steps > 0.2).sum() <= 2
    assert (jumps > 0.2).sum() >= 20
    again = [solver.solve("neutral", views[0]).posture.q for _ in range(2)]
    np.testing.assert_array_equal(again[0], again[1])
    np.testing.assert_array_equal(again[0], alone.q[0])


@pytest.mark.parametrize(
    ("posture", "orientation", "sentence"),
    [
        ([0, 2.0, 0, 0, 0], [1, 0, 0, 0], r"the posture asks joint 'lean' for 2 rad, outside its limits -1\.571 to"),
        ([0, 0, 0], [1, 0, 0, 0], r"a posture of figure 'adelino' has 5 numbers"),
        ({"knee": 1.0}, [1, 0, 0, 0], r"figure 'adelino' has no joint 'knee'"),
        ("gloomy", [1, 0, 0, 0], r"figure 'adelino' has no posture 'gloomy'"),
        ([0, math.nan, 0, 0, 0], [1, 0, 0, 0], r"joint 'lean' of figure 'adelino' has the value \[nan\]"),
        ("sad", [2, 0, 0, 0], r"an orientation must be a unit quaternion; the length of \(2, 0, 0, 0\) is 2"),
        ("sad", [math.nan, 0, 0, 1], r"an orientation must be 4 finite numbers"),
        ("sad", np.eye(4), r"solve takes one orientation, not 4; solve_batch takes many"),
    ],
)
def test_bad_questions_are_one_sentence(posture: object, orientation: object, sentence: str) -> None:
    solver = poise.Erik(poise.load("adelino"))
    with pytest.raises(poise.PoiseError, match=sentence) as caught:
        solver.solve(posture, orientation)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_bad_batches_name_the_row() -> None:
    solver = poise.Erik(poise.load("adelino"))
    good, still = np.zeros((3, 5)), np.tile([1.0, 0, 0, 0], (3, 1))
    bad_turn, bad_posture, beyond = still.copy(), good.copy(), good.copy()
    bad_turn[1] *= 1.5
    bad_posture[2, 1] = math.inf
    beyond[1, 3] = -2.0
    for postures, orientations, sentence in [
        (good, bad_turn, r"orientation 1 is no unit quaternion: .* has the length 1\.5"),
        (bad_posture, still, r"posture 2 has a value that is not a finite number"),
        (beyond, still, r"posture 1 asks joint 'tilt' for -2 rad, outside its limits"),
        (good[:, :4], still, r"a posture of figure 'adelino' has 5 numbers, not 4"),
        (good, still[:, :3], r"orientations must be rows of 4 numbers"),
    ]:
        with pytest.raises(poise.PoiseError, match=sentence):
            solver.solve_batch(postures, orientations)
    with pytest.raises(TaskError, match=r"there is no device 'tpu': omit device to use all CPU cores, or pass 'cuda'"):
        solver.solve_batch(good, still, device="tpu")  # type: ignore[arg-type]


def test_figures_that_are_no_chain_and_settings_that_solve_nothing_are_refused() -> None:
    made = Builder("leg")
    made.body("pelvis", mass=1.0)
    made.body("thigh", parent="pelvis", joint=ball("hip"), at=(0, 0.1, 0))
    with pytest.raises(FigureError, match=r"^erik needs a single chain of revolute joints; 'hip' is a ball joint\.$"):
        poise.Erik(made.build())
    with pytest.raises(TaskError, match=r"iterations of erik must be a whole number from 1 up, not 0"):
        poise.ErikSettings(iterations=0)
    with pytest.raises(TaskError, match=r"disturbance of erik must be a number from 0 up, not nan"):
        poise.ErikSettings(disturbance=math.nan)
    with pytest.raises(TaskError, match=r"there is no variant '2018' of erik: 2019 or 2017"):
        poise.Erik(poise.load("adelino"), variant="2018")  # type: ignore[arg-type]


def test_the_previous_solution_is_kept_where_nothing_better_is_found() -> None:
    lamp = poise.load("adelino")
    solver = poise.Erik(lamp)
    wanted = lamp.posture([0.3, 0.4, 0.5, 0.2, 0.1])
    facing = lamp.pose_of("tip", wanted).rotation
    answer = solver.solve(wanted, facing)
    assert solver.solve(wanted, facing, previous=wanted).error <= answer.error + 1e-15
    assert solver.solve(wanted, facing, previous=answer).error == answer.error


def test_an_orientation_may_come_as_any_sequence() -> None:
    solver = poise.Erik(poise.load("adelino"))
    q = turn((1, 2, 3), 40.0)
    assert solver.solve("sad", q).error == solver.solve("sad", tuple(q.tolist())).error


def test_threads_may_share_a_solver_and_a_solver_may_be_pickled() -> None:
    solver = poise.Erik(poise.load("erik_g"))
    asked = samples(solver.limb, 400, 8)
    expected = solver.solve_batch(asked.postures, asked.orientations).error
    copy = pickle.loads(pickle.dumps(solver))

    def alone(i: int) -> float:
        return (solver if i % 2 else copy).solve(asked.postures[i], asked.orientations[i]).error

    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(alone, range(400))), expected)


def test_points_and_directions_may_be_mixed_in_a_batch() -> None:
    solver = poise.Erik(poise.load("adelino"))
    views = [poise.at([0.5, 0.3, 0.4]), poise.facing("z"), poise.at([0.0, 1.0, 1.0]), poise.facing("x", roll=None)]
    batch = solver.solve_batch("attentive", views)
    for view, result in zip(views, batch, strict=True):
        alone = solver.solve("attentive", view)
        assert result.orientation_error == pytest.approx(alone.orientation_error, abs=0.01)
        aim = view.aim(solver.figure.up_vector, solver.figure.pose_of("tip", result.posture).position)
        errors = errors_of(solver.limb, solver.scoring, aim, result.posture, "attentive")
        assert result.error == pytest.approx(errors.combined, abs=1e-12)


@pytest.mark.parametrize("value", [math.nan, 2.5, 0, math.inf])
@pytest.mark.parametrize("name", ["iterations", "sweeps", "patience"])
def test_counts_must_be_whole_numbers(name: str, value: float) -> None:
    with pytest.raises(TaskError, match=rf"{name} of erik must be a whole number from 1 up, not"):
        poise.ErikSettings(**{name: value})  # type: ignore[arg-type]


def test_two_motions_of_one_2017_solver_do_not_disturb_each_other() -> None:
    lamp = poise.load("adelino")

    def motion(solver: poise.Erik, posture: str, sign: float) -> Iterator[poise.Posture]:
        last = None
        for f in range(30):
            heading = sign * math.radians(2.0 * f)
            target = poise.facing([math.sin(heading), 0.5, math.cos(heading)])
            last = solver.solve(posture, target, previous=last).posture
            yield last

    alone = [list(motion(poise.Erik(lamp, variant="2017"), *each)) for each in (("happy", 1.0), ("sad", -1.0))]
    shared = poise.Erik(lamp, variant="2017")
    together = list(zip(motion(shared, "happy", 1.0), motion(shared, "sad", -1.0), strict=True))
    assert [one for one, _ in together] == alone[0]
    assert [other for _, other in together] == alone[1]


def test_a_direction_of_three_numbers_is_a_target() -> None:
    for solver in (poise.Erik(poise.load("adelino")), poise.Expressive(poise.load("adelino"))):
        free = poise.facing([1, 0.3, 0.5], roll=None)
        assert solver.solve("sad", [1, 0.3, 0.5]).posture == solver.solve("sad", free).posture
        with pytest.raises(TaskError, match="has no direction"):
            solver.solve("sad", [0, 0, 0])
