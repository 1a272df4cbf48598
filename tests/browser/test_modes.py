"""The modes of the studio, as a person meets them: by pointer events in a real Chromium."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import poise

from .hands import (
    COMPILING,
    SENTENCE,
    box_of,
    drag,
    drag_target,
    enter,
    eventually,
    let_go,
    new_scene,
    open_menu,
    picture,
    pixel_at,
    pixel_of,
    positions,
    pull,
    pull_gap,
    settle,
    until,
)

SIZES = ((1400, 850), (1000, 700))


@pytest.fixture(autouse=True)
def back_to_posing(page: Page) -> Iterator[None]:
    yield
    enter(page, "pose")


def choose(page: Page, word: str) -> None:
    button = page.locator(".poise-mode-panel:visible .poise-choice").filter(has=page.get_by_text(word, exact=True))
    button.click()
    expect(button).to_have_attribute("data-on", "true")


def fact(page: Page, name: str) -> str:
    cells = page.locator(".poise-mode-panel:visible .poise-figures > *").all_inner_texts()
    return cells[[cell.lower() for cell in cells].index(name) + 1]


def number(page: Page, name: str) -> float:
    found = fact(page, name).split(" ")[0].rstrip("°")
    return float(found) if found not in ("–", "") else np.inf


def looked_at(page: Page, screenshots: Path, name: str) -> None:
    """Keep a picture at both sizes, and see that nothing sticks out of its place."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press("f")
        box_of(page, page.locator(".poise-center"))
        page.screenshot(path=screenshots / f"{name}_{width}.png")
        assert eventually(page, lambda width=width: page.evaluate("document.documentElement.scrollWidth") <= width)
        assert eventually(page, lambda height=height: page.evaluate("document.documentElement.scrollHeight") <= height)
        assert eventually(page, lambda: overlaps(page) == [])


def overlaps(page: Page) -> list[Any]:
    """Pairs of buttons in the top bar, and lines of the panel, that lie on each other."""
    return page.evaluate(  # type: ignore[no-any-return]
        """(() => {
            const found = [];
            for (const group of [".q-header .q-btn", ".poise-mode-panel:not(.hidden) .poise-choice"]) {
                const boxes = [...document.querySelectorAll(group)].map((e) => [e.innerText, e.getBoundingClientRect()])
                    .filter(([, box]) => box.width > 0 && box.height > 0);
                boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
                    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                    if (wide > 1 && high > 1) found.push([a, b]);
                }));
            }
            return found;
        })()"""
    )


def test_expressive_holds_a_posture_while_it_looks(page: Page, screenshots: Path) -> None:
    enter(page, "expressive")
    settle(page)
    assert number(page, "gaze error") < 0.5
    until(page, "() => window.poiseStrip.around.overlay.ghost !== undefined")
    before = positions(page)
    with new_scene(page):
        choose(page, "sad")
    assert np.abs(positions(page) - before).max() > 0.03
    assert number(page, "gaze error") < 0.5
    drag_target(page, 0, (-60, -80))
    settle(page)
    assert number(page, "gaze error") < 0.5
    assert number(page, "shape error") < 0.2
    traces = np.array(page.evaluate("window.poiseStrip.plots.rows"))
    for word in ("ERIK 2019", "ERIK 2017", "Expressive"):
        choose(page, word)
        settle(page)
        assert page.locator(SENTENCE).inner_text().startswith(("Looks", "The gaze"))
    assert 0.1 < np.abs(traces[:, 11:16]).max() <= 4.0 + 1e-4
    looked_at(page, screenshots, "mode_expressive")


def test_the_gaze_follows_the_mouse_and_a_dry_run_says_what_it_would_send(page: Page) -> None:
    enter(page, "expressive")
    settle(page)
    page.get_by_text("Follow mouse").click()
    until(page, "() => window.poiseStrip.mouse.on")
    there = "window.poiseStage.overlays.targets[0].wanted.toArray()"
    before = np.array(page.evaluate(there))
    page.mouse.move(700, 300)
    page.mouse.move(640, 260, steps=4)
    assert eventually(page, lambda: np.linalg.norm(np.array(page.evaluate(there)) - before) > 0.05)
    send = page.get_by_text("Send", exact=True)
    send.scroll_into_view_if_needed()
    send.click()
    line = page.locator(".poise-mode-panel:visible .poise-line").last
    expect(line).to_contain_text("→")
    send.click()
    expect(page.get_by_text("off", exact=True)).to_be_visible()


