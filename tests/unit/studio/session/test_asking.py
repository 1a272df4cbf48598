"""New roots, rotated joints and targets, forces and obstacles in the session, without a browser."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from poise.engine.scene import Scene
from poise.errors import FigureError, FormatError, PoiseError, TaskError
from poise.figure.model.pose import Pose, turn
from poise.figure.model.shapes import Box, Capsule, Ellipsoid, Mesh
from poise.figures import BUILT_IN, built_in
from poise.forces.balance import balance
from poise.forces.loads import Force, Support
from poise.pictures.force_marks import arrow_scales
from poise.studio.control.files import is_scene, saved_figure, saved_scene
from poise.studio.control.modes import Modes
from poise.studio.panels.forces import balance_sentence, with_feet_supports
from poise.studio.panels.tasks.recruiting import PULLS_AND_PINS, joints_to_root, recruit, tasks_of
from poise.studio.session.changes import scene_change, with_drawing, with_figure, with_root
from poise.studio.session.edits.body import length_of, with_length
from poise.studio.session.edits.loads import (
    new_force,
    supports_of,
    with_arrow,
    with_changed_load,
    with_load,
    with_present_shares,
    with_share,
)
from poise.studio.session.edits.obstacles import (
    OBSTACLE_KINDS,
    drawn_form,
    new_obstacle,
    with_obstacle,
    with_obstacle_at,
    with_solid,
)
from poise.studio.session.edits.scene import task_text, with_new_task, with_parts
from poise.studio.session.session import Session
from poise.studio.wire.frames import packed, unpacked
from poise.studio.wire.geometry import geometry
from poise.studio.wire.layout import MARK_NUMBERS
from poise.tasks.custom import Custom
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.look_at import LookAt
from poise.tasks.mass import MomentOfInertia
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.place import Frame, Orientation, Position
from tests.unit.studio.pointer import aim, drag, grip, press, release, send, twist

from .test_pulling import body, feet, rest


@pytest.fixture
def session() -> Session:
    opened = Session(built_in("human"))
    rest(opened)
    return opened


def everything(session: Session) -> np.ndarray:
    figure = session.state.figure
    return figure.frames(session.state.posture).position[: len(figure.bodies)]


@pytest.mark.parametrize("root", ["right_hand", "left_foot", "head"])
def test_another_root_keeps_the_posture_and_what_is_asked(session: Session, root: str) -> None:
    before = everything(session)
    session.update(lambda state: with_root(state, root))
    assert session.state.figure.roots == (root,)
    assert everything(session) == pytest.approx(before, abs=1e-12)
    rest(session)
    assert everything(session) == pytest.approx(before, abs=1e-5)
    assert len(session.state.scene.tasks) == 3
    assert 'site = "left_foot"' in task_text(session.state.scene, session.state.scene.tasks[0])
    session.undo()
    assert session.state.figure == built_in("human")


def test_a_figure_tied_to_the_world_by_a_motor_keeps_its_root() -> None:
    session = Session(built_in("adelino"))
    before = session.state
    try:
        session.update(lambda state: with_root(state, session.state.figure.bodies[-1].name))
    except FigureError as problem:
        assert "cannot be re-rooted" in str(problem)
        assert session.state is before
    else:
        assert session.state.figure.roots == (before.figure.bodies[-1].name,)


def test_a_joint_is_turned_as_far_as_its_limits_let_it_and_tasks_above_hold(session: Session) -> None:
    stood, before = feet(session), float(session.state.posture["right_elbow"])
    elbow = session.state.figure.v_slice("right_elbow").start
    grip(session, "me", elbow)
    for k in range(1, 21):
        twist(session, "me", elbow, 0.05 * k)
        session.tick()
    rest(session)
    assert float(session.state.posture["right_elbow"]) == pytest.approx(before + 1.0, abs=1e-3)
    twist(session, "me", elbow, 40.0)
    rest(session)
    assert float(session.state.posture["right_elbow"]) == pytest.approx(
        session.state.figure.joints["right_elbow"].upper[0], abs=1e-3
    )
    assert np.abs(feet(session) - stood).max() < 1e-3
    release(session, "me")
    assert session.state.pulls == ()
    session.undo()
    assert float(session.state.posture["right_elbow"]) == pytest.approx(before, abs=1e-6)


def test_a_joint_of_a_mechanism_is_turned_with_its_loops_closed() -> None:
    session = Session(built_in("four_bar"))
    number = session.state.figure.nv - 1
    grip(session, "me", number)
    twist(session, "me", number, 0.3)
    rest(session)
    assert session.state.figure.closure_error(session.state.posture) < 1e-9
    drag(session, "me", [0.0, 0.0, 0.0])  # a joint is no point: nothing happens
    release(session, "me")


def test_a_pull_moves_only_the_joints_that_may_be_recruited(session: Session) -> None:
    recruit(session, "right_hand", PULLS_AND_PINS, ("right_elbow", "right_shoulder"))
    thorax = everything(session)[body(session, "thorax")]
    press(session, "me", body(session, "right_hand"), [0, 0, 0])
    drag(session, "me", np.add(session.state.pulls[0].at, [-0.3, 0.3, 0.3]))
    rest(session)
    assert everything(session)[body(session, "thorax")] == pytest.approx(thorax, abs=1e-3)
    recruit(session, "right_hand", PULLS_AND_PINS, None)
    assert session.state.recruits == {}


def test_joints_on_the_way_to_the_root_and_tasks_of_a_body(session: Session) -> None:
    names = joints_to_root(session.state, "right_hand")
    assert names[0] == "right_wrist"
    assert names[-1] == "base"
    assert tasks_of(session.state, "left_foot") == {"left foot": 0}
    recruit(session, "left_foot", "left foot", ("left_knee", "left_hip", "left_ankle"))
    assert session.state.scene.tasks[0].joints == ("left_knee", "left_hip", "left_ankle")


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_targets_turn(session: Session, axis: str) -> None:
    posture, turned = session.state.posture, turn(axis, 20.0)
    for task in (
        Frame("right_hand", posture.figure.pose_of("right_hand", posture)),
        Orientation("right_hand", (1, 0, 0, 0)),
        Orientation("right_hand", (1, 0, 0, 0), relative_to="thorax"),
    ):
        new = task.dragged(posture, Pose((0.1, 0.2, 0.3), turned))
        found = new.target_in(posture)
        assert found is not None
        assert found.turns
        assert abs(float(found.rotation @ turned)) == pytest.approx(1.0)


def test_a_direction_to_look_in_is_dragged(session: Session) -> None:
    posture = session.state.posture
    eye = posture.figure.pose_of("eyes", posture).position
    task = LookAt("eyes", direction=(0, 0, 1)).dragged(posture, Pose(np.add(eye, [2.0, 0.0, 0.0])))
    assert isinstance(task, LookAt)
    assert task.direction == pytest.approx([2.0, 0.0, 0.0])
    found = task.target_in(posture)
    assert found is not None
    assert found.wanted - eye == pytest.approx([0.5, 0.0, 0.0])


def test_a_turned_target_turns_the_hand(session: Session) -> None:
    session.update(
        scene_change(
            with_new_task,
            Orientation("right_hand", session.state.figure.pose_of("right_hand", session.state.posture).rotation),
        )
    )
    rest(session)
    wanted = np.array(turn("y", 30.0))
    for _ in range(3):
        aim(session, 3, [0, 0, 0], wanted, gesture=1)
        session.tick()
    rest(session)
    got = session.state.figure.pose_of("right_hand", session.state.posture).rotation
    assert abs(float(got @ wanted)) == pytest.approx(1.0, abs=1e-6)
    session.undo()
    assert isinstance(session.state.scene.tasks[3], Orientation)


def test_forces_balance_and_marks(session: Session) -> None:
    session.update(scene_change(with_feet_supports))
    assert [support.site for support in supports_of(session.state.scene)] == ["left_foot", "right_foot"]
    assert balance_sentence(session.state).startswith("In equilibrium")
    session.update(scene_change(with_load, new_force(session.state.figure, "right_hand", "force", 1.8)))
    session.update(lambda state: with_drawing(state, "torques", True), undoable=False, wake=False)
    session.update(lambda state: with_drawing(state, "inertia", True), undoable=False, wake=False)
    marks = unpacked(packed(session.state)).marks
    kinds = marks[:, 0].tolist()
    assert {MARK_NUMBERS[kind] for kind in ("force", "ground", "cone", "arc", "ring")} <= set(kinds)
    newton, _ = arrow_scales(session.state.figure, session.state.look.extent)
    arrow = marks[kinds.index(MARK_NUMBERS["force"])]
    assert (arrow[6:9] - arrow[3:6]) / newton == pytest.approx(session.state.scene.forces[2].force, abs=1e-2)
    grounds = marks[marks[:, 0] == MARK_NUMBERS["ground"]]
    lift = float((grounds[:, 7] - grounds[:, 4]).sum()) / newton
    weight = session.state.figure.mass * 9.80665
    assert lift == pytest.approx(1.1 * weight, rel=1e-3)
    assert set(grounds[:, 2]) == {1.0}


def test_an_arc_is_as_long_as_the_load(session: Session) -> None:
    session.update(scene_change(with_feet_supports))
    session.update(lambda state: with_drawing(state, "torques", True), undoable=False, wake=False)
    elbow = session.state.figure.v_slice("right_elbow").start

    def angle() -> float:
        marks = unpacked(packed(session.state)).marks
        found = marks[(marks[:, 0] == MARK_NUMBERS["arc"]) & (marks[:, 1] == elbow)]
        return float(found[0, 13]) if len(found) else 0.0

    session.update(scene_change(with_load, Force("right_hand", (0.0, 0.0, -10.0))))
    light = angle()
    session.update(scene_change(with_arrow, 2, "force", (0.0, 0.0, -20.0), session.state.posture))
    assert angle() == pytest.approx(2.0 * light, rel=0.2)


def test_shares_that_cannot_be_are_red_until_equilibrium_is_asked(session: Session) -> None:
    session.update(scene_change(with_feet_supports))
    session.update(scene_change(with_present_shares, session.state.posture))
    session.update(scene_change(with_changed_load, 0, share=0.8))
    assert "these shares" in balance_sentence(session.state)
    session.update(scene_change(with_new_task, Equilibrium(priority=3)))
    rest(session)
    assert balance_sentence(session.state).startswith("In equilibrium")
    state = session.state
    assert balance(state.figure, state.posture, state.scene.forces).balanced


def test_the_last_of_the_other_supports_takes_what_is_left(session: Session) -> None:
    session.update(scene_change(with_feet_supports))
    for share, expected in ((0.6, [0.6, None]), (0.7, [0.7, None])):
        session.update(scene_change(lambda scene, share=share: with_share(scene, 0, share)))
        assert [support.share for support in supports_of(session.state.scene)] == expected
    session.update(scene_change(with_share, 1, 0.2))
    assert [support.share for support in supports_of(session.state.scene)] == [None, 0.2]


def test_a_force_in_the_axes_of_its_site_is_dragged_in_the_world(session: Session) -> None:
    session.update(scene_change(with_load, Force("right_hand", (1.0, 0.0, 0.0), axes="site")))
    session.update(scene_change(with_arrow, 0, "force", (0.0, 5.0, 0.0), session.state.posture))
    frame = session.state.figure.pose_of("right_hand", session.state.posture)
    assert frame.matrix @ np.array(session.state.scene.forces[0].force) == pytest.approx([0.0, 5.0, 0.0])
    with pytest.raises(TaskError, match="no torque number 4"):
        with_arrow(session.state.scene, 4, "torque", (0, 0, 0), session.state.posture)


@pytest.mark.parametrize("kind", OBSTACLE_KINDS)
def test_obstacles_are_drawn_where_they_stand_and_moved(session: Session, kind: str) -> None:
    new = new_obstacle(session.state.scene, kind, np.array([0.0, -0.5, 1.5]), 1.8)
    session.update(scene_change(with_obstacle, new))
    assert len(unpacked(packed(session.state)).marks) == 1
    pose = Pose((0.3, -0.4, 1.2), turn("y", 30.0)) if kind != "plane" else Pose((0, -0.7, 0), turn("x", -90.0))
    session.update(scene_change(with_obstacle_at, 0, pose))
    row = unpacked(packed(session.state)).marks[0]
    assert row[0] == MARK_NUMBERS["obstacle"]
    if kind == "plane":
        assert session.state.scene.obstacles[0].offset == pytest.approx(-0.7)
    else:
        assert row[3:6] == pytest.approx(pose.position)
        assert row[[9, 6, 7, 8]] == pytest.approx(pose.rotation, abs=1e-6)


@pytest.mark.parametrize("kind", OBSTACLE_KINDS)
def test_a_dragged_obstacle_is_moved_in_the_solver(session: Session, kind: str) -> None:
    hand = session.state.figure.pose_of("right_hand", session.state.posture).position
    new = new_obstacle(session.state.scene, kind, np.array([0.0, -0.5, 1.5]), 1.8)
    session.update(scene_change(with_obstacle, new))
    session.tick()
    assert session.stepper._compiled is not None
    solver = session.stepper._compiled.solver
    for height in (0.2, 0.1, 0.0):
        away = np.array([0.0, -height, 0.0])
        pose = Pose(hand + away, turn("x", -90.0)) if kind == "plane" else Pose(hand + away)
        session.update(scene_change(with_obstacle_at, 0, pose), gesture="drag")
        session.tick()
    assert session.stepper._compiled.solver is solver
    rest(session)
    moved = session.state.figure.pose_of("right_hand", session.state.posture).position
    assert np.linalg.norm(moved - hand) > 0.005


def test_an_obstacle_pushes_the_figure_aside(session: Session) -> None:
    hand = session.state.figure.pose_of("right_hand", session.state.posture).position
    block = Obstacle(Box((0.1, 0.1, 0.1)), Pose(hand), name="block")
    session.update(scene_change(with_obstacle, block))
    rest(session)
    moved = session.state.figure.pose_of("right_hand", session.state.posture).position
    assert np.linalg.norm(moved - hand) > 0.03


@pytest.mark.parametrize("on", [True, False])
def test_a_hand_pulled_through_the_body_goes_around_where_that_is_switched_on(session: Session, on: bool) -> None:
    session.update(scene_change(with_solid, on))
    assert session.state.scene.solid is on
    figure = session.state.figure
    leg = [figure.pose_of(part, session.state.posture).position for part in ("right_thigh", "right_shank")]
    inside = 0.7 * leg[0] + 0.3 * leg[1]
    press(session, "me", body(session, "right_hand"), [0.0, 0.0, 0.0])
    hand, nearest = np.array(session.state.pulls[0].at), np.inf
    for k in range(80):
        drag(session, "me", hand + min(1.0, k / 50) * (inside - hand))
        session.tick()
        held = session.state.pulls[0].task.target_in(session.state.posture)
        assert held is not None
        now = figure.frames(session.state.posture)
        hip, way = now["right_thigh"].position, now["right_shank"].position - now["right_thigh"].position
        along = float(np.clip((held.got - hip) @ way / (way @ way), 0.0, 1.0))
        nearest = min(nearest, float(np.linalg.norm(held.got - hip - along * way)))
    assert (nearest > 0.06) is on


def test_forms_of_obstacles() -> None:
    assert drawn_form(Plane("y"))[0] == "plane"
    assert drawn_form(Obstacle(Ellipsoid((0.1, 0.2, 0.3))))[1].tolist() == [0.1, 0.2, 0.3]
    assert drawn_form(Obstacle(Capsule(0.1, 0.4)))[0] == "capsule"


def test_a_mesh_is_drawn_as_the_box_around_it_and_moved_by_it(session: Session, tmp_path: Path) -> None:
    corners = np.array([[0, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 1]])
    lines = [*(f"v {x} {y} {z}" for x, y, z in corners), "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]
    (tmp_path / "wedge.obj").write_text("\n".join(lines))
    block = Obstacle(Mesh(str(tmp_path / "wedge.obj")), Pose((0.0, 5.0, 0.0)))
    assert drawn_form(block)[1] == pytest.approx([2.0, 1.0, 1.0])
    session.update(scene_change(with_obstacle, block))
    row = unpacked(packed(session.state)).marks[0]
    assert row[3:6] == pytest.approx([1.0, 5.5, 0.5])
    session.update(scene_change(with_obstacle_at, 0, Pose((1.0, 6.5, 0.5))))
    assert session.state.scene.obstacles[0].pose.position == pytest.approx([0.0, 6.0, 0.0])
    assert drawn_form(Obstacle(Mesh("nowhere.stl")))[1].tolist() == [0.1, 0.1, 0.1]


def test_files_with_scenes_are_told_by_their_names() -> None:
    assert is_scene("reach.toml")
    assert not any(map(is_scene, ("human.figure.toml", "arm.urdf", "human")))


def test_a_wanted_moment_of_inertia_has_a_thick_ring(session: Session) -> None:
    session.update(scene_change(with_new_task, MomentOfInertia("y", 5.0)))
    rings = unpacked(packed(session.state)).marks
    figure = session.state.figure
    assert rings[:, :3].tolist() == [[MARK_NUMBERS["ring"], 3.0, 0.0], [MARK_NUMBERS["ring"], 3.0, 1.0]]
    assert rings[0, 9] ** 2 * figure.mass == pytest.approx(
        figure.moment_of_inertia(session.state.posture, "y"), rel=1e-5
    )
    assert rings[1, 9] ** 2 * figure.mass == pytest.approx(5.0, rel=1e-5)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_figure_has_a_frame_a_geometry_and_limits(name: str) -> None:
    session = Session(built_in(name))
    session.update(lambda state: with_drawing(state, "torques", True), undoable=False, wake=False)
    session.update(lambda state: with_drawing(state, "inertia", True), undoable=False, wake=False)
    frame = unpacked(packed(session.state))
    assert all(np.isfinite(part).all() for part in (frame.bodies, frame.joints, frame.axes, frame.marks))
    assert len(frame.axes) == session.state.figure.nv
    data = geometry(session.state)
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    assert len(header["freedoms"]) == len(header["joints"]) == len(frame.joints)
    assert all({"joint", "body", "at", "turned"} <= set(limit) for limit in header["limits"])


def test_a_changed_figure_leaves_with_its_scene_and_comes_back(session: Session) -> None:
    figure = session.state.figure
    session.update(
        lambda state: with_figure(state, with_length(figure, "left_thigh", length_of(figure, "left_thigh") + 0.05))
    )
    rest(session)
    name, data = saved_scene(session)
    assert name == "human_scene.zip"
    assert set(zipfile.ZipFile(io.BytesIO(data)).namelist()) == {"scene.toml", "human.figure.toml"}
    longer = session.state.figure
    other = Session(built_in("adelino"))
    Modes(other).inbox.take(name, data)
    assert other.state.figure == longer
    assert len(other.state.scene.tasks) == 3
    assert saved_figure(session)[0] == "human.figure.toml"


def test_a_scene_with_a_function_cannot_be_saved_and_says_why() -> None:
    scene = Scene("arm", [Custom(lambda posture: np.zeros(1))])
    with pytest.raises(PoiseError, match="Custom"):
        saved_scene(Session(scene))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nothing", b"\0" * 100])
def test_an_archive_that_is_none_is_refused(session: Session, data: bytes) -> None:
    before = session.state
    with pytest.raises(PoiseError):
        Modes(session).inbox.take("scene.zip", data)
    assert session.state is before


def test_an_archive_without_a_scene_or_with_paths_stays_in_its_folder(session: Session) -> None:
    packed_files = io.BytesIO()
    with zipfile.ZipFile(packed_files, "w") as archive:
        archive.writestr("../../outside.txt", "no")
    inbox = Modes(session).inbox
    with pytest.raises((FormatError, PoiseError), match="no scene, figure or motion"):
        inbox.take("scene.zip", packed_files.getvalue())
    assert (inbox.folder / "1" / "outside.txt").exists()
    assert not (inbox.folder.parent.parent / "outside.txt").exists()


def test_a_name_that_is_not_here_changes_nothing(session: Session) -> None:
    session.update(scene_change(with_new_task, LookAt("eyes", at=[0, 1, 2])))
    before = session.state
    figure = before.figure
    with pytest.raises(PoiseError, match="eyes"):
        session.update(
            lambda state: with_figure(
                state, figure.replaced(sites=[site for site in figure.sites if site.name != "eyes"])
            )
        )
    assert session.state is before


@pytest.mark.parametrize(
    "message",
    [
        {"do": "grip", "freedom": 9999},
        {"do": "twist", "freedom": 3, "amount": "NaN"},
        {"do": "twist", "freedom": 3, "amount": 1e308},
        {"do": "aim", "task": 0, "at": [0, 0, 0], "rotation": [0, 0, 0, 0], "gesture": 1},
        {"do": "obstacle", "obstacle": 4, "at": [0, 0, 0], "rotation": [1, 0, 0, 0], "gesture": 1},
        {"do": "force", "force": 0, "part": "force", "arrow": [0, 0, 0], "gesture": 1},
        {"do": "explode"},
        {"do": []},
    ],
)
def test_pointers_that_make_no_sense_change_nothing(session: Session, message: dict[str, object]) -> None:
    before = session.state.scene, session.state.posture
    grip(session, "me", 10)
    send(session, "me", json.dumps({"figure": session.state.figure_number, **message}))
    release(session, "me")
    rest(session)
    assert session.state.scene is before[0]
    assert session.state.posture.q == pytest.approx(before[1].q, abs=1e-6)


def test_pointers_turn_joints_move_obstacles_and_arrows(session: Session) -> None:
    scene = session.state.scene
    block = Obstacle(Box((0.1, 0.1, 0.1)), Pose((0, 2.5, 0)))
    session.update(
        scene_change(lambda _: with_parts(scene, obstacles=[block], forces=[Force("right_hand", (0, 1, 0))]))
    )

    def say(**message: object) -> None:
        send(session, "me", json.dumps({"figure": session.state.figure_number, **message}))

    say(do="obstacle", obstacle=0, at=[0, 2.6, 0], rotation=[1, 0, 0, 0], gesture="a")
    say(do="obstacle", obstacle=0, at=[0, 2.7, 0], rotation=[1, 0, 0, 0], gesture="a")
    say(do="force", force=0, part="torque", arrow=[0, 3, 0], gesture="b")
    assert session.state.scene.obstacles[0].pose.position.tolist() == [0.0, 2.7, 0.0]
    assert session.state.scene.forces[0].torque == (0.0, 3.0, 0.0)
    session.undo()
    session.undo()
    assert session.state.scene.obstacles[0].pose.position.tolist() == [0.0, 2.5, 0.0]
    assert isinstance(session.state.scene.tasks[0], Frame)
    say(do="pin", body=18, point=[0, 0, 0])
    assert isinstance(session.state.scene.tasks[-1], Position)
    assert Support("left_foot") not in session.state.scene.forces
