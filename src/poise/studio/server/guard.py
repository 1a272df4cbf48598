"""The door of the studio: only whoever was given the key comes in.

A page on the web can make a browser talk to any port of this machine. The studio therefore answers only requests that
name it as their host, that come from its own pages, and that carry a cookie which only the address printed at the start
sets.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
KEY = "key"


class Guard:
    """Refuses what does not belong here, with a sentence, before the application sees it."""

    def __init__(self, app: ASGIApp, *, key: str, port: int, local: bool = True) -> None:
        """Guard `app`; a `local` studio answers only to the names of this machine itself."""
        self.app = app
        self.key = key
        self.port = port
        self.cookie = f"poise_studio_{port}"
        self.hosts = {f"{name}:{port}" for name in LOOPBACK} if local else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        answer = self.answer(scope)
        if answer is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await answer(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    def answer(self, scope: Scope) -> Response | None:
        """What to answer instead of the application; None for those who may pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.hosts is not None and host not in self.hosts:
            return _refused(f"this studio is not at {host!r}; use the address that was printed when it started.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refused("this request comes from another page, so the studio does not answer it.")
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == KEY), None)
        if scope["type"] == "http" and given is not None and self._is_key(given):
            return self._welcome(scope, [pair for pair in query if pair[0] != KEY])
        if self._is_key(_cookie(headers, self.cookie)):
            return None
        return _refused("the studio needs its key: open the whole address that was printed when it started.")

    def _is_key(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.key.encode())

    def _welcome(self, scope: Scope, query: list[tuple[str, str]]) -> Response:
        """Set the cookie, and send the browser to the same address without the key."""
        path = "/" + scope["path"].lstrip("/") + (f"?{urlencode(query)}" if query else "")
        answer = RedirectResponse(path, status_code=303)
        answer.set_cookie(self.cookie, self.key, httponly=True, samesite="strict", path="/")
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer


def _refused(sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status_code=403)


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""
