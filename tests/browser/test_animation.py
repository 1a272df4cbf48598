"""The timeline: an animation made by pointer and keys, saved, opened again, exported and filmed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

import poise
from poise.engine.scene import Scene
from poise.figure.collision.collisions import Collisions, node_frames
from poise.figure.collision.soles import polygon_through, sole_corners
from poise.motion.clip.motion import Motion
from poise.studio.modes.retarget.first_clip import greeting
from poise.tasks.avoid import solid_task

from .hands import (
    box_of,
    drag,
    eventually,
    free_point,
    handles,
    new_scene,
    notices,
    open_menu,
    picture,
    pixel_at,
    pixel_of,
    said,
    settle,
    targets,
    until,
)
from .human import BODIES, HAND

pytestmark = pytest.mark.begins_with("Standing")
EDGE = 14
"""Free space at both ends of the ruler [pixels]."""
DEEPEST = 1e-3
"""Deepest penetration that nobody sees [m]."""
SOLVED = "() => window.poiseTimeline.about.solved.every(([, , done]) => done)"
NOW = "time => Math.abs(window.poiseTimeline.time - time) < 0.017"


class Animator:
    """Somebody who animates, and counts what they do: every click, drag and key is one action."""

    def __init__(self, page: Page) -> None:
        self.page, self.actions = page, 0

    def press(self, keys: str) -> None:
        self.actions += 1
        self.page.keyboard.press(keys)

    def zoom_out(self) -> None:
        """Turn the wheel over the view, so that there is room to walk."""
        self.actions += 1
        self.page.mouse.move(*pixel_of(self.page, HAND))
        self.page.mouse.wheel(0, 900)
        self.page.wait_for_timeout(800)

    def click(self, part: Locator) -> None:
        self.actions += 1
        part.click()

    def go_to(self, seconds: float) -> None:
        """Click the ruler."""
        self.actions += 1
        ruler = box_of(self.page, self.page.locator(".poise-keys-ruler"))
        length = self.page.evaluate("window.poiseTimeline.about.length")
        x = ruler["x"] + EDGE + (ruler["width"] - 2 * EDGE) * seconds / length
        self.page.mouse.click(x, ruler["y"] + 0.7 * ruler["height"])
        until(self.page, NOW, seconds)
        settle(self.page)

    def key(self) -> None:
        """Make a key, and wait until the frames are solved."""
        before = self.page.evaluate("window.poiseTimeline.about.keys.length")
        self.press("k")
        until(self.page, "count => window.poiseTimeline.about.keys.length > count", before)
        until(self.page, SOLVED)
        settle(self.page)

    def select_task(self, task: int, name: str) -> None:
        """Click the name of a task in the list, so that its target has handles."""
        self.click(self.page.locator(".poise-task").get_by_text(name, exact=True))
        until(self.page, "task => window.poiseStage.selection.what?.task === task", task)

    def push_target(self, task: int, axis: int, way: float) -> None:
        """Drag an arrow of the selected target along its axis [m]."""
        self.actions += 1
        shown = handles(self.page)
        arrow = next(k for k, each in enumerate(shown) if each["kind"] == "move" and abs(each["axis"][axis]) > 0.99)
        wanted, along = self._place(task), way * np.eye(3)[axis]
        spot = free_point(self.page, arrow)
        step = np.subtract(pixel_at(self.page, wanted + along), pixel_at(self.page, wanted))
        drag(self.page, spot, tuple(step.tolist()), steps=10)
        assert eventually(self.page, lambda: (self._place(task) - wanted) @ along > 0.5 * way**2)
        settle(self.page)

    def type_target(self, task: int, letter: str, axis: int, value: float) -> None:
        """Enter a coordinate of the selected target [m]."""
        self.actions += 1
        field = (
            self.page.locator(".poise-side:visible").get_by_label(letter, exact=True).nth(1)
        )  # after those of the offset
        field.fill(f"{value}")
        field.press("Tab")
        assert eventually(self.page, lambda: abs(self._place(task)[axis] - value) < 1e-3)
        settle(self.page)

    def pin(self, body: int) -> None:
        """Double-click a part."""
        self.actions += 1
        with new_scene(self.page):
            self.page.mouse.dblclick(*pixel_of(self.page, body))

    def drag_target(self, task: int, way: tuple[float, float, float]) -> None:
        """Drag the mark of a target by a way in the world, seen in perspective [m]."""
        self.actions += 1
        wanted = self._place(task)
        start, end = (pixel_at(self.page, at) for at in (wanted, wanted + np.array(way)))
        drag(self.page, start, (end[0] - start[0], end[1] - start[1]), steps=10)
        assert eventually(self.page, lambda: float(np.linalg.norm(self._place(task) - wanted)) > 0.1)
        settle(self.page)

    def _place(self, task: int) -> np.ndarray:
        return np.array(next(each["wanted"] for each in targets(self.page) if each["task"] == task))


def downloaded(page: Page, click: Callable[[], object]) -> tuple[str, bytes]:
    with page.expect_download() as saving:
        click()
    return saving.value.suggested_filename, Path(saving.value.path()).read_bytes()


def export(page: Page, words: str) -> tuple[str, bytes]:
    def click() -> None:
        page.locator(".poise-keys-bar").get_by_role("button", name="Export").click()
        page.locator(".q-menu").get_by_text(words, exact=True).click()

    return downloaded(page, click)


def take_from_a_shelf(page: Page) -> Animator:
    """Ten seconds: four steps to a shelf, crouch and take, stand up, look around."""
    person = Animator(page)
    person.zoom_out()
    person.key()
    for time, task, way in ((1.2, 0, 0.3), (2.5, 1, 0.6), (3.8, 0, 0.6), (5.0, 1, 0.3)):
        person.go_to(time)
        person.select_task(task, ("left foot", "right foot")[task])
        person.push_target(task, 2, way)
        person.key()
    person.go_to(6.5)
    person.pin(HAND)
    person.select_task(3, "pinned right hand")
    person.drag_target(3, (0.0, -0.35, 0.0))
    person.type_target(3, "z", 2, 1.35)
    person.key()
    person.go_to(6.5)  # the arrow keys are the timeline's again
    person.press("ArrowLeft")  # back to the fourth step
    until(page, NOW, 5.0)
    person.press("Control+c")
    person.go_to(8.2)
    person.press("Control+v")
    until(page, "() => window.poiseTimeline.about.keys.length === 7")
    person.go_to(9.9)
    person.actions += 2  # the menu of the head, and its item
    with new_scene(page):
        page.mouse.click(*pixel_of(page, BODIES.index("head")), button="right")
        page.locator(".q-menu").get_by_text("Add task: look at", exact=True).click()
    person.drag_target(3, (0.9, 0.1, -0.2))
    person.key()
    return person


def looked_after(motion: Motion) -> None:
    """Feet stand still while they stand, the figure is balanced, passes through nothing, and keeps its limits."""
    figure = motion.figure
    solid = solid_task(figure)
    assert solid is not None
    collisions = Collisions(figure, solid.obstacles, reach=0.02)
    for posture in motion:
        assert not figure.violations(posture)
        count = collisions.nearest(*node_frames(figure, posture))
        pairs = collisions.rows.pair[:count]
        assert (collisions.neutral_depth[pairs] - collisions.rows.distance[:count]).max(initial=0.0) < DEEPEST
        soles = [
            figure.pose_of(part, posture).apply(corner)
            for part in ("left_foot", "right_foot", "left_toes", "right_toes")
            for corner in sole_corners(figure, part)
        ]
        assert polygon_through(posture, np.array([point for point in soles if point[1] < 0.004])).inside > 0.0
    for foot in ("left_foot", "right_foot"):
        poses = [figure.pose_of(foot, posture) for posture in motion]
        heights = np.array([[pose.apply(corner)[1] for corner in sole_corners(figure, foot)[:4]] for pose in poses])
        stands = heights.max(axis=1) < 1e-5
        way = np.linalg.norm(np.diff([pose.position for pose in poses], axis=0), axis=1)
        assert way[stands[1:] & stands[:-1]].max() < 1e-6


def test_ten_seconds_in_less_than_sixty_actions(page: Page, screenshots: Path, tmp_path: Path) -> None:
    person = take_from_a_shelf(page)
    assert person.actions < 60
    page.wait_for_timeout(300)
    picture(page, screenshots / "animation_keys.png")

    name, data = downloaded(page, lambda: open_menu(page).get_by_text("Save scene", exact=True).click())
    (tmp_path / name).write_bytes(data)
    scene = Scene.load(tmp_path / name)
    assert scene.animation is not None
    assert len(scene.animation.keys) == 8
    assert scene.animation.duration == pytest.approx(9.9)

    files = {}
    for ending in ("CSV", "BVH", "JSON", "NPZ"):
        name, data = export(page, f"Motion as {ending}")
        files[ending] = tmp_path / name
        files[ending].write_bytes(data)
    motion = Motion.load(files["NPZ"], scene.figure)
    assert len(motion) == 298
    looked_after(motion)
    hand = motion.positions(["right_hand"])[:, 0]
    assert hand[195, 1] < 0.7 < hand[150, 1], "takes something low at 6.5 s"
    assert len(poise.load_clip(files["BVH"])) == len(poise.load_clip(files["JSON"])) == 298

    with new_scene(page):  # an empty scene, and the saved one again
        page.get_by_role("button").filter(has_text="menu").click()
        page.locator(".q-menu").get_by_text("Standing", exact=True).click()
    assert page.evaluate("window.poiseTimeline.about.keys.length") == 0
    with new_scene(page):
        page.locator(".poise-viewport input[type=file]").set_input_files(
            str(tmp_path / next(tmp_path.glob("*.toml")).name)
        )
    until(page, "() => window.poiseTimeline.about.keys.length === 8")
    until(page, SOLVED)
    again = tmp_path / "again.npz"
    again.write_bytes(export(page, "Motion as NPZ")[1])
    assert np.array_equal(Motion.load(again, scene.figure).q, motion.q), "the same keys make the same motion"

    picture_name, data = export(page, "Picture, transparent")
    assert picture_name.endswith(".png")
    image = np.asarray(Image.open(io.BytesIO(data)))
    assert image.shape[2] == 4
    assert image[0, 0, 3] == 0
    assert image[..., 3].max() == 255
    (screenshots / "animation_transparent.png").write_bytes(data)


def test_playing_scrubbing_and_the_keyboard(page: Page) -> None:
    person = Animator(page)
    person.key()
    person.go_to(1.0)
    person.select_task(0, "left foot")
    person.push_target(0, 2, 0.25)
    person.key()
    person.press("Home")
    until(page, NOW, 0.0)
    person.go_to(0.0)  # the view has the focus, where arrows move the selected target
    person.press("Shift+ArrowRight")
    until(page, NOW, 1 / 30)
    person.press("ArrowRight")
    until(page, NOW, 1.0)
    person.press("ArrowLeft")
    until(page, NOW, 0.0)
    trails = page.get_by_role("button", name="Show the paths of hands, feet and head")
    trails.click()
    expect(trails).to_have_attribute("data-on", "true")
    person.press(" ")  # plays, although the button has the focus
    until(page, "() => !window.poiseTimeline.about.playing && window.poiseTimeline.time > 0.99")
    expect(trails).to_have_attribute("data-on", "true")
    trails.click()
    ruler = box_of(page, page.locator(".poise-keys-ruler"))
    at = lambda seconds: ruler["x"] + EDGE + (ruler["width"] - 2 * EDGE) * seconds / 10.0  # noqa: E731
    high = ruler["y"] + 0.7 * ruler["height"]
    drag(page, (at(1.0), high), (at(2.0) - at(1.0), 0.0), steps=6)
    until(page, "() => Math.abs(window.poiseTimeline.about.keys[1].time - 2) < 0.05")
    person.press("Delete")
    until(page, "() => window.poiseTimeline.about.keys.length === 1")
    person.press("Control+z")
    until(page, "() => window.poiseTimeline.about.keys.length === 2")
    assert notices(page) == []


def test_a_clip_is_chosen_and_plays_under_the_keys(page: Page, tmp_path: Path) -> None:
    clip, path = greeting(), tmp_path / "bow.bvh"
    poise.Motion(clip.figure, clip.q[:10], clip.rate, clip.name).save(path)
    Animator(page).key()
    for given, words in ((b"this is no clip", None), (path.read_bytes(), "Under the keys: ")):
        path.write_bytes(given)
        page.locator(".poise-keys-bar").get_by_role("button", name="Play a clip under the keys").click()
        with page.expect_file_chooser() as choosing:
            page.get_by_role("button", name="Choose a clip …").click()
        choosing.value.set_files(path)
        if words is None:
            assert said(page, "bow.bvh")
            page.keyboard.press("Escape")
        else:
            expect(page.get_by_text(words)).to_be_visible()
    page.keyboard.press("Escape")
    until(page, SOLVED)


@pytest.mark.slow
def test_a_film_has_every_frame(page: Page, screenshots: Path) -> None:
    person = Animator(page)
    person.key()
    person.go_to(0.4)
    person.pin(HAND)
    person.drag_target(3, (0.0, 0.2, 0.0))
    person.key()
    name, data = export(page, "Film (WebM)")
    assert name.endswith(".webm")
    assert data[:4] == bytes.fromhex("1a45dfa3")
    (screenshots / "animation.webm").write_bytes(data)
    _, data = export(page, "Frames (PNG)")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        pictures = [np.asarray(Image.open(io.BytesIO(archive.read(each)))).astype(int) for each in names]
    assert len(names) == 13
    assert np.abs(pictures[0] - pictures[-1]).max() > 50, "the hand has moved"
