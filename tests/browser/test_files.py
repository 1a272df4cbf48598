"""Files and examples on the page."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import poise
from poise.engine.scene import Scene
from poise.figures import BUILT_IN
from poise.studio.modes.retarget.first_clip import greeting
from poise.studio.scenes.examples import THESIS
from poise.studio.scenes.openings import EXAMPLE_SCENES

from .hands import COMPILING, enter, example, new_scene, open_menu, press_key, said, until

pytestmark = pytest.mark.begins_with

BROKEN = 'figure = "human"\n\n[[task]]\nkind = "position"\nsite = "right_hnad"\nat = [0, 1, 0]\n'
LAMP = 'figure = "adelino"\ndescription = "a lamp"\n'


def give(page: Page, path: Path) -> None:
    page.locator(".poise-viewport input[type=file]").set_input_files(path)


def name_shown(page: Page) -> str:
    until(page, "() => window.poiseStage?.figure")
    return page.evaluate("window.poiseStage.figure.name")  # type: ignore[no-any-return]


def test_every_example_opens(page: Page) -> None:
    for name, make in EXAMPLE_SCENES.items():
        example(page, name)
        assert name_shown(page) == make().figure.name
        expect(page.locator(".poise-task")).to_have_count(len(make().tasks))


def choose_in(page: Page, group: str, name: str) -> None:
    """Choose from a menu in the menu."""
    with new_scene(page):
        menu = open_menu(page)
        menu.get_by_text(group, exact=True).click()
        menu.get_by_text(name, exact=True).click()
        expect(page.locator(".q-menu")).to_have_count(0)


def test_every_scene_of_the_thesis_opens(page: Page) -> None:
    for name, make in THESIS.items():
        choose_in(page, "Scenes of Baerlocher's thesis", name)
        scene = make()
        expect(page.locator(".poise-hint")).to_have_text(scene.description)
        assert name_shown(page) == scene.figure.name
        expect(page.locator(".poise-task")).to_have_count(len(scene.tasks))


def test_every_figure_opens(page: Page) -> None:
    for name in BUILT_IN:
        choose_in(page, "Figures", name.replace("_", " "))
        assert name_shown(page) == name


def test_a_broken_file_says_what_is_wrong_and_where_and_the_page_lives_on(page: Page, tmp_path: Path) -> None:
    example(page, "Standing")
    path = tmp_path / "wrong.toml"
    path.write_text(BROKEN)
    give(page, path)
    assert said(page, "wrong.toml:5", "Did you mean 'right_hand'?")
    assert name_shown(page) == "human"
    path.write_text(LAMP)
    with new_scene(page):
        give(page, path)
    assert name_shown(page) == "adelino"


def drop(page: Page, name: str, text: str) -> None:
    page.evaluate(
        """([name, text]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], name));
            window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
        }""",
        [name, text],
    )


def test_a_file_dropped_on_the_page_opens(page: Page) -> None:
    example(page, "Standing")
    with new_scene(page):
        drop(page, "lamp.toml", LAMP)
    assert name_shown(page) == "adelino"


def test_a_clip_dropped_on_the_page_is_a_figure_or_moves_whoever_performs(page: Page, tmp_path: Path) -> None:
    clip, path = greeting(), tmp_path / "bow.bvh"
    poise.Motion(clip.figure, clip.q[:10], clip.rate, clip.name).save(path)
    example(page, "Standing")
    with new_scene(page):
        drop(page, path.name, path.read_text())
    assert name_shown(page) not in ("human", "adelino")
    press_key(page, "Control+z")
    assert name_shown(page) == "human"
    enter(page, "retarget")
    until(page, "() => window.poiseStrip.plots.about.kind === 'clip'", seconds=COMPILING)
    drop(page, path.name, path.read_text())
    expect(page.locator(".poise-mode-panel:visible")).to_contain_text("10 frames at 24 per second")
    assert name_shown(page) == "human"
    drop(page, "broken.bvh", "HIERARCHY")
    assert said(page, "broken.bvh")
    enter(page, "pose")


def test_a_scene_whose_figure_has_no_file_is_saved_with_it(page: Page, tmp_path: Path) -> None:
    choose_in(page, "Scenes of Baerlocher's thesis", "7.3 Sliding scapula")
    menu = open_menu(page)
    with page.expect_download() as saving:
        menu.get_by_text("Save scene").click()
    path = tmp_path / "scene.zip"
    saving.value.save_as(path)
    example(page, "Standing")
    with new_scene(page):
        give(page, path)
    assert name_shown(page) == "shoulder"
    expect(page.locator(".poise-task")).to_have_count(2)


def test_the_scene_is_saved_and_opens_again(page: Page, tmp_path: Path) -> None:
    example(page, "Reach for a ball")
    menu = open_menu(page)
    with page.expect_download() as saving:
        menu.get_by_text("Save scene").click()
    path = tmp_path / "scene.toml"
    saving.value.save_as(path)
    scene = Scene.load(path)
    assert [task.label for task in scene.tasks] == ["left foot", "right foot", "balance", "gaze", "right hand"]
    example(page, "Standing")
    expect(page.locator(".poise-task")).to_have_count(3)
    with new_scene(page):
        give(page, path)
    expect(page.locator(".poise-task")).to_have_count(5)