def test_a_mechanism_follows_its_motors_and_stays_closed_out_of_its_workspace(page: Page, screenshots: Path) -> None:
    enter(page, "mechanism")
    with new_scene(page):
        choose(page, "five bar")
    assert page.evaluate("window.poiseStage.figure.name") == "five_bar"
    before = positions(page)
    thumb = box_of(page, page.locator(".poise-mode-panel:visible .poise-slider").first)
    drag(page, (thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2), (12, 0), steps=8)
    assert eventually(page, lambda: np.abs(positions(page) - before).max() > 0.005)
    settle(page)
    assert fact(page, "all loops") == "closed"
    body = [each.name for each in poise.load("five_bar").bodies].index("left_forearm")
    pull(page, body, (-30, -330))
    settle(page)
    assert 0.05 < pull_gap(page) < np.inf
    expect(page.locator(".poise-mode-panel:visible")).to_contain_text("outside the workspace")
    assert fact(page, "all loops") == "closed"
    rows = "window.poiseStrip.plots.rows"
    assert eventually(page, lambda: np.array(page.evaluate(rows))[:, -2].max() > 50.0), "the pull is plotted too"
    assert np.array(page.evaluate(rows))[:, -1].max() < 1e3, "loops are open by less than a nanometre"
    looked_at(page, screenshots, "mode_mechanism")
    let_go(page)


def circles_view(page: Page) -> dict[str, Any]:
    return page.evaluate("window.poiseCircles.view")  # type: ignore[no-any-return]


def handle(page: Page) -> tuple[float, float]:
    """Where what is dragged is, once the view stays where it is."""
    box_of(page, page.locator(".poise-center"))
    x, y = page.evaluate("window.poiseCircles.handle()")
    return x, y


def test_the_end_point_stays_between_the_safe_zones(page: Page, screenshots: Path) -> None:
    enter(page, "circles")
    with new_scene(page):
        choose(page, "Arm")
    until(page, "() => window.poiseCircles.view?.demo === 'arm'")
    drag(page, handle(page), (400, -400))

    def at_the_border() -> bool:
        view = circles_view(page)
        base, zone = np.array(view["chains"][0][0]), view["zones"][0]
        return bool(abs(np.linalg.norm(np.array(view["chains"][0][-1]) - base) - zone["most"]) < 1e-4)

    assert eventually(page, at_the_border)
    drag(page, handle(page), (-150, 250))
    assert eventually(page, lambda: not at_the_border())
    view = circles_view(page)
    for circle in view["circles"]:
        joints = np.array(view["chains"][0])
        gaps = np.abs(np.linalg.norm(joints - np.array(circle["center"]), axis=1) - circle["radius"])
        assert gaps.min() < 1e-4, "every circle goes through a joint"
    looked_at(page, screenshots, "mode_circles_arm")


def test_the_cyclist_pedals_and_the_hand_closes_on_the_ball(page: Page, screenshots: Path) -> None:
    enter(page, "circles")
    with new_scene(page, rests=False):
        choose(page, "Cyclist")
    until(page, "() => window.poiseCircles.view?.demo === 'cyclist'")
    knee = circles_view(page)["chains"][0][1]
    assert eventually(page, lambda: np.linalg.norm(np.subtract(circles_view(page)["chains"][0][1], knee)) > 0.03)
    expect(page.locator(SENTENCE)).to_have_text("Both feet are exactly on the pedals.")
    with new_scene(page):
        choose(page, "Hand and ball")
    until(page, "() => window.poiseCircles.view?.demo === 'hand'")
    expect(page.locator(SENTENCE)).to_contain_text("the hand stays open")
    start = handle(page)
    size = page.evaluate("window.poiseCircles.scale().size")
    drag(page, start, (-0.135 * size, 0.055 * size))
    expect(page.locator(SENTENCE)).to_have_text("All fingers reach the ball: the hand holds it.")

    def fingers_hold() -> bool:
        view = circles_view(page)
        tips = np.array([chain[-1] for chain in view["chains"]])
        return bool((np.linalg.norm(tips - np.array(view["at"]), axis=1) <= view["ball"] + 1e-4).all())

    assert eventually(page, fingers_hold)
    looked_at(page, screenshots, "mode_circles_hand")


