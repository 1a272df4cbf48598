"""The body: limits, obstacles, traces, and how it is made."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import poise
from poise.pictures.parts import appearance

from .hands import (
    choose_option,
    drag,
    eventually,
    handles,
    let_go,
    new_scene,
    picture,
    pixel_at,
    pixel_of,
    positions,
    press_key,
    pull,
    pull_gap,
    pull_on,
    right_click,
    settle,
    until,
)
from .human import BODIES, ELBOW, FEET, HAND

pytestmark = pytest.mark.begins_with("Standing", tab="Body")

THING = "window.poiseStage.obstacles.things.map((thing) => thing.position.toArray())"
VISIBLE = "kind => window.poiseStage[kind].filter((mesh) => mesh.visible).length"
"""The number of meshes of a kind that are drawn."""
THIGH, SHANK = BODIES.index("left_thigh"), BODIES.index("left_shank")


def fan(page: Page, joint: int) -> bool:
    """Whether the limits of a joint are drawn as reached."""
    return page.evaluate("i => window.poiseStage.limits.fans.find((fan) => fan.joint === i).reached", joint)  # type: ignore[no-any-return]


def draws(page: Page, words: str, condition: str) -> None:
    """Switch something that is drawn on or off, until it is."""
    page.get_by_text(words).click()
    until(page, f"() => {condition}")


def test_limits_turn_red_where_they_are_reached(page: Page, screenshots: Path) -> None:
    draws(page, "joint limits", "window.poiseStage.limits.shown")
    assert not fan(page, ELBOW)
    choose_option(page, "Posture", "neutral")
    assert eventually(page, lambda: fan(page, ELBOW))
    picture(page, screenshots / "limits.png")
    pull(page, HAND, (-30, -90))
    settle(page)
    assert pull_gap(page) < 1e-3
    assert not fan(page, ELBOW)
    let_go(page)
    draws(page, "joint limits", "!window.poiseStage.limits.shown")


def test_an_obstacle_keeps_the_hand_away_and_can_be_moved(page: Page, screenshots: Path) -> None:
    for kind in ("plane", "sphere", "box", "cylinder"):
        with new_scene(page):
            page.get_by_role("button", name=kind).click()
    assert len(page.evaluate(THING)) == 4
    for kind in ("box", "cylinder"):
        with new_scene(page):
            page.locator(".poise-task").filter(has_text=kind).get_by_role("button").last.click()
        expect(page.locator(".poise-task").filter(has_text=kind)).to_have_count(0)
    assert len(page.evaluate(THING)) == 2
    before = page.evaluate(THING)[1]
    page.mouse.click(*pixel_at(page, before))
    assert eventually(page, lambda: [each["kind"] for each in handles(page)] == ["move"] * 3 + ["turn"] * 3)
    picture(page, screenshots / "obstacles.png")
    with new_scene(page):
        drag(page, pixel_at(page, before), (-70, 60))
    ball, feet = np.array(page.evaluate(THING)[1]), positions(page)[FEET]
    assert np.linalg.norm(ball - before) > 0.15
    radius = 0.07 * page.evaluate("window.poiseStage.figure.extent")
    start, goal = pixel_of(page, HAND), pixel_at(page, ball)
    pull(page, HAND, (goal[0] - start[0], goal[1] - start[1]), steps=15)
    settle(page)
    assert np.linalg.norm(positions(page)[HAND] - ball) > radius
    assert np.linalg.norm(positions(page)[FEET] - feet, axis=1).max() < 2e-3
    let_go(page)


def test_a_pulled_point_leaves_a_trace(page: Page, screenshots: Path) -> None:
    draws(page, "trace of dragged points", "window.poiseStage.trace.leaves")
    x, y = pull(page, HAND, (-130, -60), steps=20)
    # A point is left for every frame that comes: the fewer come, the longer one has to pull.
    for k in range(20):
        pull_on(page, (x - 60 + 30 * (k % 2), y - 260), steps=25)
        pull_on(page, (x + 40, y - 120), steps=25)
        if page.evaluate("window.poiseStage.trace.count") > 20:
            break
    assert page.evaluate("window.poiseStage.trace.count") > 20
    picture(page, screenshots / "trace.png")
    let_go(page)
    draws(page, "trace of dragged points", "window.poiseStage.trace.count === 0")


def test_what_collides_and_the_moment_of_inertia_are_drawn(page: Page, screenshots: Path) -> None:
    human = poise.load("human")
    solids = len(appearance(human, collision=True).parts)
    assert page.evaluate(VISIBLE, "solids") == 0
    draws(page, "collision shapes", "window.poiseStage.shown.collision")
    assert page.evaluate(VISIBLE, "solids") == solids
    assert page.evaluate(VISIBLE, "surfaces") == 0
    draws(page, "moment of inertia", "window.poiseStage.forces.things.size === 1")
    radius = np.sqrt(human.moment_of_inertia("standing", human.up) / human.mass)
    assert page.evaluate("[...window.poiseStage.forces.things.values()][0].object.scale.x") == pytest.approx(
        radius, rel=0.02
    )
    picture(page, screenshots / "collides.png")
    draws(page, "collision shapes", "!window.poiseStage.shown.collision")
    assert page.evaluate(VISIBLE, "solids") == 0
    draws(page, "moment of inertia", "window.poiseStage.forces.things.size === 0")


def test_a_longer_thigh_is_saved_with_the_figure(page: Page, screenshots: Path, tmp_path: Path) -> None:
    right_click(page, THIGH, "Edit body part …")
    expect(page.get_by_label("Body part", exact=True)).to_have_value("left_thigh")
    old = float(page.get_by_label("length [m]").input_value())
    number = page.evaluate("window.poiseStage.figure.number")
    with new_scene(page):
        page.get_by_label("length [m]").fill(str(round(old + 0.06, 3)))
    assert page.evaluate("window.poiseStage.figure.number") == number + 1
    gap = np.linalg.norm(positions(page)[SHANK] - positions(page)[THIGH])
    assert gap == pytest.approx(round(old + 0.06, 3), abs=1e-3)
    picture(page, screenshots / "edited.png")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as .figure.toml").click()
    path = tmp_path / "long.figure.toml"
    saving.value.save_as(path)
    human = poise.load(path)
    assert human.mass == pytest.approx(poise.load("human").mass)
    press_key(page, "Control+z")
    assert page.evaluate("window.poiseStage.figure.number") == number + 2
