"""The studio in Chromium: frames drawn per second, and from a pointer's move to the picture that shows it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SECONDS = 10.0
SIZE = {"width": 1400, "height": 850}
BLIND = """Object.defineProperty(window, "poiseStage", {
    get() { return this.keptStage; },
    set(stage) {
        stage.render = () => (stage.drawn = stage.step);
        this.keptStage = stage;
    },
});"""
"""Lets the stage do everything but draw."""
WATCH = """() => {
    const stage = window.poiseStage;
    const [pose, render] = [stage.pose.bind(stage), stage.render.bind(stage)];
    const sent = [];
    window.delays = { arrived: [], drawn: [] };
    window.drawn = 0;
    let arrived = null;
    const key = (at) => Array.from(new Float32Array(at)).join();
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) {
        const message = typeof text === "string" && text.includes('"drag"') ? JSON.parse(text) : null;
        if (message) sent.push([key(message.at), window.moved ?? performance.now()]);
        return send.call(this, text);
    };
    window.addEventListener("pointermove", (event) => (window.moved = event.timeStamp), { capture: true });
    stage.pose = (frame) => {
        pose(frame);
        const pull = stage.overlays.targets.find((target) => target.task < 0);
        const i = pull ? sent.findIndex(([at]) => at === key(pull.wanted.toArray())) : -1;
        if (i < 0) return;
        arrived = sent[i][1];
        window.delays.arrived.push(performance.now() - arrived);
        sent.splice(0, i + 1);
    };
    stage.render = () => {
        render();
        if (arrived !== null) window.delays.drawn.push(performance.now() - arrived);
        arrived = null;
        window.drawn += 1;
    };
}"""
PIXEL = """number => { const stage = window.poiseStage;
    const mesh = stage.surfaces.find((each) => each.userData.body === number);
    mesh.geometry.computeBoundingSphere();
    stage.root.updateMatrixWorld();
    return stage.views[0].pixel(mesh.geometry.boundingSphere.center.clone().applyMatrix4(mesh.matrixWorld)); }"""


def measure_browser(door: str, hand: int, lead: Callable[[float], None]) -> None:
    """Drag the hand in Chromium, then let somebody else do it; once without drawing, once with.

    Args:
        door: The address that lets one in.
        hand: Number of the body to drag.
        lead: Drags it from elsewhere for so many seconds, sixty times per second.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for blind in (True, False):
            page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
            if blind:
                page.add_init_script(BLIND)
            page.goto(door)
            page.wait_for_function("window.poiseStage && window.poiseStage.frames > 0")
            page.wait_for_timeout(1000)
            page.evaluate(WATCH)
            print(f"Chromium at 1400 x 850, {'nothing drawn' if blind else 'drawn in software'}")
            _drag(page, hand)
            _watch(page, lead)
            page.close()
        browser.close()


def _drag(page: Page, hand: int) -> None:
    x, y = page.evaluate(PIXEL, hand)
    page.mouse.move(x, y)
    page.mouse.down()
    start, moves = time.perf_counter(), 0
    while (now := time.perf_counter() - start) < SECONDS:
        page.mouse.move(x - 60 + 60 * np.cos(3 * now), y - 80 + 60 * np.sin(3 * now))
        moves += 1
    page.mouse.up()
    found, drawn = page.evaluate("[window.delays, window.drawn]")
    print(f"  dragged there, {moves / SECONDS:.0f} moves/s: {drawn / SECONDS:.0f} frames/s")
    for name, delays in found.items():
        median, most = np.percentile(delays, [50, 95])
        print(f"  move to {name}: median {median:.0f} ms, 95 % below {most:.0f} ms")


def _watch(page: Page, lead: Callable[[float], None]) -> None:
    lead(2.0)
    before = page.evaluate("window.drawn")
    lead(SECONDS)
    drawn, ratio = page.evaluate("[window.drawn, window.poiseStage.ratio]")
    print(f"  dragged from elsewhere, 60 moves/s: {(drawn - before) / SECONDS:.0f} frames/s, pixels {ratio:g}")
