"""The panels of the modes, through NiceGUI's `user` fixture."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from nicegui import ui
from nicegui.testing.user_interaction import UserInteraction

from poise.motion.report.report import Quality
from poise.studio.modes.expressive.expressive import ExpressiveMode, gaze_and_posture
from poise.studio.modes.retarget.retarget import RetargetDriver, RetargetMode
from poise.studio.modes.retarget.work import Work
from poise.studio.panels.modes import expressive as mode_expressive_panel
from poise.studio.session.freedoms import shown_values
from poise.studio.session.session import Session
from tests.unit.robots.emulated import Cable, TextBoard
from tests.unit.studio.visitor import Visit, Visitor

pytestmark = [pytest.mark.anyio, pytest.mark.nicegui_main_file("")]


def text(visitor: Visitor, marker: str) -> str:
    """The text of a label."""
    return str(visitor.field(marker, ui.label).text)


async def test_expressive_chooses_postures_solvers_filters_and_a_robot(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.switch("expressive")
        await visitor.until(lambda: session.state.outcome.light == "green")
        await visitor.click("choose sad")
        assert gaze_and_posture(session.state)[1].label == "sad"
        for solver in ("erik", "2017", "ours"):
            await visitor.click(f"choose {solver}")
            assert isinstance(session.state.mode, ExpressiveMode)
            assert session.state.mode.solver == solver
        await visitor.enter("set velocity", 2.0, ui.slider)
        assert session.state.mode.filter.velocity == 2.0
        await visitor.until(lambda: session.state.outcome.light == "green")
        await visitor.wait()
        assert text(visitor, "fact gaze error").endswith("°")
        assert float(text(visitor, "fact shape error")) < 1.0
        await visitor.enter("ghost", False, ui.switch)
        assert not session.state.mode.ghost

    await visit(story, figure="adelino")


async def test_a_robot_is_sent_nothing_while_the_dry_run_is_on_which_it_is_at_first(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.switch("expressive")
        assert visitor.field("dry run", ui.switch).value is True
        assert text(visitor, "robot line") == "A dry run opens no device and shows the commands here."
        await visitor.enter("send to robot", True, ui.switch)
        await visitor.until(lambda: "→" in text(visitor, "robot line"))
        await visitor.enter("send to robot", False, ui.switch)
        assert text(visitor, "robot state") == "off"
        await visitor.enter("dry run", False, ui.switch)
        await visitor.enter("robot where", "firmata:/dev/nothing_is_here", ui.input)
        await visitor.enter("send to robot", True, ui.switch)
        session.tick()
        await visitor.wait()
        lines = " ".join([*visitor.modes.expressive.robot.lines, *visitor.user.notify.messages])
        assert "nothing_is_here" in lines

    await visit(story, figure="adelino")


async def _dry_run(visitor: Visitor) -> None:
    await visitor.enter("dry run", True, ui.switch)


async def _escape(visitor: Visitor) -> None:
    assert visitor.user.client is not None
    UserInteraction(visitor.user, {visitor.user.client.layout}, None).trigger("escape")


async def _red_button(visitor: Visitor) -> None:
    await visitor.wait()
    await visitor.user.should_see(marker="stop robot")
    visitor.user.find(marker="stop robot").click()


async def _lose_page(visitor: Visitor) -> None:
    assert visitor.user.client is not None
    for socket in list(visitor.user.client._socket_to_document_id):
        visitor.user.client.handle_disconnect(socket)


async def _freeze_page(visitor: Visitor) -> None:
    visitor.user.javascript_rules.clear()
    await asyncio.sleep(mode_expressive_panel.PAGE_PING_INTERVAL + 2 * mode_expressive_panel.PAGE_ANSWER_TIME)


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX thing")
@pytest.mark.parametrize(
    ("event", "why"),
    [
        (_dry_run, "switch Send on to continue"),
        (_escape, "Stopped with Esc"),
        (_red_button, "Stopped with the red button"),
        (_lose_page, "the page that was sending was closed"),
        (_freeze_page, "the page that was sending was closed"),
    ],
)
async def test_sending_to_a_robot_ends_at_once(
    visit: Visit, tmp_path: Path, event: Callable[[Visitor], Awaitable[None]], why: str
) -> None:
    board = TextBoard()
    cable = Cable(tmp_path / "tty", board)

    async def story(visitor: Visitor, session: Session) -> None:
        robot = visitor.modes.expressive.robot
        visitor.user.javascript_rules[re.compile("true")] = lambda _: True
        await visitor.switch("expressive")
        await visitor.enter("dry run", False, ui.switch)
        await visitor.enter("robot where", f"serial:{cable.path}", ui.input)
        await visitor.enter("send to robot", True, ui.switch)
        await visitor.until(lambda: len(board.lines) > 10)
        assert robot.is_on
        await event(visitor)
        assert not robot.is_on
        assert why in robot.lines[-1]
        await asyncio.sleep(0.1)
        sent = len(board.lines)
        for _ in range(40):
            session.tick()
            await asyncio.sleep(0.02)
        assert len(board.lines) == sent, "nothing more arrives, not even on the way to the safe posture"

    try:
        with mock.patch.multiple(mode_expressive_panel, PAGE_PING_INTERVAL=0.2, PAGE_ANSWER_TIME=0.5):
            await visit(story, figure="adelino")
    finally:
        cable.unplug()


async def test_a_mechanism_has_a_slider_for_every_motor_and_says_where_it_stops(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.switch("mechanism")
        await visitor.click("choose five_bar")
        motors = [freedom for freedom in session.state.freedoms if freedom.active]
        name = motors[0].joint.replace("_", " ")
        before = shown_values(session.state.posture, session.state.freedoms)
        await visitor.enter(f"set {name}", before[motors[0].number] + 5.0, ui.slider)
        after = shown_values(session.state.posture, session.state.freedoms)
        assert after[motors[0].number] == pytest.approx(before[motors[0].number] + 5.0, abs=0.2)
        assert text(visitor, "assembly").startswith("The passive joints follow")
        assert text(visitor, "fact all loops") == "closed"
        await visitor.enter(f"set {name}", motors[0].high, ui.slider)
        assert "it stops at" in text(visitor, "assembly")
        visitor.user.find("Reset to neutral").click()
        await visitor.wait()
        assert session.state.posture == session.state.figure.neutral()

    await visit(story)


async def test_circles_choose_a_demo_and_set_it(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.switch("circles")
        for demo in ("cyclist", "hand", "uneven arm", "arm"):
            await visitor.click(f"choose {demo}")
            await visitor.until(lambda demo=demo: session.state.mode.demo == demo)
        await visitor.enter("set turn", 40.0, ui.slider)
        assert session.state.mode.turn == pytest.approx(0.698, abs=1e-3)
        session.tick()
        await visitor.wait()
        assert text(visitor, "fact outer radius") == "1050 mm"
        await visitor.click("choose cyclist")
        await visitor.until(lambda: session.state.mode.demo == "cyclist")
        await visitor.wait()
        await visitor.enter("pedal", False, ui.switch)
        assert not session.state.mode.pedalling

    await visit(story)


def shown(session: Session) -> Quality | None:
    work = RetargetDriver.work(session.state)
    return None if work is None else work.quality


def pairs_of(work: Work) -> dict[str, str]:
    return {link.joint: link.site for link in work.request.mapping.links}


def pairs(session: Session) -> dict[str, str]:
    work = RetargetDriver.work(session.state)
    return {} if work is None else pairs_of(work)


async def test_retarget_shows_spikes_which_lead_to_their_frames(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.switch("retarget")
        await visitor.until(lambda: shown(session) is not None)
        await visitor.wait()
        assert text(visitor, "clip name").startswith("a child greets: 73 frames")
        assert text(visitor, "fact frames") == "73"
        work = RetargetDriver.work(session.state)
        assert work is not None
        jerky = replace(work, quality=replace(work.quality, spikes=(12, 30)), number=work.number + 1)
        session.update(lambda state: replace(state, mode=RetargetMode(work=jerky)))
        await visitor.until(lambda: text(visitor, "fact spikes") == "2")
        await visitor.click("spike 1.25")
        assert visitor.modes.retarget.time == pytest.approx(1.25)
        assert not visitor.modes.retarget.playing
        session.tick()
        assert session.state.posture == work.motion[30]

    await visit(story)


async def test_pairs_are_chosen_one_after_another_without_waiting(visit: Visit) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.switch("retarget")
        await visitor.until(lambda: shown(session) is not None)
        await visitor.wait()
        work = RetargetDriver.work(session.state)
        assert work is not None
        chosen = {"head": "neck", "right_hand": "right_radius"}
        fields = {joint: visitor.field(f"pair {joint}", ui.select) for joint in chosen}
        with visitor.user:
            for joint, site in chosen.items():
                fields[joint].value = site
        await visitor.until(lambda: pairs(session) == pairs_of(work) | chosen)
        await visitor.wait()
        assert {joint: visitor.field(f"pair {joint}", ui.select) for joint in chosen} == fields
        await visitor.enter("pair head", "–", ui.select)
        await visitor.until(lambda: "head" not in pairs(session))

    await visit(story)


@pytest.mark.parametrize("robot", ["walker", "dancer"])
async def test_robots_with_loops_perform_the_clip(visit: Visit, robot: str) -> None:
    async def story(visitor: Visitor, session: Session) -> None:
        await visitor.switch("retarget")
        await visitor.until(lambda: shown(session) is not None)
        await visitor.click(f"choose {robot}")
        await visitor.until(lambda: session.state.figure.name.startswith(robot) and shown(session) is not None)
        work = RetargetDriver.work(session.state)
        assert work is not None
        assert len(work.motion) == 73
        worst = max(work.motion.figure.closure_error(posture) for posture in work.motion)
        assert worst <= 1e-9
        assert session.state.outcome.light in ("green", "orange")

    await visit(story)
