"""Random clicks, drags and keys on the studio's page in Chromium, and every scene opened again and again."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Error, Page, sync_playwright
from studio_browser import BLIND, FLAGS, SIZE

PATIENCE = 5000.0
"""How long a click may wait for its button, which something else may cover [ms]."""
KEYS = "f 4 d m k p ? [ ] Space Escape Delete Home End ArrowLeft ArrowRight ArrowUp Control+z Control+Shift+z Control+c"
"""Keys that are pressed, besides Control+v."""
BUTTONS = (
    "button:visible, .q-toggle:visible, .q-tab:visible, .q-item:visible, [role=option]:visible, .q-checkbox:visible"
)
NUMBERS = "input:visible"
LEFT_OUT = re.compile(
    "Send|Open file|Open a clip|Open a figure|Open pairs|Save|Film|Frames|Picture|save|CSV|BVH|NPZ|JSON|Pairs$"
)
"""Labels that are not clicked: they ask for a file, start a download, or send to a robot."""
LARGEST_MEMORY = 600.0
"""Memory of the server that must not be exceeded [MB]."""
REPORTED = 60.0
"""Time between two lines about the memory [s]."""


def monkey(door: str, seconds: float, seed: int, megabytes: Callable[[], float]) -> None:
    """Do random things for so long; fail for an error on the page, or if the server needs too much memory."""
    rng = np.random.default_rng(seed)
    _busy(door, seconds, megabytes, lambda page: _anything(page, rng))


def scenes(door: str, seconds: float, seed: int, megabytes: Callable[[], float]) -> None:
    """Open random examples, scenes and figures for so long, and pull in each; fail as `monkey` does."""
    rng = np.random.default_rng(seed)

    def visit(page: Page) -> None:
        page.keyboard.press("Escape")
        page.locator("[aria-label^='Menu:']").click(timeout=PATIENCE)
        groups = page.locator(".q-menu .q-item[aria-haspopup=true]")
        which = int(rng.integers(4))
        if which:
            groups.nth(which % 2 + 1).click(timeout=PATIENCE)
            page.wait_for_timeout(200)
        items = page.locator(".q-menu").last.locator(".q-item:not([aria-haspopup])")
        names = [word for word in items.all_inner_texts() if not re.search("…|Save", word)]
        if not names:
            return
        items.get_by_text(str(rng.choice(names)), exact=True).first.click(timeout=PATIENCE)
        page.wait_for_timeout(1500)
        _drag(page, rng)

    _busy(door, seconds, megabytes, visit)


def _busy(door: str, seconds: float, megabytes: Callable[[], float], act: Callable[[Page], None]) -> None:
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(BLIND)
        page.goto(door)
        page.wait_for_function("window.poiseStage && window.poiseStage.frames > 0")
        begun = said = time.monotonic()
        done, missed, sizes = 0, 0, [megabytes()]
        while time.monotonic() - begun < seconds:
            try:
                act(page)
            except Error:  # what was to be clicked is gone, or covered
                missed += 1
                page.keyboard.press("Escape")
            done += 1
            sizes.append(megabytes())
            assert errors == [], errors
            if time.monotonic() - said > REPORTED:
                said = time.monotonic()
                print(f"  {said - begun:4.0f} s: {done} actions, {sizes[-1]:.0f} MB", flush=True)
        browser.close()
    print(f"{seconds:.0f} s: {done} actions ({missed} missed what they aimed at) without an error")
    print(f"  memory of the server: at most {max(sizes):.0f} MB, {sizes[-1]:.0f} MB at the end")
    assert max(sizes) < LARGEST_MEMORY, "the studio needs too much memory"


def _anything(page: Page, rng: np.random.Generator) -> None:
    kind = rng.choice(["click", "drag", "key", "number", "wheel", "menu"], p=[0.35, 0.25, 0.2, 0.1, 0.05, 0.05])
    if kind == "click":
        _click(page, rng, BUTTONS)
    elif kind == "drag":
        _drag(page, rng)
    elif kind == "key":
        page.keyboard.press(str(rng.choice([*KEYS.split(), "Control+v", "?"])))
    elif kind == "number":
        _type(page, rng)
    elif kind == "wheel":
        page.mouse.move(*_somewhere(rng))
        page.mouse.wheel(0, float(rng.normal(0.0, 400.0)))
    else:
        page.mouse.click(*_somewhere(rng), button="right")
    page.wait_for_timeout(int(rng.integers(20, 200)))


def _click(page: Page, rng: np.random.Generator, what: str) -> None:
    found = page.locator(what)
    count = found.count()
    if count:
        one = found.nth(int(rng.integers(count)))
        words = f"{one.get_attribute('aria-label', timeout=PATIENCE) or ''} {one.inner_text(timeout=PATIENCE)}"
        if not LEFT_OUT.search(words):
            one.click(timeout=PATIENCE)


def _type(page: Page, rng: np.random.Generator) -> None:
    found = page.locator(NUMBERS)
    count = found.count()
    if count:
        box = found.nth(int(rng.integers(count)))
        box.fill(str(rng.choice(["0", "1", "-3", "0.5", "1e9", "nan", "", "elbow", "90"])), timeout=PATIENCE)
        box.press(str(rng.choice(["Enter", "Tab", "Escape"])), timeout=PATIENCE)


def _drag(page: Page, rng: np.random.Generator) -> None:
    page.mouse.move(*_somewhere(rng))
    page.mouse.down()
    for _ in range(int(rng.integers(1, 6))):
        page.mouse.move(*_somewhere(rng), steps=int(rng.integers(1, 8)))
    page.mouse.up()


def _somewhere(rng: np.random.Generator) -> tuple[float, float]:
    """A point of the view, mostly near its middle, where the figure is."""
    x, y = rng.normal([700.0, 450.0], [120.0, 170.0])
    return float(np.clip(x, 300.0, 1120.0)), float(np.clip(y, 95.0, 840.0))
