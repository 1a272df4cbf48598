"""Downloads of files from the studio."""

from __future__ import annotations

import json

from nicegui import ui


def download(name: str) -> None:
    """Let the browser download a file of the studio, such as "scene.toml"; the page shows the reason if it fails."""
    ui.run_javascript(f"window.poiseKeep({json.dumps(f'/studio/{name}')})")
