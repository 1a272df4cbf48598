"""Access control of the studio: only requests with the studio's key are answered.

Any page on the web can make a browser send requests to a port of this machine. The studio therefore answers a request
only if its Host header names the studio, if it comes from one of the studio's own pages, and if it carries a cookie
that is set by opening the address printed at the start, which contains the key.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Host names by which a machine addresses itself."""
KEY_PARAMETER = "key"
"""Parameter of the address that contains the key."""


class Guard:
    """An ASGI middleware that answers unauthorised requests with status 403 and a sentence."""

    def __init__(self, app: ASGIApp, *, key: str, port: int, local: bool = True) -> None:
        """Guard `app`; with `local`, only requests to this machine's own names (such as localhost) are accepted."""
        self.app = app
        self.key = key
        self.port = port
        self.cookie = f"poise_studio_{port}"
        self.hosts = {f"{name}:{port}" for name in LOOPBACK} if local else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or answer it here."""
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
        """The response to send instead of the application's; None for a request that may pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.hosts is not None and host not in self.hosts:
            return _refused(f"the studio does not run at {host!r}; open the address that was printed when it started.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refused("this request comes from a page of another site, so the studio does not answer it.")
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == KEY_PARAMETER), None)
        if scope["type"] == "http" and given is not None and self._is_key(given):
            return self._redirect_with_cookie(scope, [pair for pair in query if pair[0] != KEY_PARAMETER])
        if self._is_key(_cookie(headers, self.cookie)):
            return None
        return _refused("the key is missing: open the whole address that was printed when the studio started.")

    def _is_key(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.key.encode())

    def _redirect_with_cookie(self, scope: Scope, query: list[tuple[str, str]]) -> Response:
        """A response that sets the cookie and redirects to the same address without the key."""
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
