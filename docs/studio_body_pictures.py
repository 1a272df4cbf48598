"""The pictures of the studio's handles, forces and body; `make_studio_pictures.py` takes them with the others."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

Take = Callable[[Page, str], None]
BODIES = {"right_hand": 18, "right_elbow": 15}
"""Number of a body, and of a marked joint."""
PIXEL = """number => { const stage = window.poiseStage;
    const mesh = stage.surfaces.find((each) => each.userData.body === number);
    mesh.geometry.computeBoundingSphere();
    stage.root.updateMatrixWorld();
    return stage.views[0].pixel(mesh.geometry.boundingSphere.center.clone().applyMatrix4(mesh.matrixWorld)); }"""
JOINT = """number => { const places = window.poiseStage.joints.geometry.getAttribute("position");
    const at = window.poiseStage.camera.position.clone().fromBufferAttribute(places, number);
    return window.poiseStage.views[0].pixel(at); }"""


def visit_body(page: Page, take: Take, example: Take) -> None:
    """Handles, forces, limits and obstacles."""
    example(page, "Standing")
    _handles(page, take)
    example(page, "Standing")
    _forces(page, take)
    example(page, "Standing")
    _body(page, take)
    _tab(page, "Joints")


def _tab(page: Page, name: str) -> None:
    page.set_viewport_size({"width": 1400, "height": 850})
    page.wait_for_timeout(1000)
    if not page.locator(".poise-tabs").is_visible():
        page.keyboard.press("]")
        page.wait_for_timeout(1000)
    page.locator(".poise-tabs").get_by_text(name, exact=True).click()
    page.wait_for_timeout(300)


def _handles(page: Page, take: Take) -> None:
    page.locator(".q-menu").wait_for(state="detached")
    page.mouse.click(*page.evaluate(JOINT, BODIES["right_elbow"]))
    page.wait_for_function("window.poiseStage.selection.what?.joint !== undefined")
    take(page, "joint_ring")
    page.locator(".poise-task").get_by_text("left foot", exact=True).click()
    page.wait_for_function("window.poiseStage.selection.what?.task === 0")
    page.mouse.move(300, 5)
    take(page, "task")


def _forces(page: Page, take: Take) -> None:
    _tab(page, "Forces")
    page.get_by_role("button", name="Use the feet as supports").click()
    page.wait_for_timeout(300)
    page.mouse.click(*page.evaluate(PIXEL, BODIES["right_hand"]), button="right")
    page.locator(".q-menu").get_by_text("Add force here").click()
    page.wait_for_timeout(300)
    page.get_by_text("Show joint torques", exact=True).click()
    page.wait_for_timeout(800)
    take(page, "forces")
    _tab(page, "Forces")
    page.get_by_text("Show joint torques", exact=True).click()


def _body(page: Page, take: Take) -> None:
    _tab(page, "Body")
    page.get_by_text("joint limits").click()
    page.get_by_role("button", name="box").click()
    page.mouse.move(300, 5)
    page.wait_for_timeout(1500)
    take(page, "body")
    _tab(page, "Body")
    page.get_by_text("joint limits").click()
