"""Files and examples on the page."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import poise
from poise.engine.scene import Scene
from poise.figures import BUILT_IN
from poise.studio.mode_examples import THESIS
from poise.studio.mode_retarget_clip import greeting
from poise.studio.openings import EXAMPLES

from .test_pulling import example
from .test_studio import eventually

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

BROKEN = 'figure = "human"\n\n[[task]]\nkind = "position"\nsite = "right_hnad"\nat = [0, 1, 0]\n'
LAMP = 'figure = "adelino"\ndescription = "a lamp"\n'


@pytest.fixture
def page(lasting_page: Page) -> Page:
    return lasting_page


def give(page: Page, path: Path) -> None:
    page.locator(".poise-viewport input[type=file]").set_input_files(path)


def name_shown(page: Page) -> str:
    return page.evaluate("window.poiseStage.figure.name")  # type: ignore[no-any-return]


def test_every_example_opens(page: Page) -> None:
    for name, make in EXAMPLES.items():
        example(page, name)
        assert name_shown(page) == make().figure.name
        expect(page.locator(".poise-task")).to_have_count(len(make().tasks))


def thesis(page: Page, name: str) -> None:
    page.get_by_role("button").filter(has_text="menu").click()
    page.locator(".q-menu").get_by_text("Scenes of the thesis").click()
    page.locator(".q-menu").get_by_text(name, exact=True).click()
    expect(page.locator(".q-menu")).to_have_count(0)


def test_every_scene_of_the_thesis_opens(page: Page) -> None:
    for name, make in THESIS.items():
        thesis(page, name)
        scene = make()
        expect(page.locator(".poise-hint")).to_have_text(scene.description)
        assert eventually(page, lambda scene=scene: name_shown(page) == scene.figure.name)
        expect(page.locator(".poise-task")).to_have_count(len(scene.tasks))


def test_every_figure_opens(page: Page) -> None:
    for name in BUILT_IN:
        page.get_by_role("button").filter(has_text="menu").click()
        page.locator(".q-menu").get_by_text("Figures", exact=True).click()
        page.locator(".q-menu").get_by_text(name.replace("_", " "), exact=True).click()
        expect(page.locator(".q-menu")).to_have_count(0)
        assert eventually(page, lambda name=name: name_shown(page) == name)


def test_a_broken_file_says_what_is_wrong_and_where_and_the_page_lives_on(page: Page, tmp_path: Path) -> None:
    example(page, "Standing")
    path = tmp_path / "wrong.toml"
    path.write_text(BROKEN)
    give(page, path)
    expect(page.locator(".q-notification")).to_contain_text("wrong.toml:5")
    expect(page.locator(".q-notification")).to_contain_text("Did you mean 'right_hand'?")
    assert name_shown(page) == "human"
    path.write_text(LAMP)
    give(page, path)
    assert eventually(page, lambda: name_shown(page) == "adelino")


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
    drop(page, "lamp.toml", LAMP)
    assert eventually(page, lambda: name_shown(page) == "adelino")


def test_a_clip_dropped_on_the_page_is_a_figure_or_moves_whoever_performs(page: Page, tmp_path: Path) -> None:
    clip, path = greeting(), tmp_path / "bow.bvh"
    poise.Motion(clip.figure, clip.q[:10], clip.rate, clip.name).save(path)
    example(page, "Standing")
    drop(page, path.name, path.read_text())
    assert eventually(page, lambda: name_shown(page) not in ("human", "adelino"))
    page.keyboard.press("Control+z")
    assert eventually(page, lambda: name_shown(page) == "human")
    page.locator(".poise-modes .q-btn").last.click()
    page.wait_for_function("window.poiseStrip.plots.about.kind === 'clip'", timeout=240_000)
    drop(page, path.name, path.read_text())
    expect(page.locator(".poise-mode-panel:visible")).to_contain_text("10 frames at 24 per second", timeout=60_000)
    assert name_shown(page) == "human"
    drop(page, "broken.bvh", "HIERARCHY")
    expect(page.locator(".q-notification").last).to_contain_text("broken.bvh")
    page.locator(".poise-modes .q-btn").first.click()


def test_a_scene_that_cannot_be_saved_says_why_and_the_page_stays(page: Page) -> None:
    thesis(page, "7.3 A scapula that slides")
    page.get_by_role("button").filter(has_text="menu").click()
    page.get_by_text("Save the scene").click()
    expect(page.locator(".q-notification").last).to_contain_text("Custom")
    assert name_shown(page) == "shoulder"


def test_the_scene_is_saved_and_opens_again(page: Page, tmp_path: Path) -> None:
    example(page, "Reach for a ball")
    page.get_by_role("button").filter(has_text="menu").click()
    with page.expect_download() as saving:
        page.get_by_text("Save the scene").click()
    path = tmp_path / "scene.toml"
    saving.value.save_as(path)
    scene = Scene.load(path)
    assert [task.label for task in scene.tasks] == ["left foot", "right foot", "balance", "gaze", "right hand"]
    give(page, path)
    expect(page.locator(".poise-task")).to_have_count(5)
