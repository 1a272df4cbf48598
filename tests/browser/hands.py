"""What a person does on the page, by pointer events, and when the page has done what it was asked.

A machine may be slow: nothing is read after a time that ought to do, but when what was asked for is there.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import FloatRect, Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLateError

PATIENCE = 120.0
"""How long anything may take [s]."""
COMPILING = 600.0
"""How long the first step of a scene may take: kernels that were changed are compiled first [s]."""
LIGHT = ".poise-light"
"""Says which scene and step the panels show, and whether the figure rests."""
DISTANCE = "window.poiseStage.camera.position.distanceTo(window.poiseStage.views[0].controls.target)"
SENTENCE = ".poise-status .text-body2"
MODES = ("pose", "expressive", "mechanism", "circles", "retarget")
NOTICES = """window.poiseNotices = [];
new MutationObserver((changes) => {
    const added = changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.querySelectorAll);
    const nodes = added.flatMap((node) => [node, ...node.querySelectorAll(".q-notification")]);
    const notices = nodes.filter((node) => node.matches(".q-notification"));
    window.poiseNotices.push(...notices.map((node) => node.innerText));
}).observe(document, { childList: true, subtree: true });"""
"""Remembers what the page said: a notice goes after a while, whether or not somebody has read it."""
CAUGHT_UP = f"""step => Number(document.querySelector("{LIGHT}")?.dataset.step) >= step
    && window.poiseStage?.step >= step"""
NEW_SCENE = f"""scene => Number(document.querySelector("{LIGHT}")?.dataset.scene) > scene"""
AT_REST = f"""() => {{
    const [light, stage] = [document.querySelector("{LIGHT}"), window.poiseStage];
    if (light?.dataset.rests !== "true" || Number(light.dataset.step) !== stage?.step) return false;
    const {{ clientWidth, clientHeight }} = stage.canvas;
    if (clientWidth && clientHeight && String(stage.size) !== `${{clientWidth}},${{clientHeight}}`) return false;
    return !document.getAnimations().some((each) => each instanceof CSSTransition);
}}"""
DRAWN = "() => !window.poiseStage.stale && window.poiseStage.quality.resting"
PIXEL_OF_BODY = """([number, view]) => {
    const stage = window.poiseStage;
    stage.root.updateMatrixWorld();
    stage.views[view].camera.updateMatrixWorld();
    const mesh = stage.surfaces.find((each) => each.userData.body === number);
    mesh.geometry.computeBoundingSphere();
    const middle = mesh.geometry.boundingSphere.center.clone().applyMatrix4(mesh.matrixWorld);
    return stage.views[view].pixel(middle);
}"""
PIXEL_OF_POINT = """([at, view]) => {
    const { camera } = window.poiseStage.views[view];
    camera.updateMatrixWorld();
    return window.poiseStage.views[view].pixel(camera.position.clone().fromArray(at));
}"""
TARGETS = """window.poiseStage.overlays.targets.map(
    (each) => ({ task: each.task, met: each.met, wanted: each.wanted.toArray(), got: each.got.toArray() }))"""


def eventually(page: Page, check: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether something comes to be so: what a click does arrives over the network."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        page.wait_for_timeout(100)
    return True


def until(page: Page, condition: str, argument: Any = None, seconds: float = PATIENCE) -> None:
    """Wait until a condition of the page holds, whether or not the page is drawn."""
    page.wait_for_function(condition, arg=argument, polling=50, timeout=1000.0 * seconds)


def settle(page: Page) -> None:
    """Wait until the figure rests, panels and stage show it as it is, and nothing on the page slides or fades."""
    until(page, AT_REST, seconds=COMPILING)


def scene_shown(page: Page) -> int:
    """The number of the scene that the panels show, which are as new as what is drawn."""
    until(page, CAUGHT_UP, page.evaluate("window.poiseStage.step"))
    return int(page.locator(LIGHT).get_attribute("data-scene") or 0)


@contextmanager
def new_scene(page: Page, *, rests: bool = True) -> Iterator[None]:
    """Do something that changes the scene, and wait until panels and stage show it and, where it can, it rests."""
    before = scene_shown(page)
    yield
    until(page, NEW_SCENE, before)
    # A slow browser draws later than its panels say, and never catches up with a figure that moves on and on.
    until(page, CAUGHT_UP, int(page.locator(LIGHT).get_attribute("data-step") or 0))
    if rests:
        settle(page)


def notices(page: Page) -> list[str]:
    """What the page said so far, even if it does not say it any more."""
    return page.evaluate("window.poiseNotices")  # type: ignore[no-any-return]


def said(page: Page, *words: str) -> bool:
    """Whether the page comes to say something with all these words in it."""
    return eventually(page, lambda: any(all(word in text for word in words) for text in notices(page)))


def press_key(page: Page, keys: str) -> None:
    """Press keys that change the scene, such as those of undo."""
    with new_scene(page):
        page.keyboard.press(keys)


def open_menu(page: Page) -> Locator:
    """Open the menu of examples and files."""
    page.get_by_role("button").filter(has_text="menu").click()
    return page.locator(".q-menu")


def example(page: Page, name: str) -> None:
    """Choose an example, and wait until panels and stage show it and it rests."""
    page.mouse.up()  # a test that failed may have held something
    with new_scene(page):
        open_menu(page).get_by_text(name, exact=True).click()
        expect(page.locator(".q-menu")).to_have_count(0)


def choose_figure(page: Page, name: str) -> None:
    """Choose a figure above, and wait until panels and stage show it and it rests."""
    with new_scene(page):
        choose_option(page, "Figure", name)
    assert page.evaluate("window.poiseStage.figure.name") == name


def enter(page: Page, mode: str) -> None:
    """Switch to a mode, and wait until all of the page is in it."""
    button = page.locator(".poise-modes .q-btn").nth(MODES.index(mode))
    until(page, "() => document.body.dataset.mode !== undefined")
    if button.get_attribute("data-on") != "true":
        with new_scene(page, rests=False):
            button.click()
    until(page, "mode => document.body.dataset.mode === mode", mode)
    expect(button).to_have_attribute("data-on", "true")
    expect(page.locator(".poise-mode-panel:visible")).to_have_count(0 if mode == "pose" else 1)


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


def picture(page: Page, path: Path) -> None:
    """Draw the page, and keep it as a picture for people to look at."""
    page.evaluate("window.poiseBlind = false; window.poiseStage.stale = true")
    until(page, DRAWN)
    page.screenshot(path=path)
    page.evaluate("window.poiseBlind = true")


def pixel_at(page: Page, point: Any, view: int = 0) -> tuple[float, float]:
    """Where a point of the world is on the page."""
    x, y = page.evaluate(PIXEL_OF_POINT, [[float(value) for value in point], view])
    return x, y


def drag(page: Page, start: tuple[float, float], way: tuple[float, float], steps: int = 1) -> None:
    """Press, move and let go; a move in one step is told in one message, so that what is seen of it is all of it."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + way[0], start[1] + way[1], steps=steps)
    page.mouse.up()


