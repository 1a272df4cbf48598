"""Pictures of the studio's modes; `make_studio_pictures.py` takes them with the others."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

PLATFORM = 1
"""Number of the Stewart platform's body that is pulled."""
PIXEL = """number => {
    const stage = window.poiseStage;
    stage.root.updateMatrixWorld();
    const mesh = stage.surfaces.find((each) => each.userData.body === number);
    mesh.geometry.computeBoundingSphere();
    return stage.views[0].pixel(mesh.geometry.boundingSphere.center.clone().applyMatrix4(mesh.matrixWorld));
}"""


def enter(page: Page, mode: str) -> None:
    """Switch to a mode."""
    number = ("pose", "expressive", "mechanism", "circles", "retarget").index(mode)
    page.locator(".poise-modes .q-btn").nth(number).click()
    page.wait_for_function(f"document.body.dataset.mode === '{mode}'")
    page.mouse.move(300, 5)
    page.wait_for_timeout(1500)


def choose(page: Page, word: str) -> None:
    """Press a button of the mode's panel."""
    button = page.locator(".poise-mode-panel:visible .poise-choice").filter(has=page.get_by_text(word, exact=True))
    button.click()
    page.wait_for_function("button => button.dataset.on === 'true'", arg=button.element_handle())
    page.wait_for_timeout(2500)


def drag(page: Page, start: tuple[float, float], across: float, up: float) -> None:
    """Drag, and stay there."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + across, start[1] - up, steps=12)
    page.wait_for_timeout(1500)


def visit_modes(page: Page, take: Callable[[Page, str], None]) -> None:
    """One picture or more of every mode."""
    enter(page, "expressive")
    page.locator(".poise-status").get_by_text("Looks at the target").wait_for(timeout=300_000)
    for posture in ("sad", "proud", "curious"):
        choose(page, posture)
    page.mouse.move(300, 5)
    take(page, "expressive")
    enter(page, "mechanism")
    choose(page, "stewart")
    drag(page, page.evaluate(PIXEL, PLATFORM), 100, 110)
    take(page, "mechanism")
    page.mouse.up()
    enter(page, "circles")
    drag(page, page.evaluate("window.poiseCircles.handle()"), 40, 60)
    page.mouse.up()
    take(page, "circles_arm")
    choose(page, "Cyclist")
    page.get_by_text("Pedal", exact=True).click()
    take(page, "circles_cyclist")
    choose(page, "Hand and ball")
    size = page.evaluate("window.poiseCircles.scale().size")
    drag(page, page.evaluate("window.poiseCircles.handle()"), -0.135 * size, -0.055 * size)
    page.mouse.up()
    take(page, "circles_hand")
    enter(page, "retarget")
    page.wait_for_function("window.poiseStrip.plots.about.kind === 'clip'", timeout=300_000)
    plot = page.locator(".poise-plot").first.bounding_box()
    assert plot is not None
    page.mouse.click(plot["x"] + 0.42 * plot["width"], plot["y"] + 0.5 * plot["height"])
    page.mouse.move(300, 5)
    take(page, "retarget")
