"""Everything about a kind of task is said by its class: a new one needs no other file, every built-in one has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import poise
from poise.engine.result import rows
from poise.figure.model.pose import turn
from poise.formats.scene_toml import parse_scene, scene_text
from poise.kernels.goals.goals import POINT_GOAL
from poise.studio.panels.tasks.form import form_of
from poise.studio.session.changes import scene_change, with_target
from poise.studio.session.edits.scene import with_new_task, with_task
from poise.studio.session.new_tasks import new_task, task_menu
from poise.studio.session.session import Session
from poise.tasks.amounts import length
from poise.tasks.criteria import Criterion
from poise.tasks.custom import ComputedTask
from poise.tasks.form import SITE, MenuEntry, Setting, field
from poise.tasks.kinds import all_kinds
from poise.tasks.target import Target, world_from_part
from poise.tasks.task import Comparison, Goal, Task, seat_of

STEPS = 2000
BUILT_IN = {word: kind for word, kind in all_kinds(Task).items() if kind.__module__.startswith("poise.")}


@pytest.fixture
def height() -> Iterator[type[Any]]:
    """A kind of task that is defined while the program runs: a site is at a height above the origin."""

    @dataclass(frozen=True, eq=False)
    class Height(Task):
        menu: ClassVar = (
            MenuEntry("Height", lambda posture, site: Height(site, world_from_part(posture, site).position[1]), True),
        )
        form: ClassVar = (SITE, field("height", "Height [m]"))
        target_fields: ClassVar = ("height",)

        site: str
        height: float

        def describe(self) -> str:
            return f"height of {self.site}"

        def goals(self, figure: poise.Figure) -> list[Goal]:
            up = figure.up_vector
            return [
                Goal(
                    kind=POINT_GOAL,
                    directions=up[None],
                    weights=self.weights_of(1),
                    seat=seat_of(figure, self.site),
                    position=self.height * up,
                )
            ]

        def compare(self, posture: poise.Posture) -> Comparison:
            got = world_from_part(posture, self.site).position @ posture.figure.up_vector
            return Comparison(length(self.height), length(got))

        def target_in(self, posture: poise.Posture) -> Target:
            up, got = posture.figure.up_vector, world_from_part(posture, self.site).position
            return Target(got + (self.height - got @ up) * up, got)

        def dragged(self, posture: poise.Posture, pose: poise.Pose) -> Task:
            return self.with_target(float(pose.position @ posture.figure.up_vector))

    yield Height
    del Task.kinds["height"]


def rest(session: Session) -> None:
    assert any(not session.tick() for _ in range(STEPS))


def test_a_new_kind_is_solved_and_reported(height: type[Any]) -> None:
    human, task = poise.load("human"), height("right_hand", 1.4)
    result = poise.solve(human, [task, poise.Hold("standing", priority=2)], start="standing")
    assert result.status == "solved"
    assert human.pose_of("right_hand", result.posture).position[1] == pytest.approx(1.4, abs=1e-5)
    found = rows(result)[0]
    assert (found.task, found.wanted, found.got, found.outcome) == ("height of right_hand", "1.4 m", "1.4 m", "met")
    solver = poise.Solver(human, [task])
    solver.target(task, 1.2)
    moved = solver.settle("standing")
    assert human.pose_of("right_hand", moved.posture).position[1] == pytest.approx(1.2, abs=1e-5)
    assert rows(moved)[0].wanted == "1.2 m"
    with pytest.raises(poise.TaskError, match="only the position or the rotation"):
        solver.target(task, poise.Pose())


def test_a_new_kind_is_saved_and_read(height: type[Any]) -> None:
    scene = poise.Scene("human", [height("right_hand", 1.4, priority=2)])
    text = scene_text(scene)
    assert 'kind = "height"\nsite = "right_hand"\nheight = 1.4\npriority = 2' in text
    assert parse_scene(text) == scene
    with pytest.raises(poise.FormatError, match="Did you mean 'height'"):
        parse_scene(text.replace('"height"', '"heigth"'))


def test_a_new_kind_is_added_edited_and_dragged_in_the_studio(height: type[Any]) -> None:
    session = Session(poise.load("human"))
    rest(session)
    assert task_menu()["Height"].needs_site
    session.update(scene_change(with_new_task, new_task(session.state, "Height", "right_hand")))
    number = len(session.state.scene.tasks) - 1
    task: Any = session.state.scene.tasks[number]
    assert (type(task), task.priority) == (height, 3)
    setting = Setting(session.state.posture)
    site, metres = form_of(task)
    assert "left_hand" in site.options(setting)
    assert site.put(task, "left_hand", setting).site == "left_hand"  # type: ignore[attr-defined]
    session.update(scene_change(with_task, number, metres.put(task, metres.get(task) + 0.1, setting)))
    rest(session)
    assert session.state.outcome.light == "green"
    mark = session.state.scene.tasks[number].target_in(session.state.posture)
    assert mark is not None
    session.update(lambda state: with_target(state, number, mark.wanted + np.array([0.5, 0.1, 0.5])))
    rest(session)
    moved = session.state.scene.tasks[number].target_in(session.state.posture)
    assert moved is not None
    assert moved.got[1] == pytest.approx(mark.wanted[1] + 0.1, abs=1e-4)


def test_a_kind_can_compute_its_error_in_python() -> None:
    @dataclass(frozen=True, eq=False)
    class HandsApart(ComputedTask):
        distance: float

        def error_at(self, posture: poise.Posture) -> Any:
            left, right = (posture.figure.pose_of(f"{side}_hand", posture).position for side in ("left", "right"))
            return np.array([self.distance - np.linalg.norm(left - right)])

    task = HandsApart(0.3)
    result = poise.solve(poise.load("human"), [task], start="standing")
    assert result.status == "solved"
    assert task.error_at(result.posture) == pytest.approx(0.0, abs=1e-5)
    assert parse_scene(scene_text(poise.Scene("human", [task]))).tasks[0].distance == 0.3  # type: ignore[attr-defined]
    del Task.kinds["hands_apart"]


def test_a_kind_of_poise_cannot_be_replaced_but_ones_own_can() -> None:
    with pytest.raises(poise.TaskError, match="'position' is taken"):
        type("Position", (Task,), {})
    again = [type("Mine", (Task,), {}) for _ in range(2)]
    assert Task.kinds.pop("mine") is again[1]
    assert "_hidden" not in Task.kinds | {type("_Hidden", (Task,), {}).__name__: None}


def test_a_field_that_files_cannot_hold_is_named() -> None:
    @dataclass(frozen=True, eq=False)
    class Odd(Task):
        what: complex = 1j

        def goals(self, figure: poise.Figure) -> list[Goal]:
            return []

    with pytest.raises(poise.TaskError, match="cannot hold argument 'what' of Odd, a complex"):
        scene_text(poise.Scene("arm", [Odd()]))
    with pytest.raises(poise.FormatError, match="cannot hold argument 'what' of Odd"):
        parse_scene('figure = "arm"\n[[task]]\nkind = "odd"\n')
    del Task.kinds["odd"]


@pytest.mark.parametrize("kind", list(BUILT_IN.values()), ids=list(BUILT_IN))
def test_every_built_in_kind_has_all_of_it(kind: type[Task]) -> None:
    human = poise.load("human")
    posture = human.posture("standing")
    assert kind.menu and kind.form and "goals" in dir(kind)
    for entry in kind.menu:
        task = entry.make(posture, "left_foot")
        assert type(task) is kind
        forces = [poise.Support("left_foot"), poise.Support("right_foot")]
        scene = poise.Scene(human, [task], forces=forces, start="standing")
        assert parse_scene(scene_text(scene)) == scene
        result = scene.solve()
        assert result.status in ("solved", "unreachable", "compromised", "stalled")
        assert task.label in result.report()
        check_form(task, Setting(posture))
        check_target(task, posture)


def check_form(task: Task, setting: Setting) -> None:
    """Every field shows a value that is one of its options, and putting it back changes nothing that it shows."""
    for each in form_of(task):
        value = each.get(task)
        chosen = [value] if each.control == "choice" else value if each.control == "choices" else []
        assert set(chosen) <= set(each.options(setting))
        if each.control != "choices" or chosen:
            np.testing.assert_array_equal(each.get(each.put(task, value, setting)), value)


def check_target(task: Task, posture: poise.Posture) -> None:
    """A target that is shown can be dragged; that of a distance stays on the line between the two parts."""
    target = task.target_in(posture)
    if target is None:
        return
    way = task.way_in(posture) if isinstance(task, poise.Distance) else np.ones(3)
    pose = poise.Pose(target.wanted + 0.1 * target.moves * way, turn("y", 30.0) if target.turns else target.rotation)
    moved = task.dragged(posture, pose).target_in(posture)
    assert moved is not None
    np.testing.assert_allclose(moved.wanted, pose.position)
    np.testing.assert_allclose(moved.rotation, pose.rotation)


def test_every_criterion_has_a_word_and_a_name_on_the_page() -> None:
    kinds = all_kinds(Criterion)
    assert list(kinds) == ["comfort", "extend", "flex", "least_torque", "natural", "near_posture"]
    assert all(kind.menu and isinstance(kind.made(poise.load("arm").neutral()), kind) for kind in kinds.values())


@pytest.mark.parametrize(("former", "present"), [("Still", "StayStill"), ("Slow", "TurnSlowly")])
def test_former_names_can_be_imported_with_a_warning(former: str, present: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"poise.{former} is now poise.{present}"):
        assert getattr(poise, former) is getattr(poise, present)
    assert former not in poise.__all__
