"""Forces, torques, supports and criteria, on the page."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from .hands import (
    choose_option,
    drag,
    eventually,
    let_go,
    new_scene,
    picture,
    pixel_at,
    positions,
    press_key,
    pull,
    right_click,
    settle,
    tab,
)
from .human import BODIES, FEET, HAND

pytestmark = pytest.mark.begins_with("Standing", tab="Forces")

PELVIS = BODIES.index("pelvis")
TIPS = "window.poiseStage.forces.tips.map((tip) => ({ from: tip.from.toArray(), to: tip.to.toArray() }))"
KINDS = "Array.from(window.poiseStage.forces.things.values()).map((thing) => [thing.kind, thing.tone])"


def kinds(page: Page) -> list[str]:
    return sorted(kind for kind, _ in page.evaluate(KINDS))


def tones(page: Page, kind: str) -> set[float]:
    return {tone for each, tone in page.evaluate(KINDS) if each == kind}


def field(page: Page, card: str, label: str) -> str:
    return page.locator(".poise-task").filter(has_text=card).get_by_label(label).first.input_value()


def stand(page: Page) -> None:
    with new_scene(page):
        page.get_by_role("button", name="Use the feet as supports").click()
    assert kinds(page) == ["cone", "cone", "ground", "ground"]


def test_a_force_is_added_and_its_arrow_dragged(page: Page, screenshots: Path) -> None:
    stand(page)
    with new_scene(page):
        right_click(page, HAND, "Add force here")
    assert "force" in kinds(page)
    tip = page.evaluate(TIPS)[0]
    assert tip["to"][1] < tip["from"][1] - 0.05
    start = pixel_at(page, tip["to"])
    drag(page, start, (-40, 90), steps=8)
    end = np.add(start, (-40, 90))
    assert eventually(page, lambda: np.hypot(*(pixel_at(page, page.evaluate(TIPS)[0]["to"]) - end)) < 1.0)
    settle(page)
    assert page.evaluate(TIPS)[0]["to"][1] < tip["to"][1] - 0.1
    assert float(field(page, "force at right hand", "y")) < -200.0
    page.get_by_text("joint torques").click()
    assert eventually(page, lambda: "arc" in kinds(page))
    picture(page, screenshots / "forces.png")
    page.get_by_text("joint torques").click()
    assert eventually(page, lambda: "arc" not in kinds(page))
    press_key(page, "Control+z")
    assert page.evaluate(TIPS)[0]["to"] == pytest.approx(tip["to"], abs=1e-3)


def test_a_torque_has_an_arrow_too(page: Page) -> None:
    with new_scene(page):
        right_click(page, HAND, "Add torque here")
    assert kinds(page) == ["torque"]
    tip = page.evaluate(TIPS)[0]
    with new_scene(page):
        drag(page, pixel_at(page, tip["to"]), (0, -60))
    assert page.evaluate(TIPS)[0]["to"][1] > tip["to"][1] + 0.05


def test_reactions_are_found_or_shared_as_asked_and_equilibrium_is_said(page: Page, screenshots: Path) -> None:
    stand(page)
    expect(page.get_by_text("In equilibrium")).to_be_visible()
    assert tones(page, "ground") == {1.0}
    with new_scene(page):
        page.get_by_text("Compute ground forces").click()
    assert field(page, "support at left foot", "share of weight") == "0.5"
    left = page.locator(".poise-task").filter(has_text="support at left foot")
    with new_scene(page):
        left.get_by_label("share of weight").fill("0.9")
    assert tones(page, "ground") == {2.0}
    expect(page.get_by_text("the supports cannot carry these shares")).to_be_visible()
    before = positions(page)[PELVIS]
    page.locator("[aria-label=add], .q-btn").filter(has_text="add").first.click()
    choose_option(page, "Kind of task", "Equilibrium of forces")
    with new_scene(page):
        page.get_by_role("button", name="Add", exact=True).click()
    assert tones(page, "ground") == {1.0}
    expect(left).to_contain_text("Carries 90 %")
    picture(page, screenshots / "support_ratio.png")
    assert positions(page)[PELVIS][0] > before[0] - 1e-3
    with new_scene(page):
        page.get_by_text("Compute ground forces").click()
    with new_scene(page):
        page.locator(".poise-task").filter(has_text="equilibrium").get_by_role("button").last.click()
    pull(page, PELVIS, (-80, 0))
    foot = page.locator(".poise-task").filter(has_text="support at right foot")
    expect(foot).to_contain_text(re.compile("Carries ([2-9][0-9]|100) %"))
    let_go(page)


def test_a_criterion_bends_the_figure_as_far_as_tasks_let_it_and_a_gain_of_none_does_not(
    page: Page, screenshots: Path
) -> None:
    tab(page, "Preferences")
    before = positions(page)
    with new_scene(page):
        page.get_by_text("Flex", exact=True).click()
    assert np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.1
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    picture(page, screenshots / "criteria.png")
    with new_scene(page):
        page.locator(".poise-task").filter(has_text="flex").get_by_label("gain").fill("0")
    for criterion in ("Flex", "Move naturally", "Stay near a posture"):
        with new_scene(page):
            page.get_by_text(criterion, exact=True).click()
    with new_scene(page):
        choose_option(page, "Posture to stay near", "standing")
    assert positions(page) == pytest.approx(before, abs=0.01)
    tab(page, "Joints")
