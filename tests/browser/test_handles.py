"""Right clicks, rings on joints, handles on targets."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import poise
from poise.studio.anchors import marked_joints

from .hands import (
    drag,
    free_point,
    handles,
    joint_place,
    picture,
    pixel_at,
    pixel_of,
    positions,
    right_click,
    still,
    tab,
    targets,
)
from .test_pulling import BODIES, FEET, HAND, example
from .test_studio import choose, eventually

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

JOINTS = [joint.name for joint in marked_joints(poise.load("human"))]
ELBOW, SHOULDER = JOINTS.index("right_elbow"), JOINTS.index("right_shoulder")
FOREARM, UPPER_ARM, THORAX = (BODIES.index(name) for name in ("right_radius", "right_upper_arm", "thorax"))


@pytest.fixture
def page(lasting_page: Page) -> Page:
    example(lasting_page, "Standing")
    return lasting_page


def test_a_right_click_adds_a_task(page: Page, screenshots: Path) -> None:
    page.mouse.click(*pixel_of(page, HAND), button="right")
    expect(page.locator(".q-menu")).to_contain_text("right hand")
    page.wait_for_timeout(300)
    picture(page, screenshots / "body_menu.png")
    page.locator(".q-menu").get_by_text("Add task: position", exact=True).click()
    expect(page.locator(".poise-task").filter(has_text="position of right_hand")).to_be_visible()
    assert eventually(page, lambda: [t["task"] for t in targets(page)] == [0, 1, 3])


def test_another_root_leaves_every_body_where_it_is_and_can_be_undone(page: Page) -> None:
    before = positions(page)
    number = page.evaluate("window.poiseStage.figure.number")
    right_click(page, HAND, "Set as root")
    page.wait_for_function(f"window.poiseStage.figure.number === {number + 1}")
    assert eventually(page, lambda: still(page))
    assert positions(page) == pytest.approx(before, abs=1e-4)
    drag(page, pixel_of(page, HAND), (-60, -90), hold=True)
    assert eventually(page, lambda: np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.2)
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    page.mouse.up()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.wait_for_function(f"window.poiseStage.figure.number === {number + 2}")
    assert eventually(page, lambda: np.allclose(positions(page), before, atol=1e-4))


def test_a_pull_recruits_only_the_joints_that_may_move(page: Page, screenshots: Path) -> None:
    page.mouse.click(*pixel_of(page, HAND), button="right")
    page.locator(".q-menu").get_by_text("Joints that may be recruited …").click()
    page.get_by_role("button", name="its limb").click()
    page.wait_for_timeout(300)
    picture(page, screenshots / "recruits.png")
    page.get_by_role("button", name="Apply").click()
    page.locator(".q-dialog").wait_for(state="detached")
    before = positions(page)
    drag(page, pixel_of(page, HAND), (-120, -160), hold=True)
    assert eventually(page, lambda: np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.3)
    assert np.linalg.norm(positions(page)[THORAX] - before[THORAX]) < 5e-3
    page.mouse.up()


def test_a_ring_turns_a_hinge(page: Page, screenshots: Path) -> None:
    page.mouse.click(*pixel_at(page, joint_place(page, ELBOW)))
    assert eventually(page, lambda: [each["kind"] for each in handles(page)] == ["turn"])
    before = positions(page)
    center, start = pixel_at(page, joint_place(page, ELBOW)), free_point(page, 0)
    arm = np.subtract(start, center)
    # The elbow is straight: it bends one way, and does not move the other.
    bent = []
    for sign in (1, -1):
        way = sign * np.array([-arm[1], arm[0]]) * 1.3
        drag(page, start, (float(way[0]), float(way[1])), hold=True)
        page.wait_for_timeout(500)
        bent.append(np.linalg.norm(positions(page) - before, axis=1))
        if bent[-1][HAND] > 0.1:
            picture(page, screenshots / "joint_ring.png")
        page.mouse.up()
        page.keyboard.press("Control+z")
        assert eventually(page, lambda: np.allclose(positions(page), before, atol=1e-4))
    moved = max(bent, key=lambda row: row[HAND])
    assert moved[HAND] > 0.1
    assert moved[UPPER_ARM] < 5e-3
    assert moved[FEET].max() < 1e-3


def test_rings_turn_a_ball(page: Page, screenshots: Path) -> None:
    page.mouse.click(*pixel_at(page, joint_place(page, SHOULDER)))
    assert eventually(page, lambda: len(handles(page)) == 3)
    before = positions(page)
    start = free_point(page, 2)
    drag(page, start, (-70, -40), hold=True)
    page.wait_for_timeout(400)
    picture(page, screenshots / "ball_rings.png")
    page.mouse.up()
    moved = np.linalg.norm(positions(page) - before, axis=1)
    assert moved[HAND] > 0.05
    assert moved[UPPER_ARM] < 0.02


def test_a_target_is_selected_and_turned(page: Page, screenshots: Path) -> None:
    foot = next(t for t in targets(page) if t["task"] == 0)
    page.mouse.click(*pixel_at(page, foot["wanted"]))
    assert eventually(page, lambda: [each["kind"] for each in handles(page)] == ["move"] * 3 + ["turn"] * 3)
    expect(page.get_by_text("Frame", exact=True)).to_be_visible()
    picture(page, screenshots / "target_handles.png")
    turn = "window.poiseStage.overlays.targets[0].turn.toArray()"
    before, place = page.evaluate(turn), positions(page)[FEET[0]]
    drag(page, free_point(page, 4), (40, 0))
    assert eventually(page, lambda: np.abs(np.subtract(page.evaluate(turn), before)).max() > 0.05)
    assert eventually(page, lambda: all(t["met"] for t in targets(page)))
    page.keyboard.press("Control+z")
    assert eventually(page, lambda: np.allclose(page.evaluate(turn), before, atol=1e-6))
    assert eventually(page, lambda: np.linalg.norm(positions(page)[FEET[0]] - place) < 1e-3)


def test_a_slide_has_an_arrow(page: Page) -> None:
    choose(page, "figure", "all_joints")
    page.wait_for_function("window.poiseStage.figure.name === 'all_joints'")
    slides = page.evaluate(
        "window.poiseStage.figure.freedoms.findIndex((each) => each.turns.length === 1 && !each.turns[0])"
    )
    assert slides >= 0
    page.evaluate("number => window.poiseStage.selection.choose({ joint: number })", slides)
    assert [each["kind"] for each in handles(page)] == ["move"]
    tab(page, "Joints")
