"""Take the pictures of the studio again, into docs/pictures, in Chromium: `python docs/make_studio_pictures.py`."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from studio_body_pictures import visit_body
from studio_mode_pictures import visit_modes

FOLDER = Path(__file__).parent / "pictures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZES = {"studio": (1400, 850), "studio_small": (1000, 700), "studio_narrow": (820, 1180)}
RIGHT_HAND = 18
"""Number of the body that is pulled."""
PIXEL = """number => {
    const stage = window.poiseStage;
    const mesh = stage.surfaces.find((each) => each.userData.body === number);
    mesh.geometry.computeBoundingSphere();
    return stage.views[0].pixel(mesh.geometry.boundingSphere.center.clone().applyMatrix4(mesh.matrixWorld));
}"""


SCENE = "Number(document.querySelector('.poise-light').dataset.scene)"
RESTS = "document.querySelector('.poise-light').dataset.rests === 'true'"
SOLVED = "window.poiseTimeline.about.solved.every(([, , done]) => done)"


def pull(page: Page, across: float, up: float) -> None:
    """Pull the right hand, and stay there."""
    x, y = page.evaluate(PIXEL, RIGHT_HAND)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - across, y - up, steps=12)
    page.wait_for_timeout(1000)


def unfold(page: Page) -> bool:
    """Unfold the panel on the right, which a narrow page folds; returns whether it was folded, and the mode has one."""
    is_posing = bool(page.evaluate("document.body.dataset.mode === 'pose'"))
    folded = is_posing and not page.locator(".poise-tabs").is_visible()
    if folded:
        page.keyboard.press("]")
    return folded


def take(page: Page, name: str) -> None:
    """One picture at each size."""
    for prefix, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(1000)
        if prefix == "studio" and unfold(page):
            page.wait_for_timeout(1000)
        page.keyboard.press("f")
        page.wait_for_timeout(600)
        page.wait_for_function("window.poiseStage.quality.resting")
        page.wait_for_timeout(300)
        page.screenshot(path=FOLDER / f"{prefix}_{name}.png")


def example(page: Page, name: str) -> None:
    """Open an example of the menu."""
    before = page.evaluate(SCENE)
    page.get_by_role("button").filter(has_text="menu").click()
    page.locator(".q-menu").get_by_text(name, exact=True).click()
    page.mouse.move(300, 5)
    page.wait_for_function(f"{SCENE} > {before} && {RESTS}")
    page.evaluate("window.poiseStage.selection.choose(null)")
    page.wait_for_timeout(1500)


def visit(page: Page) -> None:
    """Go through what is worth a picture."""
    take(page, "start")
    pull(page, 110, 170)
    take(page, "pull")
    page.mouse.up()
    example(page, "Two hands")
    take(page, "priorities")
    page.keyboard.press("4")
    take(page, "four_views")
    page.keyboard.press("4")
    page.keyboard.press("d")
    example(page, "Reach for a ball")
    take(page, "dark")
    page.keyboard.press("d")
    visit_timeline(page)
    visit_body(page, take, example)
    visit_modes(page, take)


def visit_timeline(page: Page) -> None:
    """Two keys, with their ghosts and the paths between them; and the library of postures."""
    example(page, "Standing")
    page.keyboard.press("k")
    page.locator(".poise-keys-ruler").wait_for()
    ruler = page.locator(".poise-keys-ruler").bounding_box()
    assert ruler is not None
    page.mouse.click(ruler["x"] + 0.2 * ruler["width"], ruler["y"] + 0.7 * ruler["height"])
    page.wait_for_timeout(1000)
    pull(page, 90, 210)
    page.mouse.up()
    page.wait_for_function(RESTS)
    page.keyboard.press("k")
    page.wait_for_function(f"window.poiseTimeline.about.keys.length === 2 && {SOLVED}")
    page.get_by_role("button", name="Show the postures of all keys").click()
    page.get_by_role("button", name="Show the paths of hands, feet and head").click()
    page.mouse.move(300, 5)
    page.wait_for_timeout(1000)
    take(page, "timeline")
    page.get_by_role("button", name="Show the postures of all keys").click()
    page.get_by_role("button", name="Show the paths of hands, feet and head").click()
    example(page, "Standing")
    page.set_viewport_size({"width": 1400, "height": 850})
    unfold(page)
    page.keyboard.press("f")
    page.locator(".poise-tabs").get_by_text("Preferences", exact=True).click()
    page.get_by_role("button").filter(has_text="menu").click()
    page.locator(".q-menu").get_by_text("Posture", exact=True).first.click()
    page.locator(".q-menu").last.get_by_text("Library …", exact=True).click()
    page.wait_for_timeout(6000)
    page.screenshot(path=FOLDER / "studio_library.png")
    page.get_by_role("button", name="Close the postures").click()
    page.wait_for_timeout(1000)
    page.screenshot(path=FOLDER / "studio_preferences.png")
    page.locator(".poise-tabs").get_by_text("Joints", exact=True).click()


def main() -> None:
    """Start a studio, look at it, end it."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    command = [sys.executable, "-m", "poise", "studio", "--no-browser", "--port", "0"]
    studio = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert studio.stdout is not None
    found = re.search(r"http://\S+", studio.stdout.readline())
    assert found is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 850})
        page.set_default_timeout(300_000)
        page.goto(found.group())
        page.wait_for_function("window.poiseStage && window.poiseStage.frames > 0")
        page.wait_for_timeout(800)
        try:
            visit(page)
        finally:
            browser.close()
            studio.send_signal(signal.SIGINT)
    studio.wait()


if __name__ == "__main__":
    main()
