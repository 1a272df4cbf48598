"""Serves the built site on this machine only, and opens it in the browser; Ctrl-C ends it."""

from __future__ import annotations

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).parents[1] / "site"


def main() -> None:
    """Serve until Ctrl-C."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=SITE)) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        print(f"the site: {address} (Ctrl-C ends it)")
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
