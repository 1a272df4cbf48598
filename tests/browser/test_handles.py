"""Right clicks, rings on joints, handles on targets."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from .hands import (
    choose_figure,
    drag,
    eventually,
    free_point,
    handles,
    joint_place,
    let_go,
    new_scene,
    picture,
    pixel_at,
    pixel_of,
    positions,
    press_key,
    pull,
    right_click,
    settle,
    tab,
    targets,
)
from .human import BODIES, ELBOW, FEET, HAND, SHOULDER

pytestmark = pytest.mark.begins_with("Standing")

FOREARM, UPPER_ARM, THORAX = (BODIES.index(name) for name in ("right_radius", "right_upper_arm", "thorax"))


def test_a_right_click_adds_a_task(page: Page, screenshots: Path) -> None:
    page.mouse.click(*pixel_of(page, HAND), button="right")
    expect(page.locator(".q-menu")).to_contain_text("right hand")
    settle(page)
    picture(page, screenshots / "body_menu.png")
    with new_scene(page):
        page.locator(".q-menu").get_by_text("Add task: position", exact=True).click()
    expect(page.locator(".poise-task").filter(has_text="position of right_hand")).to_be_visible()
    assert [t["task"] for t in targets(page)] == [0, 1, 3]


def test_another_root_leaves_every_body_where_it_is_and_can_be_undone(page: Page) -> None:
    before = positions(page)
    number = page.evaluate("window.poiseStage.figure.number")
    with new_scene(page):
        right_click(page, HAND, "Set as root")
    assert page.evaluate("window.poiseStage.figure.number") == number + 1
    assert positions(page) == pytest.approx(before, abs=1e-4)
    pull(page, HAND, (-60, -90))
    settle(page)
    assert np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.2
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    let_go(page)
    press_key(page, "Control+z")
    press_key(page, "Control+z")
    assert page.evaluate("window.poiseStage.figure.number") == number + 2
    assert positions(page) == pytest.approx(before, abs=1e-4)


def test_a_pull_recruits_only_the_joints_that_may_move(page: Page, screenshots: Path) -> None:
    page.mouse.click(*pixel_of(page, HAND), button="right")
    page.locator(".q-menu").get_by_text("Choose movable joints …").click()
    page.get_by_role("button", name="Limb only").click()
    settle(page)
    picture(page, screenshots / "recruits.png")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".q-dialog")).to_have_count(0)
    before = positions(page)
    pull(page, HAND, (-120, -160))
    settle(page)
    assert np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.3
    assert np.linalg.norm(positions(page)[THORAX] - before[THORAX]) < 5e-3
    let_go(page)


def choose_joint(page: Page, number: int, rings: int) -> None:
    """Click a joint, until it has its rings."""
    page.mouse.click(*pixel_at(page, joint_place(page, number)))
    assert eventually(page, lambda: [each["kind"] for each in handles(page)] == ["turn"] * rings)


def turn(page: Page, ring: int, way: tuple[float, float], before: np.ndarray, least: float) -> np.ndarray:
    """Turn a ring and hold it; how far every body moves, once the hand has moved so far and the figure rests."""
    start = free_point(page, ring)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + way[0], start[1] + way[1])
    assert eventually(page, lambda: np.linalg.norm(positions(page) - before, axis=1)[HAND] > least)
    settle(page)
    return np.linalg.norm(positions(page) - before, axis=1)


def test_a_ring_turns_a_hinge(page: Page, screenshots: Path) -> None:
    choose_joint(page, ELBOW, rings=1)
    before = positions(page)
    arm = np.subtract(free_point(page, 0), pixel_at(page, joint_place(page, ELBOW)))
    # The elbow is straight: it bends this way only.
    moved = turn(page, 0, (float(-1.3 * arm[1]), float(1.3 * arm[0])), before, 0.1)
    picture(page, screenshots / "joint_ring.png")
    page.mouse.up()
    assert moved[UPPER_ARM] < 5e-3
    assert moved[FEET].max() < 1e-3
    press_key(page, "Control+z")
    assert positions(page) == pytest.approx(before, abs=1e-4)


def test_rings_turn_a_ball(page: Page, screenshots: Path) -> None:
    choose_joint(page, SHOULDER, rings=3)
    before = positions(page)
    moved = turn(page, 2, (-70, -40), before, 0.05)
    picture(page, screenshots / "ball_rings.png")
    page.mouse.up()
    assert moved[UPPER_ARM] < 0.02


def test_a_target_is_selected_and_turned(page: Page, screenshots: Path) -> None:
    foot = next(t for t in targets(page) if t["task"] == 0)
    page.mouse.click(*pixel_at(page, foot["wanted"]))
    assert eventually(page, lambda: [each["kind"] for each in handles(page)] == ["move"] * 3 + ["turn"] * 3)
    expect(page.get_by_text("Position and orientation", exact=True)).to_be_visible()
    settle(page)
    picture(page, screenshots / "target_handles.png")
    turned = "window.poiseStage.overlays.targets[0].turn.toArray()"
    before, place = page.evaluate(turned), positions(page)[FEET[0]]
    with new_scene(page):
        drag(page, free_point(page, 4), (40, 0))
    assert np.abs(np.subtract(page.evaluate(turned), before)).max() > 0.05
    assert all(t["met"] for t in targets(page))
    press_key(page, "Control+z")
    assert page.evaluate(turned) == pytest.approx(before, abs=1e-6)
    assert np.linalg.norm(positions(page)[FEET[0]] - place) < 1e-3


def test_a_slide_has_an_arrow(page: Page) -> None:
    choose_figure(page, "all_joints")
    slides = page.evaluate(
        "window.poiseStage.figure.freedoms.findIndex((each) => each.turns.length === 1 && !each.turns[0])"
    )
    assert slides >= 0
    page.evaluate("number => window.poiseStage.selection.choose({ joint: number })", slides)
    assert [each["kind"] for each in handles(page)] == ["move"]
    tab(page, "Joints")
