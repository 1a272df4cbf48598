"""The page that is shown before the studio itself can be: a progress bar, and what is being got ready."""

from __future__ import annotations

import json
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from poise.studio.session.readiness import Progress

PROGRESS_PATH = "/getting-ready"
"""Address of the progress, as JSON; the studio itself has no such address, by which the page knows that it is there."""
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>poise studio</title>
<style>
  :root { color-scheme: light dark; }
  body { margin: 0; min-height: 100vh; display: grid; place-content: center;
    font: 16px/1.5 Roboto, system-ui, sans-serif; }
  h1 { font-size: 20px; font-weight: 500; margin: 0 0 12px; }
  main { width: 30rem; max-width: 80vw; }
  #track { height: 8px; border-radius: 4px; background: rgba(128, 128, 128, 0.25); overflow: hidden; }
  #bar { height: 100%; width: 0; background: #f28c1e; transition: width 0.5s linear; }
  p { margin: 12px 0 0; opacity: 0.75; font-variant-numeric: tabular-nums; }
</style>
<main>
  <h1>poise studio</h1>
  <div id="track"><div id="bar"></div></div>
  <p id="sentence">Getting ready …</p>
  <p>Compiling happens once on this machine. The figure appears here as soon as it can be shown.</p>
</main>
<script>
  async function look() {
    try {
      const answer = await fetch("PATH");
      if (!answer.ok) { location.reload(); return; }
      const [share, sentence] = await answer.json();
      document.getElementById("bar").style.width = `${100 * share}%`;
      document.getElementById("sentence").textContent = sentence;
    } catch { /* the studio is taking over */ }
    setTimeout(look, 500);
  }
  look();
</script>
</html>
""".replace("PATH", PROGRESS_PATH)


class WaitingPage:
    """Answers at the studio's address inside a `with` block; afterwards the studio can use the same socket."""

    def __init__(self, listener: socket.socket, progress: Progress) -> None:
        """Show a progress at an open socket, which stays open."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(progress), bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listener
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.1], name="poise waiting page")

    def __enter__(self) -> None:
        """Start to answer."""
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop to answer."""
        self._server.shutdown()
        self._thread.join()


def _handler(progress: Progress) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers with the page, or with the progress."""

        def do_GET(self) -> None:
            if self.path == PROGRESS_PATH:
                self._answer(HTTPStatus.OK, "application/json", json.dumps(progress() or (1.0, "Ready.")))
            else:
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/html; charset=utf-8", PAGE)

        def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Print nothing."""

    return Handler
