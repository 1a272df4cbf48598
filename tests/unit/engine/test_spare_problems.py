"""A solve that takes over the problem of an earlier one gives the same answer as with a problem of its own."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import poise
from poise import CenterOfMass, Flex, Frame, Hold, LookAt, NearPosture, Orientation, Position, StayStill
from poise.engine import spare_problems


@pytest.fixture(autouse=True)
def no_spare_problems():
    spare_problems._spare.clear()
    yield
    spare_problems._spare.clear()


def problems(count: int):
    """Tasks of a few figures, which often have the same structure but other targets."""
    rng, human = np.random.default_rng(3), poise.load("human")
    figures = [human, poise.load("walker"), poise.load("arm")]
    for k in range(count):
        figure = figures[k % len(figures)]
        start = figure.random(rng)
        sites = [site.name for site in figure.sites] if figure.sites else [body.name for body in figure.bodies][1:]
        tasks = [task(figure, str(rng.choice(sites)), rng) for _ in range(rng.integers(1, 4))]
        if rng.random() < 0.2:
            tasks.append(Hold(start, priority=int(rng.integers(1, 5))))
        bending = [] if figure.name == "arm" else [Flex()]
        criteria = [None, None, (), [NearPosture(start)], bending][rng.integers(5)]
        yield {"figure": figure, "tasks": tasks, "criteria": criteria, "start": figure.random(rng)}


def task(figure, site, rng):
    """A task of any kind whose target may be out of reach."""
    options = {
        "priority": int(rng.integers(1, 4)),
        "weight": float(rng.choice([1.0, 2.0])),
        "soft": bool(rng.random() < 0.1),
    }
    pose = figure.pose_of(site, figure.random(rng))
    kind = rng.integers(6)
    if kind == 0:
        return Frame(site, pose, **options)
    if kind == 1:
        return Orientation(site, pose.rotation, **options)
    if kind == 2:
        return LookAt(site, at=rng.normal(size=3), **options)
    if kind == 3:
        return StayStill(priority=options["priority"])
    if kind == 4:
        return CenterOfMass(at=rng.normal(size=3), priority=options["priority"])
    return Position(site, at=pose.position + rng.choice([0.0, 0.5]) * rng.normal(size=3), **options)


def answer(problem):
    found = poise.solve(**problem, max_steps=25)
    return found.posture.q.tobytes(), found.steps, found.status, found.report()


def test_answers_do_not_depend_on_earlier_solves() -> None:
    asked = list(problems(40))
    alone = []
    for problem in asked:
        spare_problems._spare.clear()
        alone.append(answer(problem))
    order = np.random.default_rng(0).permutation(2 * len(asked)) % len(asked)
    for k in order:
        assert answer(asked[k]) == alone[k], f"problem {k} has another answer after other solves"
    assert any(spare_problems._spare.values()), "no problem was kept"


def test_threads_do_not_share_problems() -> None:
    asked = list(problems(12)) * 3
    alone = [answer(problem) for problem in asked[:12]] * 3
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(answer, asked)) == alone


def test_solvers_that_users_keep_keep_their_problems() -> None:
    human = poise.load("human")
    tasks = [Position("right_hand", at=(-0.3, 1.2, 0.5))]
    solver = poise.Solver(human, tasks)
    before = solver.settle(human.neutral())
    for x in (-0.2, -0.4):
        poise.solve(human, [Position("right_hand", at=(x, 1.0, 0.4))])
    assert solver.settle(human.neutral()).posture == before.posture


def test_few_problems_are_kept() -> None:
    human = poise.load("human")
    for count in range(1, 30):
        reach = [Position("right_hand", at=(-0.3, 1.2, 0.5), name=str(k)) for k in range(count)]
        for _ in range(2):
            poise.solve(human, reach, stand=False, max_steps=1)
    kept = spare_problems._spare[human.compiled]
    assert len(kept) <= spare_problems.MOST_STRUCTURES
    assert max(map(len, kept.values())) <= spare_problems.MOST_SPARE


def test_a_standing_person_takes_over_supports() -> None:
    """The soles of both feet, of the one foot that stands, and the springs of far targets."""
    human = poise.load("human")
    hand, foot = (human.pose_of(part, human.neutral()).position for part in ("right_hand", "left_foot"))
    asked, up = [], human.up_vector
    for k in range(6):
        reach = Position("right_hand", at=hand + k * np.array([0.03, 0.05, 0.05]), name=f"reach {k}")
        lift = Frame("left_foot", poise.Pose(foot + 0.02 * k * up))
        over = CenterOfMass(over=["left_foot", "right_foot"], priority=2)
        stay = Frame("right_foot", human.pose_of("right_foot", human.neutral()))
        asked += [[reach], [reach, Position("left_foot", at=foot + 0.05 * k * up)], [lift, stay, over, reach]]
    problems = [{"figure": human, "tasks": tasks} for tasks in asked]
    alone = []
    for problem in problems:
        spare_problems._spare.clear()
        alone.append(answer(problem))
    for k in np.random.default_rng(1).permutation(2 * len(problems)) % len(problems):
        assert answer(problems[k]) == alone[k], f"problem {k} has another answer after other solves"


def test_a_task_that_fits_no_more_is_compiled_anew() -> None:
    """A task of a kind of its own may have other goals for the same fields."""

    class Several(Orientation):
        kind = ""
        count = 1

        def goals(self, figure):
            return Orientation.goals(self, figure) * Several.count

    human = poise.load("human")
    found = []
    for Several.count in (1, 2, 1):
        task = Several("right_hand", human.pose_of("right_hand", "waving").rotation)
        found.append(poise.solve(human, [task]).errors[task])
    assert max(found) < 1e-6


def test_the_goals_of_a_users_kind_of_task_may_depend_on_more_than_its_fields():
    arm = poise.load("arm")
    places = [arm.pose_of("tip", arm.random(np.random.default_rng(seed))).position for seed in range(3)]
    wanted = [places[0]]

    class Elsewhere(Position):
        """A position that is not the one in the field `at`."""

        def goals(self, figure):
            return Position(self.site, at=wanted[0]).goals(figure)

    for place in places:
        wanted[0] = place
        found = poise.solve(arm, [Elsewhere("tip", at=(0.0, 0.0, 0.0))], restarts=5)
        np.testing.assert_allclose(arm.pose_of("tip", found.posture).position, place, atol=1e-5)
