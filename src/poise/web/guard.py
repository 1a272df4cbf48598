"""Access control: only requests with the server's key are answered.

Any page on the web can make a browser send requests to a port of this machine. A server therefore answers a request
only if its Host header names the server, if it does not come from another site's page, and if it has the key. Pages of
the studio have it in a cookie, which is set by opening the address printed at the start; programs have no cookies and
open a web socket at an address with the key.
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

    def __init__(
        self,
        app: ASGIApp,
        *,
        key: str,
        port: int,
        local: bool = True,
        for_programs: bool = False,
        who: str = "the studio",
    ) -> None:
        """Guard an application.

        Args:
            app: The application.
            key: The key.
            port: The port at which the server listens.
            local: Whether only requests to this machine's own names, such as localhost, are accepted.
            for_programs: Whether a web socket may have the key in its address instead of a cookie.
            who: The server, for the sentences of refusals.
        """
        self.app, self.for_programs, self.who = app, for_programs, who
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
        elif "websocket.http.response" in scope.get("extensions", {}):
            await _refuse_in_words(answer, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    def answer(self, scope: Scope) -> Response | None:
        """The response to send instead of the application's; None for a request that may pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.hosts is not None and host not in self.hosts:
            return _refused(f"{self.who} does not run at {host!r}; open the address that was printed when it started.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refused(f"this request comes from a page of another site, so {self.who} does not answer it.")
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == KEY_PARAMETER), None)
        if scope["type"] == "http" and given is not None and self._is_key(given):
            return self._redirect_with_cookie(scope, [pair for pair in query if pair[0] != KEY_PARAMETER])
        if self.for_programs and scope["type"] == "websocket" and given is not None and self._is_key(given):
            return None
        if self._is_key(_cookie(headers, self.cookie)):
            return None
        return _refused(f"the key is missing: open the whole address that was printed when {self.who} started.")

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


async def _refuse_in_words(answer: Response, send: Send) -> None:
    """Answer a web socket's handshake with a response, which says why it is refused."""
    start = {"type": "websocket.http.response.start", "status": answer.status_code, "headers": answer.raw_headers}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": bytes(answer.body)})


def _refused(sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status_code=403)


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""