def pull(page: Page, body: int, way: tuple[float, float], *, view: int = 0, steps: int = 8) -> tuple[float, float]:
    """Press on a body and pull, until the pull is where the pointer is; returns where it was pressed."""
    start = pixel_of(page, body, view)
    page.mouse.move(*start)
    page.mouse.down()
    pull_on(page, (start[0] + way[0], start[1] + way[1]), view=view, steps=steps)
    return start


def pull_on(page: Page, to: tuple[float, float], *, view: int = 0, steps: int = 8) -> None:
    """Pull what is held on to a pixel, until the pull is there."""
    page.mouse.move(*to, steps=steps)
    assert eventually(page, lambda: is_at(page, [t for t in targets(page) if t["task"] < 0], to, view))


def is_at(page: Page, shown: list[dict[str, Any]], to: tuple[float, float], view: int = 0) -> bool:
    """Whether the only target of these is at a pixel."""
    return len(shown) == 1 and bool(np.hypot(*np.subtract(pixel_at(page, shown[0]["wanted"], view), to)) < 1.0)


def let_go(page: Page) -> None:
    """Let go of what is pulled, and wait until nothing is and the figure rests."""
    page.mouse.up()
    assert eventually(page, lambda: pull_gap(page) == np.inf)
    settle(page)


def drag_target(page: Page, task: int, way: tuple[float, float], steps: int = 8) -> None:
    """Drag the target of a task, until it is where the pointer is."""
    start = pixel_at(page, next(t["wanted"] for t in targets(page) if t["task"] == task))
    drag(page, start, way, steps)
    end = (start[0] + way[0], start[1] + way[1])
    assert eventually(page, lambda: is_at(page, [t for t in targets(page) if t["task"] == task], end))


def box_of(page: Page, part: Locator, seconds: float = PATIENCE) -> FloatRect:
    """Where a part of the page is, once it stays there: panels slide, and are drawn anew while one chooses."""
    last: list[FloatRect | None] = [None]

    def stays() -> bool:
        slides = page.evaluate("document.getAnimations().some((each) => each instanceof CSSTransition)")
        box, before = part.bounding_box(), last[0]
        last[0] = None if slides else box
        return last[0] is not None and box == before

    assert eventually(page, stays, seconds), f"{part} never stood still, last at {last[0]}"
    assert last[0] is not None
    return last[0]


def choose_option(page: Page, label: str, option: str, tries: int = 4) -> None:
    """Choose from a list, again where the list was made anew while it was open."""
    field = page.get_by_label(label, exact=True)
    lists = page.get_by_role("listbox")
    for _ in range(tries):
        expect(lists).to_have_count(0)
        field.click()
        try:
            page.get_by_role("option", name=option, exact=True).click(timeout=500.0 * PATIENCE)
            expect(field).to_have_value(option, timeout=500.0 * PATIENCE)
        except (TooLateError, AssertionError):
            page.keyboard.press("Escape")
            continue
        expect(lists).to_have_count(0)
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
    expect(page.locator(".q-menu")).to_have_count(0)


def tab(page: Page, name: str) -> None:
    """Show another panel on the right."""
    chosen = page.locator(".poise-tabs .q-tab").filter(has=page.get_by_text(name, exact=True))
    chosen.click()
    expect(chosen).to_have_attribute("aria-selected", "true")
    settle(page)
