"""Robots on the page: a folder with meshes is dropped, what is missing is named, one of several is chosen."""

import base64
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from poise.errors import FigureError
from poise.formats import load
from poise.formats.catalog.robots import find_robot
from poise.studio.scenes.openings import opening
from poise.studio.session.state import state_of

from .hands import eventually, new_scene, picture, said, settle

ROBOT = """<robot name="gripper"><link name="palm"><visual><geometry><mesh filename="package://x/meshes/palm.obj"/>
</geometry></visual></link></robot>"""
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
DROP_FOLDER = """(files) => {
    const entry = (name, node, path) => node instanceof Uint8Array
        ? { isFile: true, name, fullPath: path, file: (done) => done(new File([node], name)) }
        : { isDirectory: true, name, fullPath: path, createReader: () => {
            const batches = [Object.entries(node).map(([child, inner]) => entry(child, inner, `${path}/${child}`)), []];
            return { readEntries: (done) => done(batches.shift()) };
        } };
    const tree = {};
    for (const [path, data] of files) {
        const parts = path.split("/");
        const last = parts.pop();
        const folder = parts.reduce((node, part) => (node[part] ??= {}), tree);
        folder[last] = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    }
    const entries = Object.entries(tree).map(([name, node]) => entry(name, node, `/${name}`));
    const items = entries.map((each) => ({ webkitGetAsEntry: () => each }));
    const event = new Event("drop", { cancelable: true });
    event.dataTransfer = { types: ["Files"], items, files: [] };
    window.dispatchEvent(event);
}"""
"""Drops folders, which a page gets from people only."""


def drop_folder(page: Page, files: dict[str, bytes]) -> None:
    """Drop files with their folders on the page."""
    page.evaluate(DROP_FOLDER, [[path, base64.b64encode(data).decode()] for path, data in files.items()])


def name_shown(page: Page) -> str:
    return page.evaluate("window.poiseStage.figure.name")  # type: ignore[no-any-return]


def bones_drawn(page: Page, *, visible: bool = False) -> int:
    """Number of bodies that are drawn as bones, for want of a shape."""
    return page.evaluate(  # type: ignore[no-any-return]
        "visible => window.poiseStage.figure.parts.filter((part) => part.bone && !(visible && part.collides)).length",
        visible,
    )


@pytest.mark.begins_with("Standing")
def test_a_folder_says_what_it_misses_and_gets_it_later(page: Page) -> None:
    with new_scene(page):
        drop_folder(page, {"gripper/urdf/gripper.urdf": ROBOT.encode()})
    assert name_shown(page) == "gripper"
    assert said(page, "1 mesh is missing", "palm.obj")
    assert bones_drawn(page) > 0
    with new_scene(page):
        drop_folder(page, {"meshes/palm.obj": MESH.encode(), "meshes/other.obj": MESH.encode()})
    assert eventually(page, lambda: bones_drawn(page) == 0)


@pytest.mark.begins_with("Standing")
def test_one_of_several_robots_is_chosen(page: Page) -> None:
    two = ROBOT.replace("gripper", "claw").encode()
    drop_folder(page, {"all/one.urdf": ROBOT.encode(), "all/two.urdf": two, "all/palm.obj": MESH.encode()})
    dialog = page.locator(".q-dialog")
    expect(dialog).to_contain_text("Which one")
    with new_scene(page):
        dialog.get_by_text("two.urdf").click()
    assert name_shown(page) == "claw"


@pytest.mark.slow
def test_the_folder_of_g1_looks_as_from_the_command_line(page: Page, screenshots: Path) -> None:
    try:
        urdf = find_robot("g1")
    except FigureError:
        urdf = None
    if urdf is None:
        pytest.skip("the robot g1 is not on this machine")
    folder = urdf.parents[1]
    files = {f"g1/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    chosen = {name: data for name, data in files.items() if not name.endswith(".urdf") or name.endswith(urdf.name)}
    with new_scene(page):
        drop_folder(page, chosen)
    settle(page)
    assert name_shown(page).startswith("g1")
    from_command_line = [part for part in state_of(opening(load("g1"))).look.parts if part.is_bone]
    assert bones_drawn(page, visible=True) == len(from_command_line)
    picture(page, screenshots / "g1_dropped.png")
