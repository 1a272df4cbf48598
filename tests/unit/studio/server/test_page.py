"""The list of tasks, the sliders, the top bar and its menus, through NiceGUI's `user` fixture."""

import asyncio

import pytest
from nicegui import ui
from nicegui.testing import User

from poise.errors import NotReadyError
from poise.figures import BUILT_IN, built_in
from poise.studio.control.modes import Modes
from poise.studio.scenes.examples import THESIS
from poise.studio.scenes.openings import EXAMPLE_SCENES, opening
from poise.studio.server.page import READINESS_UPDATE_INTERVAL, SLIDERS_UPDATE_INTERVAL, StudioPage
from poise.studio.session.changes import open_scene, scene_change
from poise.studio.session.edits.scene import with_changed_task
from poise.studio.session.freedoms import shown_values
from poise.studio.session.postures import in_posture, with_freedom
from poise.studio.session.readiness import Readiness
from poise.studio.session.session import Session
from poise.tasks.look_at import LookAt
from tests.unit.studio.pointer import aim
from tests.unit.studio.visitor import Visit, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.nicegui_main_file("")]


async def test_tasks_are_listed_by_priority_and_changed_in_place(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        for words in ("Priority 1", "left foot", "right foot", "Priority 2", "balance"):
            await visitor.user.should_see(words)
        visitor.user.find(marker="task 1").trigger("dragstart")
        visitor.user.find("Drop here for the lowest priority").trigger("drop")
        await visitor.wait()
        assert session.state.scene.tasks[1].priority == 3
        await visitor.user.should_see("Priority 3")
        fields = [each for each in visitor.user.find(ui.number).elements if each.props.get("label") == "Weight"]
        with visitor.user:
            fields[0].value = 0.5
        await visitor.wait()
        assert sorted(float(task.weight) for task in session.state.scene.tasks) == [0.5, 1.0, 1.0]  # type: ignore[arg-type]
        boxes = visitor.user.find(ui.checkbox).elements
        with visitor.user:
            next(iter(boxes)).value = False
        await visitor.wait()
        assert sum(task.active for task in session.state.scene.tasks) == 2
        await visitor.user.should_see("off")

    await visit(story)


async def test_who_types_in_a_row_of_the_list_keeps_the_field(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        def weights() -> set[ui.number]:
            return {each for each in visitor.user.find(ui.number).elements if each.props.get("label") == "Weight"}

        fields = weights()
        for typed in (0.2, 0.25):
            with visitor.user:
                min(fields, key=lambda each: each.id).value = typed
            await visitor.wait()
            assert session.state.scene.tasks[0].weight == typed
            assert weights() == fields
        session.update(scene_change(with_changed_task, 0, name="stand", active=False))
        await visitor.wait()
        await visitor.user.should_see("stand")
        assert weights() == fields
        assert not session.state.scene.tasks[0].active
        session.undo()
        await visitor.wait()
        assert session.state.scene.tasks[0].active
        assert len(session._history.past) == 2, "what is shown is not taken for entered"
        await visitor.enter("priority of task 0", 3)
        assert session.state.scene.tasks[0].priority == 3

    await visit(story)


async def test_a_task_is_added_in_a_dialog(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.click("add task")
        await visitor.user.should_see("Add a task")
        with visitor.user:
            kind = next(
                each for each in visitor.user.find(ui.select).elements if each.props.get("label") == "Kind of task"
            )
            site = next(
                each for each in visitor.user.find(ui.select).elements if each.props.get("label") == "Site or body"
            )
            kind.value, site.value = "Look at", "eyes"
        await visitor.click("Add")
        added = session.state.scene.tasks[-1]
        assert isinstance(added, LookAt)
        assert (added.site, added.priority) == ("eyes", 3)

    await visit(story)


async def test_the_error_of_a_task_is_shown_while_it_is_not_met(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        session.update(lambda state: in_posture(state, "sitting"))
        session.tick()
        await visitor.until(lambda: bool(session.state.outcome.verdicts) and session.state.outcome.light == "green")
        await visitor.wait()
        await visitor.user.should_see("met")
        aim(session, 0, [0.0, 3.0, 0.0])
        await visitor.until(lambda: session.state.outcome.light == "red")
        await visitor.wait()
        await visitor.user.should_see(" m")
        sentence = session.state.outcome.sentence
        await visitor.user.should_see(sentence)

    await visit(story)


async def test_sliders_move_joints_and_follow_them_and_are_found(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.enter("right_elbow", 60.0, ui.slider)
        assert _values(session)[_number(session, "right_elbow")] == pytest.approx(60.0, abs=0.1)
        session.update(lambda state: with_freedom(state, _number(session, "right_elbow"), 20.0))
        for _ in range(int(SLIDERS_UPDATE_INTERVAL / 0.1)):
            await visitor.wait()
        assert visitor.field("right_elbow", ui.slider).value == pytest.approx(20.0, abs=0.2)
        await visitor.enter("search", "left knee", ui.input)
        await visitor.user.should_see(marker="left_knee")
        await visitor.user.should_not_see(marker="right_elbow")
        open_scene(session, opening(built_in("human")))
        await visitor.wait()
        await visitor.user.should_see(marker="left_knee")
        await visitor.user.should_not_see(marker="right_elbow")

    await visit(story)


def _values(session: Session) -> list[float]:
    return shown_values(session.state.posture, session.state.freedoms)


def _number(session: Session, joint: str) -> int:
    return next(freedom.number for freedom in session.state.freedoms if freedom.joint == joint)


async def test_figures_and_postures_are_chosen_and_taken_back(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.enter("figure", "adelino", ui.select)
        await visitor.until(lambda: session.state.figure.name == "adelino")
        await visitor.wait()
        await visitor.enter("posture", "sad", ui.select)
        assert session.state.posture == session.state.figure.posture("sad")
        for _ in range(2):
            await visitor.click("undo")
        assert session.state.figure.name == "human"
        await visitor.click("redo")
        assert session.state.figure.name == "adelino"

    await visit(story)


async def test_the_menu_has_every_example_every_scene_of_the_thesis_and_every_figure(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.click("menu")
        for words in (*EXAMPLE_SCENES, *THESIS, *(name.replace("_", " ") for name in BUILT_IN)):
            await visitor.user.should_see(words)
        for what in ("scene", "figure", "posture", "motion"):
            await visitor.user.should_see(f"Save {what}")
        await visitor.click("7.13 Ball and cylinder")
        await visitor.until(lambda: session.state.scene.description.startswith("Looks at a ball"))
        await visitor.wait()
        await visitor.user.should_see(session.state.scene.description)

    await visit(story)


async def test_the_sheet_of_shortcuts_opens(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.click("help_outline")
        await visitor.user.should_see("Pin the point under the pointer")

    await visit(story)


async def test_the_page_says_what_is_being_got_ready_until_it_is(user: User) -> None:
    left = [Readiness(0.3, "Getting ready to pull: 30%")]
    modes = Modes(Session(built_in("arm")))
    ui.page("/")(lambda: StudioPage(modes.session, modes, lambda: left[0] if left else None) and None)
    await user.open("/")
    await user.should_see("Getting ready to pull: 30%")
    left.clear()
    await asyncio.sleep(2.0 * READINESS_UPDATE_INTERVAL)
    await user.should_not_see("Getting ready to pull: 30%")
    await user.should_see("degrees of freedom")


async def test_a_figure_that_is_not_ready_is_refused_in_a_notice(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Modes, name: str) -> None:
        raise NotReadyError("getting ready: this works in a moment.")

    monkeypatch.setattr(Modes, "choose_figure", refuse)

    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.enter("figure", "walker", ui.select)
        await visitor.user.should_see("getting ready: this works in a moment.")
        assert visitor.field("figure", ui.select).value == "human"

    await visit(story)


async def test_what_is_pressed_before_kernels_are_ready_is_refused_with_a_sentence(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        before = session.state.scene
        monkeypatch.setattr(session.stepper, "prepare", not_ready)
        await visitor.click("remove task 0")
        await visitor.enter("posture", "sitting", ui.select)
        assert visitor.user.notify.contains("getting ready: this works in a moment.")
        assert session.state.scene is before

    await visit(story)
    assert "Traceback" not in caplog.text


def not_ready(*states: object) -> None:
    raise NotReadyError("getting ready: this works in a moment.")
