"""Files that a page hands to its user."""

from __future__ import annotations

import json

from nicegui import ui


def keep(name: str) -> None:
    """Let the browser keep a file of the studio, such as "scene.toml"; the page says why where there is none."""
    ui.run_javascript(f"window.poiseKeep({json.dumps(f'/studio/{name}')})")
