"""How finely the views are drawn, and where they look."""

import numpy as np
import pytest
from playwright.sync_api import Page

from .hands import DISTANCE, eventually, handles, joint_place, let_go, pixel_at, positions, pull, settle
from .human import ELBOW, HAND

TRIANGLES = """(() => { const stage = window.poiseStage;
    return stage.surfaces.reduce((sum, mesh) => sum + mesh.geometry.index.count / 3, 0); })()"""
FINENESS = "[stage.quality.resting, stage.coarse, stage.renderer.getPixelRatio()]"
WATCHED = f"""(() => {{ const stage = window.poiseStage; const render = stage.render.bind(stage);
    window.renders = []; stage.render = () => {{ window.renders.push({FINENESS}); render(); }}; }})()"""
"""Remembers how finely every picture is drawn from now on."""
TARGET = "window.poiseStage.views[0].controls.target.toArray()"


def fineness(page: Page) -> tuple[bool, bool, float]:
    """Whether it rests, whether surfaces are coarse, and how many pixels are drawn for one of the page."""
    resting, coarse, ratio = page.evaluate(f"(() => {{ const stage = window.poiseStage; return {FINENESS}; }})()")
    return resting, coarse, ratio


def test_what_moves_is_drawn_fast_and_what_rests_finely(page: Page) -> None:
    assert eventually(page, lambda: fineness(page)[:2] == (True, False))
    fine = page.evaluate(TRIANGLES)
    page.evaluate(WATCHED)
    pull(page, HAND, (-60, -90))
    moving = [(coarse, ratio) for resting, coarse, ratio in page.evaluate("window.renders") if not resting]
    assert moving
    assert all(coarse and ratio <= 1.0 for coarse, ratio in moving)
    let_go(page)
    assert eventually(page, lambda: fineness(page)[:2] == (True, False))
    assert page.evaluate(TRIANGLES) == fine


def test_nothing_is_drawn_while_nothing_changes(page: Page) -> None:
    settle(page)
    assert eventually(page, lambda: fineness(page)[0])
    page.evaluate(WATCHED)
    page.wait_for_timeout(700)
    assert page.evaluate("window.renders") == []
    page.keyboard.press("f")
    assert eventually(page, lambda: page.evaluate("window.renders.length") >= 1)


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
