"""Files and examples on the page."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from poise.engine.scene import Scene
from poise.studio.openings import EXAMPLES

from .hands import picture
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


def test_every_example_opens(page: Page, screenshots: Path) -> None:
    for name, make in EXAMPLES.items():
        example(page, name)
        assert name_shown(page) == make().figure.name
        expect(page.locator(".poise-task")).to_have_count(len(make().tasks))
        picture(page, screenshots / f"example_{name.lower().replace(' ', '_')}.png")


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


def test_a_file_dropped_on_the_page_opens(page: Page) -> None:
    example(page, "Standing")
    page.evaluate(
        """text => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "lamp.toml"));
            window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
        }""",
        LAMP,
    )
    assert eventually(page, lambda: name_shown(page) == "adelino")


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
