import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import FigureError, TaskError
from poise.figure.model.figure import Figure
from poise.figures import built_in
from poise.pictures.surface import sphere
from poise.studio.control.modes import Modes
from poise.studio.scenes.openings import EXAMPLE_SCENES, opening
from poise.studio.session import stepping
from poise.studio.session.changes import open_scene, scene_change, with_target
from poise.studio.session.edits.scene import with_changed_task
from poise.studio.session.freedoms import freedoms_of, shown_values, turned
from poise.studio.session.postures import in_posture, with_freedom
from poise.studio.session.session import Session
from poise.studio.session.state import State
from poise.studio.session.stepping import CompiledState
from poise.studio.wire.frames import packed, unpacked
from poise.studio.wire.geometry import geometry, is_closed
from poise.tasks.task import Goal, Task
from poise.warmup import every_joint_kind
from tests.unit.studio.pointer import aim, drag, press, release


def test_a_session_begins_neutral_and_knows_the_built_in_figures() -> None:
    session = Session(every_joint_kind())
    assert session.state.posture == every_joint_kind().neutral()
    names = Modes(session).figure_names
    assert "human" in names
    assert names[-1] == "every_joint_kind"


def test_there_is_one_freedom_for_every_rate() -> None:
    figure = every_joint_kind()
    freedoms = freedoms_of(figure)
    assert len(freedoms) == figure.nv
    for joint in figure.joints:
        numbers = [freedom.number for freedom in freedoms if freedom.joint == joint.name]
        place = figure.v_slice(joint.name)
        assert numbers == list(range(place.start, place.stop))


@given(st.integers(0, 2**32 - 1), st.data())
def test_moving_a_freedom_gives_it_that_value_inside_the_limits(seed: int, data: st.DataObject) -> None:
    figure = built_in("adelino")
    freedoms = freedoms_of(figure)
    freedom = data.draw(st.sampled_from(freedoms))
    value = data.draw(st.floats(freedom.low, freedom.high))
    posture = figure.random(seed)
    moved = turned(posture, freedom, value)
    before, after = shown_values(posture, freedoms), shown_values(moved, freedoms)
    assert after[freedom.number] == pytest.approx(value, abs=1e-9)
    others = [k for k in range(figure.nv) if k != freedom.number]
    assert [after[k] for k in others] == pytest.approx([before[k] for k in others], abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.data())
def test_no_slider_leads_out_of_the_limits(seed: int, data: st.DataObject) -> None:
    figure = every_joint_kind()
    freedom = data.draw(st.sampled_from(freedoms_of(figure)))
    value = data.draw(st.floats(-1e3, 1e3))
    assert figure.violations(turned(figure.random(seed), freedom, value)) == []


def test_listeners_hear_of_every_change_until_they_leave() -> None:
    session = Session(built_in("adelino"))
    heard: list[int] = []
    leave = session.subscribe(lambda: heard.append(session.state.step))
    session.update(lambda state: with_freedom(state, 0, 30.0))
    session.update(lambda state: in_posture(state, "sad"))
    open_scene(session, opening(built_in("arm")))
    assert heard == [1, 2, 3]
    leave()
    open_scene(session, opening(built_in("adelino")))
    assert heard == [1, 2, 3]
    assert session.state.figure_number == 2


def test_postures_by_name() -> None:
    session = Session(built_in("adelino"))
    session.update(lambda state: in_posture(state, "sad"))
    assert session.state.posture == built_in("adelino").posture("sad")
    session.update(lambda state: in_posture(state, "neutral"))
    assert session.state.posture == built_in("adelino").neutral()
    with pytest.raises(FigureError, match="Did you mean 'sad'"):
        session.update(lambda state: in_posture(state, "saad"))
    assert session.state.step == 2


@pytest.mark.parametrize("name", ["adelino", "stewart", "human"])
def test_a_frame_holds_where_everything_is(name: str) -> None:
    session = Session(built_in(name))
    session.update(lambda state: with_freedom(state, session.state.figure.nv - 1, 5.0))
    state = session.state
    frame = unpacked(packed(state))
    frames = state.figure.frames(state.posture)
    count = len(state.figure.bodies)
    assert (frame.figure_number, frame.step) == (0, 1)
    assert frame.bodies[:, :3] == pytest.approx(frames.position[:count], abs=1e-6)
    assert frame.bodies[:, [6, 3, 4, 5]] == pytest.approx(frames.rotation[:count], abs=1e-6)
    assert len(frame.joints) == sum(joint.kind not in ("fixed", "free") for joint in state.figure.joints)
    assert frame.loops.shape == (len(state.figure.loops), 6)


