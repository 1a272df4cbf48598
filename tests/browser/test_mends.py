"""Defects that people met on the page, each as they met it: by pointer and keys."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import poise

from .conftest import Studio
from .hands import (
    LIGHT,
    SENTENCE,
    choose_option,
    drag,
    enter,
    eventually,
    inside_support,
    new_scene,
    picture,
    pixel_at,
    positions,
    said,
    settle,
    tab,
    targets,
    until,
)
from .human import BODIES, FEET
from .test_page import open_scene

HEAD, SHANK = BODIES.index("head"), BODIES.index("left_shank")
STRIDE = 0.35
"""How far a target is dragged in one event [m]."""
LONE = 'figure = "human"\nstart = "standing"\n'
"""A human without tasks."""
SHELF = """figure = "human"
start = "standing"
[[obstacle]]
kind = "box"
name = "shelf"
size = [0.5, 0.03, 0.5]
at = [0.0, 0.35, 0.7]
"""
SENTENCES = f"""window.poiseSentences = [];
new MutationObserver(() => window.poiseSentences.push(document.querySelector("{SENTENCE}").innerText))
    .observe(document.querySelector(".poise-status"), {{ childList: true, subtree: true, characterData: true }});"""
TWIST = "twist = { x = [-1, 1], y = [-1, 1], lower = [[-1, -1], [-0.2, -0.2]], upper = [[1, 1], [0.2, 0.2]] }"


def light(page: Page) -> str | None:
    return page.locator(LIGHT).get_attribute("data-light")


def target_of(page: Page, task: int) -> np.ndarray:
    return np.array(next(each["wanted"] for each in targets(page) if each["task"] == task))


def select_task(page: Page, name: str) -> None:
    page.locator(".poise-task").get_by_text(name, exact=True).click()
    expect(page.get_by_label("Relative to", exact=True)).to_be_visible()


@pytest.mark.begins_with("Standing")
@pytest.mark.parametrize("way", [(STRIDE, 0.0, 0.0), (-STRIDE, 0.0, 0.0), (0.2, 0.28, 0.0)])
def test_a_foot_goes_35_cm_with_a_target_that_is_dragged_in_one_event(page: Page, way: tuple[float, ...]) -> None:
    page.evaluate("window.poiseStage.selection.choose(null)")
    before = target_of(page, 0)
    start, end = pixel_at(page, before), pixel_at(page, before + np.array(way))
    drag(page, start, (end[0] - start[0], end[1] - start[1]))
    assert eventually(page, lambda: float(np.linalg.norm(target_of(page, 0) - before)) > 0.25)
    settle(page)
    assert light(page) == "green", page.locator(SENTENCE).inner_text()
    assert inside_support(page) > 0.0
    expect(page.get_by_text("mm to spare")).to_be_visible()


@pytest.mark.begins_with("Standing")
def test_a_target_keeps_its_place_when_it_becomes_relative_to_another_part(page: Page) -> None:
    select_task(page, "left foot")
    before, standing = target_of(page, 0), positions(page)
    for part in ("head", "World"):
        with new_scene(page):
            choose_option(page, "Relative to", part)
        np.testing.assert_allclose(target_of(page, 0), before, atol=1e-4)
        np.testing.assert_allclose(positions(page)[FEET], standing[FEET], atol=1e-3)


@pytest.mark.begins_with("Standing")
def test_a_length_below_zero_is_refused_with_a_sentence(page: Page) -> None:
    tab(page, "Body")
    choose_option(page, "Body part", "left_thigh")
    length = page.get_by_label("Length [m]")
    before, number = length.input_value(), page.evaluate("window.poiseStage.figure.number")
    length.fill("-3")
    length.press("Tab")
    assert said(page, "Length must be at least", "not -3")
    assert eventually(page, lambda: length.input_value() == before)
    assert page.evaluate("window.poiseStage.figure.number") == number


def test_the_grid_goes_with_a_figure_that_walks_away(page: Page, studio: Studio, screenshots: Path) -> None:
    open_scene(page, studio, LONE)
    tab(page, "Joints")
    box = page.locator("input[aria-label^='base z']").first
    box.fill("1.9")
    box.press("Enter")
    assert eventually(page, lambda: abs(positions(page)[0][2] - 1.9) < 0.01)
    settle(page)
    picture(page, screenshots / "grid.png")
    floor, spacing = page.evaluate(
        "[window.poiseStage.floor.group.position.toArray(), window.poiseStage.figure.spacing]"
    )
    assert abs(floor[2] - 1.9) < spacing


def test_a_shelf_in_the_air_has_its_shadow_on_the_floor_below_it(page: Page, studio: Studio, screenshots: Path) -> None:
    open_scene(page, studio, SHELF)
    page.wait_for_timeout(300)
    picture(page, screenshots / "shadow.png")
    drawn = "window.poiseStage.floor.shade.visible && window.poiseStage.obstacles.group.children.length > 0"
    assert page.evaluate(drawn)
    page.mouse.move(640.0, 300.0)
    page.mouse.wheel(0, 700)
    page.wait_for_timeout(800)
    picture(page, screenshots / "shadow.png")
    shaded, sunny = (brightness(page, place) for place in ((0.2, 0.0, 0.9), (0.6, 0.0, 0.4)))
    assert shaded < sunny - 10.0


def brightness(page: Page, place: tuple[float, float, float]) -> float:
    """Mean brightness of the picture around a place of the world, 0 to 255."""
    x, y = pixel_at(page, place)
    data = page.screenshot(clip={"x": x - 6.0, "y": y - 6.0, "width": 12.0, "height": 12.0})
    return float(np.asarray(Image.open(io.BytesIO(data)).convert("L")).mean())


@pytest.mark.begins_with("Standing")
@pytest.mark.parametrize("words", ["Comfort: joints near mid-range", "Flex"])
def test_a_preference_does_not_hunch_a_standing_person(page: Page, words: str, screenshots: Path) -> None:
    tab(page, "Preferences")
    before = positions(page)
    with new_scene(page):
        page.get_by_text(words, exact=True).click()
    after = positions(page)
    picture(page, screenshots / f"preference_{words[:4].lower()}.png")
    assert after[HEAD][1] > before[HEAD][1] - 0.1
    assert np.linalg.norm(after - before, axis=1).max() > 0.01
    assert light(page) == "green"


def humps(speed: np.ndarray) -> int:
    """How often a speed rises by a third of its maximum, after it has fallen by as much."""
    found, low, high, step = 0, 0.0, 0.0, speed.max() / 3.0
    for value in speed:
        if value > low + step:
            found, low, high = found + (high == 0.0), value, max(high, value)
        low = min(low, value)
        if high and value < high - step:
            low, high = value, 0.0
        high = max(high, value) if high else 0.0
    return found


@pytest.mark.begins_with("Standing")
def test_what_the_filter_makes_of_rare_pointer_events_is_one_smooth_way(page: Page, screenshots: Path) -> None:
    enter(page, "expressive")
    settle(page)
    start = pixel_at(page, target_of(page, 0))
    page.mouse.move(*start)
    page.mouse.down()
    begun = page.evaluate("window.poiseStrip.plots.rows.at(-1)[0]")
    for share in (0.25, 0.5, 0.75, 1.0):
        page.mouse.move(start[0] + 160.0 * share, start[1] - 60.0 * share)
        page.wait_for_timeout(150)
    page.mouse.up()
    settle(page)
    picture(page, screenshots / "filter.png")
    rows = np.array(page.evaluate("window.poiseStrip.plots.rows"))
    rows = rows[rows[:, 0] > begun]
    count = (rows.shape[1] - 1) // 5
    speeds = rows[:, 1 + 2 * count : 1 + 3 * count]
    fastest = speeds[:, int(np.abs(speeds).max(axis=0).argmax())]
    assert humps(np.abs(fastest)) <= 2, "events follow each other, and the lamp does not stop between them"
    enter(page, "pose")


@pytest.mark.begins_with("Standing")
def test_retargeting_says_what_it_does_and_names_files_and_refuses_a_posture(page: Page, tmp_path: Path) -> None:
    page.evaluate(SENTENCES)
    enter(page, "retarget")
    until(page, "() => window.poiseSentences.some((each) => each.startsWith('Off the clip by'))")
    heard = page.evaluate("window.poiseSentences")
    assert any("Retargeting frame" in each or "smoothed and measured" in each for each in heard), heard
    with page.expect_download() as saving:
        page.locator(".poise-mode-panel:visible").get_by_text("CSV", exact=True).click()
    assert saving.value.suggested_filename == "a_child_greets_on_human.csv"
    path = tmp_path / "wave.json"
    path.write_text(json.dumps({"figure": "human", "joints": {}}))
    page.locator(".poise-viewport input[type=file]").set_input_files(str(path))
    assert said(page, "wave.json is a posture", "switch to the pose mode first")
    enter(page, "pose")


@pytest.mark.begins_with("Standing")
def test_parts_are_added_hung_on_others_and_deleted(page: Page) -> None:
    tab(page, "Body")
    with new_scene(page):  # the hand and the wand touch each other
        page.get_by_role("switch", name="Solid: does not pass through itself or the floor").click()
    names = "window.poiseStage.figure.bodies"
    choose_option(page, "Body part", "right_hand")
    page.get_by_label("New body here").fill("wand")
    with new_scene(page):
        page.get_by_role("button", name="Add body").click()
    assert "wand" in page.evaluate(names)
    choose_option(page, "Body part", "wand")
    before = positions(page)[page.evaluate(f"{names}.indexOf('wand')")]
    with new_scene(page):
        choose_option(page, "Hangs on", "head")
    after = positions(page)[page.evaluate(f"{names}.indexOf('wand')")]
    np.testing.assert_allclose(after, before, atol=1e-3)
    with new_scene(page):
        page.get_by_role("button", name="Delete body and all that hangs on it").click()
    assert "wand" not in page.evaluate(names)


@pytest.mark.begins_with("Standing")
def test_twist_limits_that_depend_on_the_swing_are_edited_as_text(page: Page, tmp_path: Path) -> None:
    tab(page, "Body")
    page.get_by_role("button", name="Edit the figure as text").click()
    dialog = page.locator(".q-dialog")
    field = dialog.locator("textarea")
    text = field.input_value()
    field.fill(re.sub(r"twist = \[\n.*?\n\]", TWIST, text, count=1, flags=re.DOTALL))
    with new_scene(page):
        dialog.get_by_text("Apply", exact=True).click()
    expect(dialog).to_have_count(0)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as .figure.toml").click()
    path = tmp_path / "twisted.figure.toml"
    saving.value.save_as(path)
    limits = [joint.ball_limits for joint in poise.load(path).joints if joint.ball_limits is not None]
    ranges = [each.twist.at(0.9, 0.0)[1] - each.twist.at(-0.9, 0.0)[1] for each in limits if each.twist is not None]
    assert min(ranges) == pytest.approx(-0.8 * 0.9, abs=0.05)
