"""What a person does on the page, by pointer events."""

from typing import Any

import numpy as np
from playwright.sync_api import Page

PIXEL_OF_BODY = """([number, view]) => {
    const stage = window.poiseStage;
    stage.root.updateMatrixWorld();
    const mesh = stage.surfaces.find((each) => each.userData.body === number);
    mesh.geometry.computeBoundingSphere();
    const middle = mesh.geometry.boundingSphere.center.clone().applyMatrix4(mesh.matrixWorld);
    return stage.views[view].pixel(middle);
}"""
TARGETS = """window.poiseStage.overlays.targets.map(
    (each) => ({ task: each.task, met: each.met, wanted: each.wanted.toArray(), got: each.got.toArray() }))"""


def pixel_of(page: Page, body: int, view: int = 0) -> tuple[float, float]:
    """Where the middle of a body is on the page."""
    x, y = page.evaluate(PIXEL_OF_BODY, [body, view])
    return x, y


def targets(page: Page) -> list[dict[str, Any]]:
    """Targets as they are drawn; the pull is number -1."""
    return page.evaluate(TARGETS)  # type: ignore[no-any-return]


def pull_gap(page: Page) -> float:
    """How far the point that is pulled is from the pointer [m]; infinite where none is pulled."""
    gaps = [np.linalg.norm(np.subtract(t["wanted"], t["got"])) for t in targets(page) if t["task"] < 0]
    return float(gaps[0]) if gaps else np.inf


def positions(page: Page) -> np.ndarray:
    """(bodies, 3) where all bodies are."""
    return np.array(page.evaluate("window.poiseStage.bodies.map((each) => each.position.toArray())"))


def inside_support(page: Page) -> float:
    """How far the foot of the centre of mass is inside the support that is drawn [m]; negative outside."""
    foot = np.array(page.evaluate("window.poiseStage.overlays.foot.toArray()"))[[0, 2]]
    ground = page.evaluate(
        """(() => { const edge = window.poiseStage.overlays.edge.geometry;
        return Array.from(edge.getAttribute("position").array.slice(0, 3 * edge.drawRange.count)); })()"""
    )
    ends = np.array(ground).reshape(-1, 2, 3)[:, :, [0, 2]]
    middle = ends[:, 0].mean(axis=0)
    distances = []
    for a, b in ends:
        normal = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
        normal = normal if normal @ (middle - a) > 0 else -normal
        distances.append(normal @ (foot - a))
    return float(min(distances))


def still(page: Page) -> bool:
    """Whether nothing moves for a while."""
    before = positions(page)
    page.wait_for_timeout(250)
    after = positions(page)
    return before.shape == after.shape and bool(np.abs(after - before).max() < 1e-6)
