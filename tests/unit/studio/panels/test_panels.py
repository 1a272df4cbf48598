"""The tabs on the right and the menu of bodies, through NiceGUI's `user` fixture."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nicegui import ui

from poise.figure.model.pose import Pose
from poise.forces.loads import Force, Support
from poise.formats.catalog.robots import ROBOTS, robots_here
from poise.studio.panels.criteria import CRITERION_KINDS
from poise.studio.panels.viewport import Viewport
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.body import length_of
from poise.studio.session.edits.loads import supports_of
from poise.studio.session.edits.obstacles import with_obstacle_at
from poise.studio.session.edits.scene import with_new_task
from poise.studio.session.new_tasks import new_task, task_menu
from poise.studio.session.pulls import with_pin
from poise.studio.session.session import Session
from poise.tasks.avoid import Avoid
from poise.tasks.criteria import Flex, NearPosture
from poise.tasks.distance import Distance, OnEllipsoid
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.steady import MoveSlowly, StayStill, TurnSlowly
from poise.tasks.task import NEAREST_BRANCH
from poise.tasks.touch import Touch
from tests.unit.studio.visitor import Visit, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.nicegui_main_file("")]


async def test_forces_are_added_changed_and_removed(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("forces")
        await visitor.enter("force site", "right_hand", ui.select)
        for kind in ("force", "torque", "support"):
            await visitor.click(f"add {kind}")
        loads = session.state.scene.forces
        assert [type(load) for load in loads] == [Force, Force, Support]
        assert [load.site for load in loads] == ["right_hand"] * 3  # type: ignore[union-attr]
        await visitor.enter("friction", 0.3)
        assert session.state.scene.forces[2].friction == 0.3  # type: ignore[union-attr]
        await visitor.click("add support")
        assert visitor.user.notify.contains("is a support already")
        session.undo()
        assert len(session.state.scene.forces) == 3

    await visit(story)


async def test_feet_carry_the_weight_by_what_is_found_or_by_shares(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("forces")
        visitor.user.find("Use the feet as supports").click()
        await visitor.wait()
        await visitor.user.should_see("In equilibrium")
        assert [support.share for support in supports_of(session.state.scene)] == [None, None]
        await visitor.enter("compute ground forces", False)
        assert [support.share for support in supports_of(session.state.scene)] == [0.5, None]
        await visitor.enter("compute ground forces", True)
        assert [support.share for support in supports_of(session.state.scene)] == [None, None]
        await visitor.enter("show joint torques", True)
        assert "torques" in session.state.shown

    await visit(story)


async def test_every_criterion_has_a_switch_and_a_gain(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("criteria")
        for word, kind in CRITERION_KINDS.items():
            await visitor.enter(word.lower(), True, ui.switch)
            await visitor.enter(f"gain {word.lower()}", 2.5, ui.number)
            found = session.state.scene.criteria[-1]
            assert type(found) is kind
            assert found.weight == 2.5  # type: ignore[attr-defined]
        assert len(session.state.scene.criteria) == len(CRITERION_KINDS)
        await visitor.enter("posture to stay near", "standing")
        assert any(isinstance(c, NearPosture) and c.posture == "standing" for c in session.state.scene.criteria)
        await visitor.enter("flex", False, ui.switch)
        assert not any(isinstance(criterion, Flex) for criterion in session.state.scene.criteria)

    await visit(story)


async def test_a_number_outside_its_range_is_refused_with_a_sentence(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("body")
        await visitor.enter("body part", "right_shank")
        before = length_of(session.state.figure, "right_shank")
        for wrong in (-3.0, 0.0):
            await visitor.enter("length [m]", wrong)
            assert length_of(session.state.figure, "right_shank") == before
            visitor.user.find(marker="length [m]", kind=ui.number).trigger("blur")
            await visitor.wait()
            assert visitor.user.notify.contains(f"Length must be at least 0.001, not {wrong:g}.")
            assert visitor.field("length [m]", ui.number).value == pytest.approx(before, abs=1e-4)
        await visitor.enter("length [m]", 0.5)
        assert length_of(session.state.figure, "right_shank") == pytest.approx(0.5)

    await visit(story)


async def test_a_robot_is_opened_by_its_name_or_a_sentence_says_how_to_get_it(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        here = [found.name for found in robots_here()]
        absent = next(name for name in ROBOTS if name not in here)
        visitor.user.find("Open robot …").click()
        await visitor.wait()
        await visitor.enter("robot name", absent, ui.select)
        visitor.user.find(marker="open robot").click()
        await visitor.until(lambda: visitor.user.notify.contains("pip install"))
        assert session.state.figure.name == "human"
        if here:
            before = session.state.figure_number
            await visitor.enter("robot name", here[0], ui.select)
            visitor.user.find(marker="open robot").click()
            await visitor.until(lambda: session.state.figure_number > before)

    await visit(story)


CHANGES: dict[str, list[tuple[str, Any, Callable[[Any], bool]]]] = {
    "Position": [
        ("target [m] y", 1.2, lambda t: isinstance(t, Position) and t.at[1] == 1.2),
        ("axes x", False, lambda t: t.axes == "yz"),
        ("relative to", "head", lambda t: t.relative_to == "head"),
        ("joints that may move", "Joints of its limb", lambda t: t.joints == NEAREST_BRANCH),
        ("joints that may move", "Chosen joints", lambda t: len(t.joints) == 1),
        ("chosen joints", ["spine", "chest"], lambda t: t.joints == ("spine", "chest")),
        ("joints that may move", "All joints", lambda t: t.joints is None),
        ("offset from the site [m] x", 0.05, lambda t: t.offset[0] == 0.05),
        ("weight, or one per axis", "1 0.5", lambda t: t.weight == (1.0, 0.5)),
        ("site or body", "eyes", lambda t: t.site == "eyes"),
    ],
    "Orientation": [
        ("rotation [°] x", 30.0, lambda t: isinstance(t, Orientation) and abs(t.rotation[0]) < 1.0),
        ("axes z", False, lambda t: t.axes == "xy"),
        ("priority", 7, lambda t: t.priority == 7),
    ],
    "Position and orientation": [
        ("target [m] x", 0.2, lambda t: isinstance(t, Frame) and t.pose.position[0] == 0.2),
        ("rotation [°] y", 90.0, lambda t: abs(t.pose.rotation[0]) < 0.99),
    ],
    "Look at": [
        ("target [m] z", 3.0, lambda t: isinstance(t, LookAt) and t.at[2] == 3.0),
        ("look", "in a direction", lambda t: t.at is None and t.direction is not None),
        ("direction x", 1.0, lambda t: t.direction[0] == 1.0),
        ("look", "at a point", lambda t: t.direction is None),
        ("look with", "an axis", lambda t: list(t.axis) == [0.0, 1.0, 0.0]),
        ("axis z", 0.5, lambda t: t.axis[2] == 0.5),
        ("look with", "its face", lambda t: t.axis is None),
    ],
    "Centre of mass": [
        ("target [m] y", 0.8, lambda t: isinstance(t, CenterOfMass) and t.at[1] == 0.8),
        ("axes y", False, lambda t: t.axes == "xz"),
    ],
    "Balance over": [
        ("supports", ["left_foot", "right_foot"], lambda t: set(t.supports) == {"left_foot", "right_foot"}),
        ("margin [m]", 0.03, lambda t: t.margin == 0.03),
    ],
    "Moment of inertia": [
        ("target [kg m²]", 4.0, lambda t: isinstance(t, MomentOfInertia) and t.value == 4.0),
        ("axis x", 1.0, lambda t: t.axis[0] == 1.0),
    ],
    "Hold this posture": [("posture", "standing", lambda t: isinstance(t, Hold) and t.posture == "standing")],
    "Equilibrium of forces": [
        ("balance moments about", "All three axes", lambda t: isinstance(t, Equilibrium) and t.level is False),
        ("margin [m]", 0.01, lambda t: t.margin == 0.01),
    ],
    "Avoid self-collision": [
        ("detection distance [m]", 0.2, lambda t: isinstance(t, Avoid) and t.reach == 0.2),
        ("keep clear of", ["itself", "sphere 1"], lambda t: len(t.obstacles) == 1 and t.itself),
    ],
    "Touch": [
        ("surface", "pelvis", lambda t: isinstance(t, Touch) and t.surface == "pelvis"),
        ("surface", "sphere 1", lambda t: t.surface == "sphere 1"),
    ],
    "Stay still": [
        (
            "only these bodies",
            ["head", "pelvis"],
            lambda t: isinstance(t, StayStill) and t.bodies == ("head", "pelvis"),
        ),
        ("only these bodies", [], lambda t: t.bodies is None),
        ("weight, or one per axis", "0.01", lambda t: t.weight == 0.01),
    ],
    "Distance": [
        ("to", "head", lambda t: isinstance(t, Distance) and t.to == "head"),
        ("distance [m]", 1.2, lambda t: t.distance == 1.2),
    ],
    "On an ellipsoid": [
        ("centre [m] y", 0.1, lambda t: isinstance(t, OnEllipsoid) and t.center[1] == 0.1),
        ("radii [m] x", 0.3, lambda t: t.radii[0] == 0.3),
        ("relative to", "head", lambda t: t.relative_to == "head"),
    ],
    "Move slowly": [
        ("speed limit [m/s]", 0.5, lambda t: isinstance(t, MoveSlowly) and t.speed == 0.5),
        ("only these bodies", ["head"], lambda t: t.bodies == ("head",)),
    ],
    "Turn slowly": [
        ("speed limit [rad/s]", 1.5, lambda t: isinstance(t, TurnSlowly) and t.speed == 1.5),
        ("only these bodies", ["head"], lambda t: t.bodies == ("head",)),
    ],
}


def test_every_kind_of_task_is_described_here() -> None:
    built_in = {label for label, entry in task_menu().items() if (entry.make.__module__ or "").startswith("poise.")}
    assert set(CHANGES) == built_in


@pytest.mark.parametrize("kinds", [list(CHANGES)[:3], list(CHANGES)[3:7], list(CHANGES)[7:]], ids=lambda k: k[0])
async def test_every_property_of_every_kind_of_task_can_be_changed(visit: Visit, kinds: list[str]) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("forces")
        visitor.user.find("Use the feet as supports").click()
        await visitor.tab("body")
        await visitor.click("add sphere")
        for kind in kinds:
            session.update(scene_change(with_new_task, new_task(session.state, kind, "left_foot")))
            number = len(session.state.scene.tasks) - 1
            visitor.user.find(Viewport).trigger("selected", {"task": number})
            await visitor.wait()
            await visitor.enter("name", f"my {kind}", ui.input)
            await visitor.enter("gain", 0.5)
            for marker, value, is_so in CHANGES[kind]:
                await visitor.enter(marker, value, within="task form")
                assert is_so(session.state.scene.tasks[number]), f"{kind}: {marker}"
            task = session.state.scene.tasks[number]
            assert (task.name, task.gain) == (f"my {kind}", 0.5)
            await visitor.enter("active", False)
            assert not session.state.scene.tasks[number].active

    await visit(story)


async def test_a_picked_point_becomes_what_a_task_is_about(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        session.update(lambda state: with_pin(state, 18, [0.0, 0.0, 0.0]))
        await visitor.hear("selected", task=3)
        await visitor.hear("picked", body=4, point=[0.0, 0.1, 0.0])
        task = session.state.scene.tasks[3]
        assert isinstance(task, Position)
        assert task.site == session.state.figure.bodies[4].name
        assert task.offset == pytest.approx([0.0, 0.1, 0.0])

    await visit(story)


async def test_the_menu_of_a_body_asks_roots_and_pushes(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        hand = [body.name for body in session.state.figure.bodies].index("right_hand")

        async def choose(words: str) -> None:
            await visitor.hear("menu", body=hand, point=[0.0, 0.0, 0.0], x=300, y=300)
            await visitor.click(words)

        for kind in ("position", "look at"):
            await choose(f"Add task: {kind}")
        assert [task.label for task in session.state.scene.tasks[3:]] == [
            "position of right_hand",
            "gaze of right_hand",
        ]
        await choose("Pin this point")
        await choose("Add force here")
        await choose("Use as support")
        assert len(session.state.scene.tasks) == 6
        assert [type(load) for load in session.state.scene.forces] == [Force, Support]
        await choose("Edit body part …")
        await visitor.user.should_see(marker="kind of joint right wrist")
        before = session.state.figure.frames(session.state.posture).position[:23]
        await choose("Set as root")
        assert session.state.figure.roots == ("right_hand",)
        after = session.state.figure.frames(session.state.posture).position[:23]
        assert after == pytest.approx(before, abs=1e-9)
        await choose("Add site here")
        assert "right_hand_site_1" in session.state.figure.sites.names

    await visit(story)


async def test_joints_are_recruited_in_a_dialog(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.hear("menu", body=18, point=[0.0, 0.0, 0.0], x=300, y=300)
        await visitor.click("Choose movable joints …")
        await visitor.user.should_see("Joints that may move the right hand")
        visitor.user.find("Limb only").click()
        visitor.user.find("Apply").click()
        await visitor.wait()
        chosen = session.state.recruits["right_hand"]
        assert chosen is not None
        assert "right_shoulder" in chosen
        assert "spine" not in chosen
        session.undo()
        assert session.state.recruits == {}

    await visit(story)


async def test_the_body_is_edited(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("body")
        await visitor.enter("body part", "left_shank", ui.select)
        old = session.state.figure
        await visitor.enter("length [m]", 0.5)
        assert length_of(session.state.figure, "left_shank") == pytest.approx(0.5)
        await visitor.enter("mass [kg]", 5.0)
        assert session.state.figure.bodies["left_shank"].mass.mass == 5.0
        await visitor.enter("angle limits [°] upper", 90.0)
        assert session.state.figure.joints["left_knee"].upper[0] == pytest.approx(np.pi / 2)
        await visitor.enter("new site", "shin", ui.input)
        await visitor.click("Add site")
        assert "shin" in session.state.figure.sites.names
        await visitor.enter("kind of joint left knee", "universal")
        assert session.state.figure.joints["left_knee"].kind == "universal"
        await visitor.enter("body part", "left_thigh", ui.select)
        await visitor.enter("swing limits about x, y [°] x", 40.0)
        assert session.state.figure.joints["left_hip"].ball_limits.swing.x == pytest.approx(np.radians(40.0))  # type: ignore[union-attr]
        session.update(scene_change(with_new_task, LookAt("eyes", at=[0, 1, 2])))
        await visitor.enter("body part", "head", ui.select)
        visitor.user.find(marker="Remove").click()
        await visitor.wait()
        assert visitor.user.notify.contains("has no site or body 'eyes'")
        assert "eyes" in session.state.figure.sites.names
        while session.can_undo:
            session.undo()
        assert session.state.figure is old

    await visit(story)


async def test_obstacles_are_added_moved_and_removed(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("body")
        for kind in ("plane", "sphere", "box", "cylinder"):
            await visitor.click(f"add {kind}")
        kinds = [type(each) for each in session.state.scene.obstacles]
        assert kinds == [Plane, Obstacle, Obstacle, Obstacle]
        await visitor.enter("height [m]", -0.1)
        assert session.state.scene.obstacles[0].offset == -0.1
        await visitor.enter("edges [m] x", 0.5)
        assert session.state.scene.obstacles[2].shape.size[0] == 0.5
        visitor.user.find(marker="Remove").click()
        await visitor.wait()
        assert len(session.state.scene.obstacles) == 3
        await visitor.enter("moment of inertia", True, ui.switch)
        assert "inertia" in session.state.shown

    await visit(story)


async def test_the_form_of_a_task_stays_while_an_obstacle_moves_and_knows_where_it_is(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("body")
        await visitor.click("add sphere")
        session.update(scene_change(with_new_task, new_task(session.state, "Avoid self-collision", "left_foot")))
        await visitor.hear("selected", task=3)
        margin = visitor.field("margin [m]", ui.number)
        session.update(scene_change(with_obstacle_at, 0, Pose([0.3, 1.0, 0.6])))
        await visitor.wait()
        assert visitor.field("margin [m]", ui.number) is margin
        await visitor.enter("keep clear of", ["itself", "sphere 1"], within="task form")
        avoid = session.state.scene.tasks[3]
        assert isinstance(avoid, Avoid)
        assert avoid.obstacles == list(session.state.scene.obstacles)

    await visit(story)


async def test_a_switch_makes_the_figure_solid_or_not(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.tab("body")
        assert session.state.scene.solid
        await visitor.enter("solid: does not pass through itself or the floor", False, ui.switch)
        assert not session.state.scene.solid
        await visitor.enter("solid: does not pass through itself or the floor", True, ui.switch)
        assert session.state.scene.solid

    await visit(story)


async def test_newcomers_are_told_what_to_do_and_others_what_the_scene_is_about(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.user.should_see("Drag any part of the figure")
        session.update(lambda state: with_pin(state, 18, [0.0, 0.0, 0.0]))
        await visitor.wait()
        await visitor.user.should_see(session.state.scene.description)
        await visitor.user.should_not_see("Drag any part of the figure")

    await visit(story)


async def test_what_is_wrong_is_said_and_changes_nothing(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.hear("selected", task=0)
        before = session.state.scene
        await visitor.enter("weight, or one per axis", "heavy")
        assert visitor.user.notify.contains("a weight is one number or one per axis")
        assert session.state.scene is before

    await visit(story)
