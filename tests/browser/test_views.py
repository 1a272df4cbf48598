"""How finely the views are drawn, and where they look."""

import numpy as np
import pytest
from playwright.sync_api import Page

from .hands import drag, handles, joint_place, pixel_at, pixel_of, positions, pull_gap
from .test_handles import ELBOW
from .test_pulling import HAND
from .test_studio import eventually

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

TRIANGLES = """(() => { const stage = window.poiseStage;
    return stage.surfaces.reduce((sum, mesh) => sum + mesh.geometry.index.count / 3, 0); })()"""
DISTANCE = "window.poiseStage.camera.position.distanceTo(window.poiseStage.views[0].controls.target)"
TARGET = "window.poiseStage.views[0].controls.target.toArray()"


def fineness(page: Page) -> tuple[bool, bool, float]:
    """Whether it rests, whether surfaces are coarse, and how many pixels are drawn for one of the page."""
    stage = "window.poiseStage"
    found = page.evaluate(f"[{stage}.quality.resting, {stage}.coarse, {stage}.renderer.getPixelRatio()]")
    return found[0], found[1], found[2]


def test_what_moves_is_drawn_fast_and_what_rests_finely(page: Page) -> None:
    assert eventually(page, lambda: fineness(page)[:2] == (True, False))
    fine = page.evaluate(TRIANGLES)
    drag(page, pixel_of(page, HAND), (-60, -90), hold=True)
    assert eventually(page, lambda: pull_gap(page) < 1e-3)
    page.evaluate("window.poiseStage.stale = true")
    seen = [fineness(page)]
    for k in range(10):
        page.mouse.move(500 + 5 * k, 300)
        seen.append(fineness(page))
    moving = [(coarse, ratio) for resting, coarse, ratio in seen if not resting]
    assert moving
    assert all(coarse and ratio <= 1.0 for coarse, ratio in moving)
    page.mouse.up()
    assert eventually(page, lambda: fineness(page)[:2] == (True, False))
    assert page.evaluate(TRIANGLES) == fine


def test_nothing_is_drawn_while_nothing_changes(page: Page) -> None:
    assert eventually(page, lambda: fineness(page)[0])
    page.evaluate(
        """(() => { const stage = window.poiseStage; const render = stage.render.bind(stage);
        window.renders = 0; stage.render = () => { window.renders += 1; render(); }; })()"""
    )
    page.wait_for_timeout(700)
    assert page.evaluate("window.renders") == 0
    page.keyboard.press("f")
    assert eventually(page, lambda: page.evaluate("window.renders") >= 1)


def test_a_key_looks_at_what_is_selected_and_another_at_the_whole_figure(page: Page) -> None:
    far, elbow = page.evaluate(DISTANCE), joint_place(page, ELBOW)
    page.mouse.click(*pixel_at(page, elbow))
    assert eventually(page, lambda: len(handles(page)) == 1)
    page.keyboard.press("s")
    assert eventually(page, lambda: page.evaluate(DISTANCE) < 0.5 * far)
    assert page.evaluate(TARGET) == pytest.approx(elbow, abs=1e-3)
    page.keyboard.press("f")
    assert eventually(page, lambda: page.evaluate(DISTANCE) == pytest.approx(far, rel=1e-3))
    assert np.linalg.norm(positions(page)) > 0.0
