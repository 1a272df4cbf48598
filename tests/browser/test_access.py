"""The page for everyone: names of controls, contrast, folding panels, narrow pages, numbers by keyboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.optional import AXE

from .conftest import Studio, opened
from .hands import box_of, enter, eventually, picture, said, settle, tab

CONTROLS = "button, a[role=button], input, [role=slider], [role=checkbox], [role=switch]"
NAMELESS = f"""() => [...document.querySelectorAll("{CONTROLS}")]
    .filter((each) => each.checkVisibility({{ visibilityProperty: true }}) && each.type !== "hidden")
    .filter((each) => !each.getAttribute("aria-label") && !each.labels?.length && !each.closest("label")
        && ![...each.childNodes].some((part) => part.textContent.trim() && !part.matches?.("i"))
        && ![...each.querySelectorAll(".block")].length)
    .map((each) => each.outerHTML.slice(0, 200))"""
SERIOUS = """async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
        .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
}"""
PRESS_RIGHT = """slider => {
    for (let i = 0; i < 40; i++) slider.dispatchEvent(new KeyboardEvent("keydown", { keyCode: 39, bubbles: true }));
}"""
TABS = ("Joints", "Task", "Forces", "Preferences", "Body")
MODES = ("expressive", "mechanism", "circles", "retarget")


@pytest.fixture
def narrow(browser: Browser, studio: Studio) -> Iterator[Page]:
    with opened(browser, studio, draws=False, size=(820, 1180)) as page:
        yield page


def places(page: Page) -> Iterator[str]:
    """Every panel and mode in turn."""
    for name in TABS:
        tab(page, name)
        yield name
    for mode in MODES:
        enter(page, mode)
        yield mode
    enter(page, "pose")
    settle(page)


@pytest.mark.begins_with("Standing")
def test_every_control_has_a_name(page: Page) -> None:
    for place in places(page):
        assert eventually(page, lambda: page.evaluate(NAMELESS) == [], 5.0), (place, page.evaluate(NAMELESS))


@pytest.mark.axe
@pytest.mark.begins_with("Standing")
def test_axe_finds_nothing_serious(page: Page) -> None:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    page.mouse.move(600, 500)
    for place in places(page):
        assert eventually(page, lambda: page.evaluate(SERIOUS) == [], 5.0), (place, page.evaluate(SERIOUS))


def test_a_narrow_page_has_room_for_the_figure_and_all_its_buttons(narrow: Page, screenshots: Path) -> None:
    view = narrow.locator(".poise-viewport")
    assert eventually(narrow, lambda: box_of(narrow, view)["width"] > 500.0)
    for button in narrow.locator(".q-header .q-btn:visible").all():
        box = box_of(narrow, button)
        assert box["x"] >= 0.0 and box["x"] + box["width"] <= 820.0
    narrow.keyboard.press("]")
    expect(narrow.locator(".poise-tabs")).to_be_visible()
    narrow.keyboard.press("]")
    narrow.keyboard.press("[")
    assert eventually(narrow, lambda: box_of(narrow, view)["width"] > 800.0)
    narrow.set_viewport_size({"width": 1180, "height": 820})  # a tablet is turned, and back
    narrow.keyboard.press("]")
    expect(narrow.locator(".poise-tabs")).to_be_visible()
    narrow.set_viewport_size({"width": 820, "height": 1180})
    expect(narrow.locator(".poise-tabs")).to_be_hidden()
    picture(narrow, screenshots / "narrow.png")


@pytest.mark.begins_with("Standing")
def test_a_joint_takes_a_typed_value_and_refuses_one_out_of_range(page: Page) -> None:
    tab(page, "Joints")
    box = page.locator("input[aria-label^='right elbow']").first
    box.fill("40")
    box.press("Enter")
    assert eventually(page, lambda: box.input_value().startswith("40"))  # at once, before the server answers
    box.fill("400")
    box.press("Enter")
    assert said(page, "right elbow", "must be from", "not 400")
    assert eventually(page, lambda: box.input_value().startswith("40.0"))


@pytest.mark.begins_with("Standing")
def test_what_is_being_typed_stays_while_the_joint_moves(page: Page) -> None:
    tab(page, "Joints")
    box = page.locator("input[aria-label^='right elbow']").first
    before = box.input_value()
    box.fill("7")
    slider = page.locator(".poise-slider[aria-label^='right elbow']").first
    slider.locator(".q-slider__track-container").evaluate(PRESS_RIGHT)  # the box keeps the focus
    assert eventually(page, lambda: slider_value(page) == 16.0)
    page.wait_for_timeout(500)
    assert box.input_value() == "7"
    box.press("Escape")
    assert eventually(page, lambda: box.input_value() not in {"7", before})


def slider_value(page: Page) -> float:
    """What the slider of the right elbow shows."""
    return float(page.locator(".poise-slider[aria-label^='right elbow']").first.get_attribute("aria-valuenow") or 0.0)
