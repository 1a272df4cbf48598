"""Forces, torques, supports and criteria, on the page."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from poise.studio.marks import ARC, CONE, FORCE, GROUND, TORQUE

from .hands import choose_option, drag, picture, pixel_at, pixel_of, positions, right_click, still, tab
from .test_pulling import BODIES, FEET, HAND, example
from .test_studio import eventually

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

PELVIS = BODIES.index("pelvis")
TIPS = "window.poiseStage.forces.tips.map((tip) => ({ from: tip.from.toArray(), to: tip.to.toArray() }))"
KINDS = "Array.from(window.poiseStage.forces.things.values()).map((thing) => [thing.kind, thing.tone])"


@pytest.fixture
def page(lasting_page: Page) -> Page:
    example(lasting_page, "Standing")
    tab(lasting_page, "Forces")
    return lasting_page


def kinds(page: Page) -> list[int]:
    return sorted(kind for kind, _ in page.evaluate(KINDS))


def tones(page: Page, kind: int) -> set[float]:
    return {tone for each, tone in page.evaluate(KINDS) if each == kind}


def field(page: Page, card: str, label: str) -> str:
    return page.locator(".poise-task").filter(has_text=card).get_by_label(label).first.input_value()


def stand(page: Page) -> None:
    page.get_by_role("button", name="stand on its feet").click()
    assert eventually(page, lambda: kinds(page) == [GROUND, GROUND, CONE, CONE])


def test_a_force_is_added_and_its_arrow_dragged(page: Page, screenshots: Path) -> None:
    stand(page)
    right_click(page, HAND, "Add a force here")
    assert eventually(page, lambda: FORCE in kinds(page))
    tip = page.evaluate(TIPS)[0]
    assert tip["to"][1] < tip["from"][1] - 0.05
    drag(page, pixel_at(page, tip["to"]), (-40, 90))
    assert eventually(page, lambda: page.evaluate(TIPS)[0]["to"][1] < tip["to"][1] - 0.1)
    assert eventually(page, lambda: float(field(page, "force at right hand", "y")) < -200.0)
    page.get_by_text("joint torques").click()
    assert eventually(page, lambda: ARC in kinds(page))
    picture(page, screenshots / "forces.png")
    page.get_by_text("joint torques").click()
    assert eventually(page, lambda: ARC not in kinds(page))
    page.keyboard.press("Control+z")
    assert eventually(page, lambda: np.allclose(page.evaluate(TIPS)[0]["to"], tip["to"], atol=1e-3))


def test_a_torque_has_an_arrow_too(page: Page) -> None:
    right_click(page, HAND, "Add a torque here")
    assert eventually(page, lambda: kinds(page) == [TORQUE])
    tip = page.evaluate(TIPS)[0]
    drag(page, pixel_at(page, tip["to"]), (0, -60))
    assert eventually(page, lambda: page.evaluate(TIPS)[0]["to"][1] > tip["to"][1] + 0.05)


def test_reactions_are_found_or_shared_as_asked_and_equilibrium_is_said(page: Page, screenshots: Path) -> None:
    stand(page)
    expect(page.get_by_text("In equilibrium")).to_be_visible()
    assert tones(page, GROUND) == {1.0}
    page.get_by_text("find reactions for me").click()
    assert eventually(page, lambda: field(page, "support at left foot", "support ratio") == "0.5")
    page.locator(".poise-task").filter(has_text="support at left foot").get_by_label("support ratio").fill("0.9")
    assert eventually(page, lambda: tones(page, GROUND) == {2.0})
    expect(page.get_by_text("that the supports carry these shares")).to_be_visible()
    page.locator("[aria-label=add], .q-btn").filter(has_text="add").first.click()
    choose_option(page, "what", "equilibrium of forces")
    page.get_by_role("button", name="Add", exact=True).click()
    before = positions(page)[PELVIS]
    assert eventually(page, lambda: tones(page, GROUND) == {1.0})
    assert eventually(page, lambda: still(page))
    expect(page.locator(".poise-task").filter(has_text="support at left foot")).to_contain_text("carries 90 %")
    picture(page, screenshots / "support_ratio.png")
    assert positions(page)[PELVIS][0] > before[0] - 1e-3
    page.get_by_text("find reactions for me").click()
    page.locator(".poise-task").filter(has_text="equilibrium").get_by_role("button").last.click()
    drag(page, pixel_of(page, PELVIS), (-80, 0), hold=True)
    foot = page.locator(".poise-task").filter(has_text="support at right foot")
    expect(foot).to_contain_text(re.compile("carries [2-9][0-9] %"), timeout=20_000)
    page.mouse.up()


def test_a_criterion_bends_the_figure_as_far_as_tasks_let_it_and_a_gain_of_none_does_not(
    page: Page, screenshots: Path
) -> None:
    tab(page, "Wishes")
    before = positions(page)
    page.get_by_text("flex", exact=True).click()
    assert eventually(page, lambda: np.linalg.norm(positions(page)[HAND] - before[HAND]) > 0.1)
    assert np.linalg.norm(positions(page)[FEET] - before[FEET], axis=1).max() < 1e-3
    picture(page, screenshots / "criteria.png")
    page.locator(".poise-task").filter(has_text="flex").get_by_label("gain").fill("0")
    assert eventually(page, lambda: still(page))
    page.get_by_text("flex", exact=True).click()
    page.get_by_text("stay near a posture").click()
    choose_option(page, "which posture", "standing")
    assert eventually(page, lambda: np.allclose(positions(page), before, atol=0.01))
    tab(page, "Joints")
