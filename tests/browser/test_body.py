"""The body: limits, obstacles, traces, and how it is made."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import poise

from .hands import drag, handles, picture, pixel_at, pixel_of, positions, pull_gap, right_click, still, tab
from .test_handles import ELBOW
from .test_pulling import BODIES, FEET, HAND, example
from .test_studio import eventually

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

THING = "window.poiseStage.obstacles.things.map((thing) => thing.position.toArray())"
THIGH, SHANK = BODIES.index("left_thigh"), BODIES.index("left_shank")


@pytest.fixture
def page(lasting_page: Page) -> Page:
    example(lasting_page, "Standing")
    tab(lasting_page, "Body")
    return lasting_page


def fan(page: Page, joint: int) -> bool:
    """Whether the limits of a joint are drawn as reached."""
    return page.evaluate("i => window.poiseStage.limits.fans.find((fan) => fan.joint === i).reached", joint)  # type: ignore[no-any-return]


def test_limits_turn_red_where_they_are_reached(page: Page, screenshots: Path) -> None:
    page.get_by_text("joint limits").click()
    page.wait_for_function("window.poiseStage.limits.shown")
    assert fan(page, ELBOW)
    picture(page, screenshots / "limits.png")
    drag(page, pixel_of(page, HAND), (-30, -90), hold=True)
    assert eventually(page, lambda: pull_gap(page) < 1e-3)
    assert eventually(page, lambda: not fan(page, ELBOW))
    page.mouse.up()
    page.get_by_text("joint limits").click()


def test_an_obstacle_keeps_the_hand_away_and_can_be_moved(page: Page, screenshots: Path) -> None:
    for kind in ("plane", "sphere", "box", "cylinder"):
        page.get_by_role("button", name=kind).click()
        expect(page.locator(".poise-task").filter(has_text=kind)).to_be_visible()
    assert eventually(page, lambda: len(page.evaluate(THING)) == 4)
    for kind in ("box", "cylinder"):
        page.locator(".poise-task").filter(has_text=kind).get_by_role("button").last.click()
        expect(page.locator(".poise-task").filter(has_text=kind)).to_have_count(0)
    assert eventually(page, lambda: len(page.evaluate(THING)) == 2)
    before = page.evaluate(THING)[1]
    page.mouse.click(*pixel_at(page, before))
    assert eventually(page, lambda: [each["kind"] for each in handles(page)] == ["move"] * 3 + ["turn"] * 3)
    picture(page, screenshots / "obstacles.png")
    drag(page, pixel_at(page, before), (-70, 60))
    assert eventually(page, lambda: np.linalg.norm(np.subtract(page.evaluate(THING)[1], before)) > 0.15)
    ball, feet = np.array(page.evaluate(THING)[1]), positions(page)[FEET]
    radius = 0.07 * page.evaluate("window.poiseStage.figure.extent")
    start, goal = pixel_of(page, HAND), pixel_at(page, ball)
    drag(page, start, (goal[0] - start[0], goal[1] - start[1]), steps=15, hold=True)
    page.wait_for_timeout(600)
    assert np.linalg.norm(positions(page)[HAND] - ball) > radius
    assert np.linalg.norm(positions(page)[FEET] - feet, axis=1).max() < 2e-3
    page.mouse.up()


def test_a_pulled_point_leaves_a_trace(page: Page, screenshots: Path) -> None:
    page.get_by_text("trace of what is pulled").click()
    page.wait_for_function("window.poiseStage.trace.leaves")
    x, y = pixel_of(page, HAND)
    drag(page, (x, y), (-130, -60), steps=20, hold=True)
    page.mouse.move(x - 60, y - 260, steps=25)
    page.mouse.move(x + 40, y - 120, steps=25)
    assert eventually(page, lambda: page.evaluate("window.poiseStage.trace.count") > 20)
    picture(page, screenshots / "trace.png")
    page.mouse.up()
    page.get_by_text("trace of what is pulled").click()
    assert eventually(page, lambda: page.evaluate("window.poiseStage.trace.count") == 0)


def test_what_collides_and_the_moment_of_inertia_are_drawn(page: Page, screenshots: Path) -> None:
    page.get_by_text("shapes that collide").click()
    page.get_by_text("moment of inertia").click()
    assert eventually(page, lambda: page.evaluate("window.poiseStage.forces.things.size") == 1)
    assert eventually(page, lambda: page.evaluate("window.poiseStage.solids[0].visible"))
    picture(page, screenshots / "collides.png")
    page.get_by_text("shapes that collide").click()
    page.get_by_text("moment of inertia").click()
    assert eventually(page, lambda: page.evaluate("window.poiseStage.forces.things.size") == 0)


def test_a_longer_thigh_is_saved_with_the_figure(page: Page, screenshots: Path, tmp_path: Path) -> None:
    right_click(page, THIGH, "Edit this part …")
    expect(page.get_by_label("part", exact=True)).to_have_value("left_thigh")
    old = float(page.get_by_label("length [m]").input_value())
    number = page.evaluate("window.poiseStage.figure.number")
    page.get_by_label("length [m]").fill(str(round(old + 0.06, 3)))
    page.wait_for_function(f"window.poiseStage.figure.number === {number + 1}")
    assert eventually(page, lambda: still(page))
    gap = np.linalg.norm(positions(page)[SHANK] - positions(page)[THIGH])
    assert gap == pytest.approx(round(old + 0.06, 3), abs=1e-3)
    picture(page, screenshots / "edited.png")
    with page.expect_download() as saving:
        page.get_by_role("button", name="save as *.figure.toml").click()
    path = tmp_path / "long.figure.toml"
    saving.value.save_as(path)
    human = poise.load(path)
    assert human.mass == pytest.approx(poise.load("human").mass)
    page.keyboard.press("Control+z")
    page.wait_for_function(f"window.poiseStage.figure.number === {number + 2}")
