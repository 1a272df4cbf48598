"""The routes for files, and messages of pages, with names and numbers that nobody expects: no request ends in a 500."""

import asyncio
import io
import json
import zipfile
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from poise.figures import built_in
from poise.studio.control.modes import Modes
from poise.studio.server.animation_routes import animation_routes
from poise.studio.server.file_routes import file_routes
from poise.studio.server.mode_routes import mode_routes
from poise.studio.session.edits.scene import with_parts
from poise.studio.session.session import Session
from poise.studio.session.state import with_scene
from poise.studio.wire.connection import take
from poise.studio.wire.viewport import ACTIONS, point

NAMES = ["中", "龍" * 300, "a" * 1000, 'quote"d', "new\nline", "../../up", "é ñ", "🙂", "a/b", ".", "CON", "%2e%2e"]


@pytest.fixture
def modes() -> Modes:
    return Modes(Session(built_in("arm")))


def asked(modes: Modes, method: str, path: str, **options: Any) -> httpx.Response:
    app = FastAPI()
    app.include_router(file_routes(modes))
    app.include_router(mode_routes(modes))
    app.include_router(animation_routes(modes))

    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://studio") as client:
            return await client.request(method, path, **options)

    return asyncio.run(once())


def show(modes: Modes, name: str, *, edited: bool) -> None:
    """Show a figure of this name; an edited one has no file."""
    figure = built_in("arm").replaced(name=name)
    scene = modes.session.state.scene
    origin = None if edited else scene.origin
    modes.session.update(lambda state: with_scene(state, with_parts(scene, figure=figure, origin=origin)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("edited", [False, True])
def test_a_figure_of_any_name_can_be_saved(modes: Modes, name: str, edited: bool) -> None:
    show(modes, name, edited=edited)
    for path in ("/studio/figure.toml", "/studio/scene.toml", "/studio/posture.json"):
        answer = asked(modes, "GET", path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-disposition"].isascii()


def test_the_name_of_a_download_keeps_its_letters(modes: Modes) -> None:
    show(modes, "中", edited=True)
    assert (
        "filename*=UTF-8''%E4%B8%AD.figure.toml"
        in asked(modes, "GET", "/studio/figure.toml").headers["content-disposition"]
    )


@pytest.mark.parametrize("name", [*NAMES, "", "\0", "a" * 300 + ".urdf", "龍" * 100 + ".figure.toml", "x.zip"])
def test_a_file_of_any_name_is_opened_or_refused_in_a_sentence(modes: Modes, name: str) -> None:
    answer = asked(modes, "POST", "/studio/open", params={"name": name}, content=b"nonsense")
    assert answer.status_code == 422
    assert len(answer.text) < 500
    assert answer.text.count("\n") <= name.count("\n")


def test_a_damaged_archive_is_refused_in_a_sentence(modes: Modes) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scene.toml", "figure = 'arm'\n" * 50)
    data = bytearray(packed.getvalue())
    start = data.index(b"scene.toml") + len(b"scene.toml")
    data[start : start + 8] = b"\xff" * 8
    answer = asked(modes, "POST", "/studio/open", params={"name": "scene.zip"}, content=bytes(data))
    assert answer.status_code == 422
    assert "the archive cannot be read" in answer.text


NUMBERS = ["1e999", "-1e999", "NaN", "1e300", "-1", "99999999999999999999", "null", '"x"', "[]", "{}", "true"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_a_message_with_any_number_is_obeyed_or_ignored(modes: Modes, action: str, number: str) -> None:
    session = modes.session
    fields = ("body", "freedom", "task", "obstacle", "force", "amount", "at", "point", "rotation", "arrow", "part")
    given = ", ".join(f'"{field}": {number}' for field in (*fields, "gesture"))
    text = f'{{"do": "{action}", "figure": {session.state.figure_number}, {given}}}'
    take(text, lambda message: point(session, "page", message))
    single = json.dumps({"do": action, "figure": session.state.figure_number, "at": [0, 0, 0], "point": [0, 0, 0]})
    take(f'{single[:-1]}, "body": {number}}}', lambda message: point(session, "page", message))
    session.tick()
    assert all(abs(value) < 1e6 for value in session.state.posture.q)


@pytest.mark.parametrize("text", ["[" * 999, "", "3", '"do"', "[1]", "{}", '{"do": "fly"}', '{"do": 1e999}', "\ud800"])
def test_a_message_that_is_none_is_ignored(modes: Modes, text: str) -> None:
    take(text, lambda message: point(modes.session, "page", message))
    take(text, modes.hear)


@pytest.mark.parametrize("name", [*NAMES, "walk.bvh", "walk.csv"])
def test_what_is_no_clip_is_refused_under_the_keys(modes: Modes, name: str) -> None:
    answer = asked(modes, "POST", "/studio/animation/clip", params={"name": name}, content=b"this is no clip")
    assert answer.status_code == 422
    assert answer.text.endswith(".")
    assert modes.session.state.scene.animation is None
