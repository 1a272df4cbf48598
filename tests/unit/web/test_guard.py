"""The guard in front of a small application: requests of browsers and of attackers."""

import asyncio

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from poise.web.guard import Guard

PORT, SECRET = 8123, "the-secret"
HOME = f"http://127.0.0.1:{PORT}"
COOKIE = {f"poise_studio_{PORT}": SECRET}


async def _open_house(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(path: str = "/", *, local: bool = True, base: str = HOME, **options: object) -> httpx.Response:
    guard = Guard(_open_house, key=SECRET, port=PORT, local=local)

    async def once() -> httpx.Response:
        cookies = options.pop("cookies", None)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=base, cookies=cookies) as client:  # type: ignore[arg-type]
            return await client.get(path, **options)  # type: ignore[arg-type]

    return asyncio.run(once())


def knock(headers: dict[str, str], *, query: str = f"key={SECRET}", **options: object) -> list[Message]:
    """The messages that a websocket receives."""
    guard = Guard(_open_house, key=SECRET, port=PORT, for_programs="extensions" in options)
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "websocket", "path": "/studio/stream", "query_string": query.encode(), "headers": pairs}
    asyncio.run(guard(scope | options, receive, send))
    return sent


def test_the_printed_address_sets_the_cookie_and_hides_the_key() -> None:
    answer = ask(f"/?key={SECRET}&figure=hand")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?figure=hand"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"poise_studio_{PORT}={SECRET};")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_the_key_leads_nowhere_else() -> None:
    assert ask(f"{HOME}//evil.example/?key={SECRET}").headers["location"] == "/evil.example/"


def test_the_cookie_opens_the_door() -> None:
    assert ask("/", cookies=COOKIE).text == "inside"
    assert ask("/", cookies=COOKIE, headers={"origin": HOME}).text == "inside"
    assert ask("/", cookies=COOKIE, base=f"http://localhost:{PORT}").text == "inside"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "the key is missing"),
        ({"path": "/?key=wrong"}, "the key is missing"),
        ({"path": "/?key="}, "the key is missing"),
        ({"cookies": {f"poise_studio_{PORT}": "wrong"}}, "the key is missing"),
        ({"cookies": {"poise_studio_9999": SECRET}}, "the key is missing"),
        ({"headers": {"cookie": "\x01=;;;"}}, "the key is missing"),
        ({"cookies": COOKIE, "headers": {"origin": "http://evil.example"}}, "another site"),
        ({"cookies": COOKIE, "headers": {"origin": "null"}}, "another site"),
        ({"cookies": COOKIE, "headers": {"origin": f"https://127.0.0.1:{PORT}"}}, "another site"),
        ({"cookies": COOKIE, "headers": {"host": "evil.example"}}, "does not run at 'evil.example'"),
        ({"cookies": COOKIE, "headers": {"host": f"evil.example:{PORT}"}}, "does not run at"),
        ({"path": f"/?key={SECRET}", "headers": {"host": "evil.example"}}, "does not run at"),
    ],
)
def test_everyone_else_is_refused_in_a_sentence(options: dict, sentence: str) -> None:
    answer = ask(**options)
    assert answer.status_code == 403
    assert sentence in answer.text
    assert "set-cookie" not in answer.headers


def test_a_studio_for_others_answers_to_any_name_but_still_wants_the_key() -> None:
    theirs = f"http://desk.example:{PORT}"
    assert ask("/", local=False, base=theirs).status_code == 403
    assert ask("/", local=False, base=theirs, cookies=COOKIE).text == "inside"
    assert ask("/", local=False, base=theirs, cookies=COOKIE, headers={"origin": HOME}).status_code == 403


def test_websockets_are_guarded_alike() -> None:
    own = {"host": f"127.0.0.1:{PORT}", "origin": HOME, "cookie": f"poise_studio_{PORT}={SECRET}"}
    assert knock(own)[0]["type"] == "websocket.accept"
    for wrong in ({"cookie": "a=b"}, {"origin": "http://evil.example"}, {"host": "evil.example"}):
        assert knock(own | wrong)[0]["type"] == "websocket.close"


def test_programs_have_the_key_in_the_address_and_are_refused_in_a_sentence() -> None:
    here, words = {"host": f"127.0.0.1:{PORT}"}, {"websocket.http.response": {}}
    assert knock(here, extensions=words)[0]["type"] == "websocket.accept"
    start, body = knock(here, query="key=wrong", extensions=words)
    assert start["status"] == 403
    assert b"the key is missing" in body["body"]
    start, _ = knock(here | {"origin": "http://evil.example"}, extensions=words)
    assert start["status"] == 403