def test_geometry_says_whose_each_surface_is() -> None:
    state = Session(built_in("adelino")).state
    data = geometry(state)
    length = int.from_bytes(data[:4], "little")
    assert length % 4 == 0
    header = json.loads(data[4 : 4 + length])
    assert len(header["coarse"]) == len(header["parts"])
    vertices = sum(part["vertices"] for part in (*header["parts"], *header["coarse"]))
    triangles = sum(part["triangles"] for part in (*header["parts"], *header["coarse"]))
    assert len(data) == 4 + length + 4 * (3 * vertices + 3 * vertices + 3 * triangles)
    points = np.frombuffer(data, dtype="<f4", count=3 * vertices, offset=4 + length).reshape(-1, 3)
    first = state.look.parts[0].surface.vertices
    assert points[: len(first)] == pytest.approx(first, abs=1e-6)
    assert header["up"] == [0.0, 1.0, 0.0]
    assert set(header["themes"]) == {"light", "dark"}


def test_coarse_surfaces_have_a_fraction_of_the_triangles_and_closed_ones_are_known() -> None:
    data = geometry(Session(built_in("human")).state)
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    fine, coarse = (sum(part["triangles"] for part in header[kind]) for kind in ("parts", "coarse"))
    assert coarse < 0.25 * fine
    assert all(part["closed"] for part in header["parts"])
    ball = sphere(0.1)
    assert is_closed(ball)
    assert not is_closed(replace(ball, triangles=np.delete(ball.triangles, range(400, 440), axis=0))), "a hole"
    assert not is_closed(replace(ball, triangles=ball.triangles[:, ::-1])), "inside out"


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "walker", "delta", "dancer"])
@given(data=st.data())
@settings(max_examples=25)
def test_sliders_keep_loops_closed(name: str, data: st.DataObject) -> None:
    figure = built_in(name)
    freedoms, posture = freedoms_of(figure), figure.neutral()
    for _ in range(3):
        freedom = data.draw(st.sampled_from(freedoms))
        posture = turned(posture, freedom, data.draw(st.floats(freedom.low, freedom.high)))
        assert figure.closure_error(posture) <= 1e-9
        assert figure.violations(posture) == []


def test_a_slider_moves_its_motor_and_keeps_the_others() -> None:
    figure = built_in("five_bar")
    freedoms = freedoms_of(figure)
    left, right = (next(f for f in freedoms if f.joint == f"{side}_motor") for side in ("left", "right"))
    moved = shown_values(turned(figure.neutral(), left, 20.0), freedoms)
    assert moved[left.number] == pytest.approx(20.0)
    assert moved[right.number] == 0.0


def test_a_passive_joint_can_be_moved_too() -> None:
    figure = built_in("four_bar")
    freedoms = freedoms_of(figure)
    pivot = next(f for f in freedoms if f.joint == "rocker_pivot")
    moved = turned(figure.neutral(), pivot, -10.0)
    assert shown_values(moved, freedoms)[pivot.number] == pytest.approx(-10.0)
    assert figure.closure_error(moved) <= 1e-9


def test_only_another_structure_of_the_scene_compiles_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[State] = []

    class Counted(CompiledState):
        def __init__(self, state: State) -> None:
            compiled.append(state)
            super().__init__(state)

    monkeypatch.setattr(stepping, "CompiledState", Counted)
    session = Session(EXAMPLE_SCENES["Reach for a ball"]())
    session.tick()
    assert len(compiled) == 1
    task = len(session.state.scene.tasks) - 1
    aim(session, task, [0.0, 1.5, 0.4])
    session.update(scene_change(with_changed_task, task, at=[0.1, 1.4, 0.4]))
    session.tick()
    assert len(compiled) == 1, "targets are changed in place"
    press(session, "me", 0, [0.0, 0.0, 0.0])
    for k in range(5):
        drag(session, "me", [0.0, 0.9, 0.01 * k])
        session.tick()
    assert len(compiled) == 2, "one solver for a whole drag"
    release(session, "me")
    session.update(scene_change(with_changed_task, task, priority=7))
    session.tick()
    assert len(compiled) == 3, "a solver that was compiled as a check is used for the steps"


def test_a_scene_that_the_solver_cannot_compile_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(state: State) -> CompiledState:
        raise TaskError("no")

    session = Session(EXAMPLE_SCENES["Standing"]())
    before = session.state
    monkeypatch.setattr(stepping, "CompiledState", refuse)
    with pytest.raises(TaskError):
        session.update(scene_change(with_changed_task, 0, priority=7))
    with pytest.raises(TaskError):
        open_scene(session, opening(built_in("human")))
    assert session.state is before
    assert not session.can_undo


def test_a_target_that_the_solver_refuses_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(EXAMPLE_SCENES["Standing"]())
    session.tick()
    before = session.state

    def refuse(self: Task, figure: Figure) -> list[Goal]:
        raise TaskError("no")

    with monkeypatch.context() as patch, pytest.raises(TaskError):
        patch.setattr(type(before.scene.tasks[0]), "goals", refuse)
        session.update(lambda state: with_target(state, 0, [0.0, 1.0, 0.0]))
    assert session.state is before
    while session.tick():
        pass
    assert session.state.outcome.light == "green", "the old targets hold"
