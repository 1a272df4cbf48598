"""What a person does on the page, by pointer events."""

from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import FloatRect, Locator, Page

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


def picture(page: Page, path: Path) -> None:
    """Draw the page, and keep it as a picture for people to look at."""
    page.evaluate("window.poiseBlind = false; window.poiseStage.stale = true")
    page.wait_for_function("!window.poiseStage.stale && window.poiseStage.quality.resting")
    page.wait_for_timeout(150)
    page.screenshot(path=path)
    page.evaluate("window.poiseBlind = true")


def pixel_at(page: Page, point: Any, view: int = 0) -> tuple[float, float]:
    """Where a point of the world is on the page."""
    x, y = page.evaluate(
        "([at, view]) => window.poiseStage.views[view].pixel(window.poiseStage.camera.position.clone().fromArray(at))",
        [[float(value) for value in point], view],
    )
    return x, y


def drag(
    page: Page, start: tuple[float, float], way: tuple[float, float], steps: int = 8, *, hold: bool = False
) -> None:
    """Press, move and let go."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + way[0], start[1] + way[1], steps=steps)
    if not hold:
        page.mouse.up()


def box_of(page: Page, part: Locator, seconds: float = 20.0) -> FloatRect:
    """Where a part of the page is, once it stays there: panels are drawn anew while one types and chooses."""
    last = None
    for _ in range(int(seconds / 0.1)):
        box = part.bounding_box()
        if box is not None and box == last:
            return box
        last = box
        page.wait_for_timeout(100)
    raise AssertionError(f"{part} never stood still, last at {last}")


def choose_option(page: Page, label: str, option: str, tries: int = 4) -> None:
    """Choose from a list, again where the list was made anew while it was open."""
    field = page.get_by_label(label, exact=True)
    for _ in range(tries):
        field.click()
        page.get_by_role("option", name=option, exact=True).click()
        for _ in range(50):
            page.wait_for_timeout(100)
            if field.input_value() == option:
                return
    raise AssertionError(f"{label} does not become {option}")


def joint_place(page: Page, number: int) -> list[float]:
    """Where a marked joint is in the world."""
    return page.evaluate(  # type: ignore[no-any-return]
        "i => Array.from(window.poiseStage.joints.geometry.getAttribute('position').array.slice(3 * i, 3 * i + 3))",
        number,
    )


def handles(page: Page) -> list[dict[str, Any]]:
    """Kind, axis and points of the handles that are shown."""
    return page.evaluate(  # type: ignore[no-any-return]
        """(() => { const { gizmo } = window.poiseStage.selection;
        return gizmo.handles.map((each) => ({ kind: each.kind, axis: each.axis.toArray(),
            points: gizmo.points(each).map((point) => point.toArray()) })); })()"""
    )


def free_point(page: Page, number: int) -> tuple[float, float]:
    """A pixel at which a handle is nearer than all others."""
    shown = handles(page)
    others = [pixel_at(page, point) for k, each in enumerate(shown) if k != number for point in each["points"]]
    mine = [pixel_at(page, point) for point in shown[number]["points"]]
    return max(mine, key=lambda spot: min((np.hypot(*np.subtract(spot, other)) for other in others), default=0.0))


def right_click(page: Page, body: int, item: str) -> None:
    """Choose something from the menu of a body."""
    page.mouse.click(*pixel_of(page, body), button="right")
    page.locator(".q-menu").get_by_text(item, exact=True).click()
    page.locator(".q-menu").wait_for(state="detached")


def tab(page: Page, name: str) -> None:
    """Show another panel on the right."""
    page.locator(".poise-tabs").get_by_text(name, exact=True).click()