def test_a_clip_is_retargeted_played_scrubbed_and_exported(page: Page, screenshots: Path, tmp_path: Path) -> None:
    enter(page, "retarget")
    until(page, "() => window.poiseStrip.plots.about.kind === 'clip'", seconds=COMPILING)
    before = positions(page)
    assert eventually(page, lambda: np.abs(positions(page) - before).max() > 0.02), "it plays"
    sticks = page.evaluate("window.poiseStrip.around.bones.pairs.length")
    assert sticks > 10
    plot = box_of(page, page.locator(".poise-plot").first)
    page.mouse.click(plot["x"] + 0.5 * plot["width"], plot["y"] + 0.5 * plot["height"])
    until(page, "() => window.poiseStrip.timeline.button.innerText === 'play_arrow'")
    settle(page)
    # A frame that jerks is a red line; a click beside it goes to that very frame.
    page.evaluate("(() => { const { plots } = window.poiseStrip; plots.about.marks = [1.25]; plots.draw(); })()")
    near = page.evaluate(
        """(() => { const plot = window.poiseStrip.plots.plots[0];
        for (let x = 0; x < plot.canvas.clientWidth; x += 1) if (plot.toTime(x) > 1.25) return x + 2; })()"""
    )
    page.mouse.click(plot["x"] + near, plot["y"] + 0.5 * plot["height"])
    assert eventually(page, lambda: page.evaluate("window.poiseStrip.plots.cursor") == 1.25)
    settle(page)
    stopped = positions(page)
    slider = box_of(page, page.locator(".poise-timeline input"))
    drag(page, (slider["x"] + 0.5 * slider["width"], slider["y"] + 0.5 * slider["height"]), (0.3 * slider["width"], 0))
    assert eventually(page, lambda: np.abs(positions(page) - stopped).max() > 0.01)
    looked_at(page, screenshots, "mode_retarget")
    page.set_viewport_size({"width": 1400, "height": 850})
    with page.expect_download() as saving:
        page.locator(".poise-mode-panel:visible .poise-choice").get_by_text("JSON", exact=True).click()
    path = tmp_path / "motion.json"
    saving.value.save_as(path)
    saved = json.loads(path.read_text())
    assert saved["figure"] == "human"
    assert len(saved["q"]) == int(fact(page, "frames"))


def test_undo_goes_back_through_modes_and_two_pages_show_the_same_one(page: Page) -> None:
    def shown() -> list[str]:
        return [each.evaluate("document.body.dataset.mode") for each in (page, other)]

    enter(page, "mechanism")
    other = page.context.new_page()
    other.goto(page.url)
    assert eventually(page, lambda: shown() == ["mechanism", "mechanism"])
    enter(page, "circles")
    assert eventually(page, lambda: shown() == ["circles", "circles"])
    page.bring_to_front()
    page.keyboard.press("Control+z")
    assert eventually(page, lambda: shown() == ["mechanism", "mechanism"])
    other.close()


def test_posture_and_picture_are_saved(page: Page, tmp_path: Path) -> None:
    menu = open_menu(page)
    with page.expect_download() as saving:
        menu.get_by_text("Save posture").click()
    saving.value.save_as(tmp_path / "posture.json")
    assert len(json.loads((tmp_path / "posture.json").read_text())) >= 1
    open_menu(page)
    with page.expect_download() as saving:
        menu.get_by_text("Save picture").click()
    saving.value.save_as(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"


BOOM = """<robot name="boom"><link name="mast"><visual><geometry><cylinder radius="0.1" length="1"/></geometry>
</visual></link><link name="jib"><visual><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.08" length="1"/>
</geometry></visual></link><joint name="pivot" type="revolute"><parent link="mast"/><child link="jib"/>
<origin xyz="0 0 0.5"/><axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="9"/></joint></robot>"""
CLIP_JOINT = """name => {
    const { pairs } = window.poiseStrip.around;
    const at = pairs.joints.geometry.getAttribute("position");
    const i = pairs.names.indexOf(name);
    return [at.getX(i), at.getY(i), at.getZ(i)];
}"""


def test_pairs_are_clicked_where_nothing_matches(page: Page, screenshots: Path, tmp_path: Path) -> None:
    enter(page, "retarget")
    until(page, "() => window.poiseStrip.plots.about.kind === 'clip'", seconds=COMPILING)
    path = tmp_path / "boom.urdf"
    path.write_text(BOOM)
    with new_scene(page, rests=False):
        page.locator("input[type=file]").first.set_input_files(path)
    expect(page.locator(".poise-status")).to_contain_text("Nothing in the figure matches the clip")
    until(page, "() => window.poiseStrip.around.pairs?.places")
    page.mouse.click(*pixel_at(page, page.evaluate(CLIP_JOINT, "head")))
    expect(page.locator(".poise-tip")).to_contain_text("head: click the part")
    picture(page, screenshots / "pairs_to_click.png")
    page.mouse.click(*pixel_of(page, 1))
    until(page, "() => window.poiseStrip.plots.about.kind === 'clip'", seconds=COMPILING)
    expect(page.locator(".poise-mode-panel:visible .poise-pair")).to_contain_text("head")
    enter(page, "pose")
