"""The three-dimensional view: a canvas with its own connection to the server."""

from __future__ import annotations

from pathlib import Path

import nicegui
from nicegui.element import Element

WEB = Path(__file__).parents[1] / "web"
"""Folder of the page's scripts."""
_THREE = Path(nicegui.__file__).parent / "elements" / "scene" / "dist"
"""NiceGUI's build of three.js, which exports THREE and OrbitControls."""
_ROOMS = {f"poise-studio/{room}": str(WEB / room) for room in ("animate", "marks", "modes", "pointer")}
"""Folders in `WEB`, by the name under which scripts import them. Each has an address of its own: browsers keep a script
for a year, and NiceGUI gives a folder a new address when a file is replaced in it, but not in a folder inside it."""


class Viewport(
    Element,
    component=str(WEB / "viewport.js"),
    esm={"nicegui-scene": str(_THREE), "poise-studio": str(WEB), **_ROOMS},
    default_classes="poise-viewport",
):
    """Shows the session's figure in views that can be rotated, moved and zoomed."""

    def show_joints(self, shown: bool) -> None:
        """Show or hide the marks on joints."""
        self._props["joints"] = shown
        self.update()

    def show_four(self, four: bool) -> None:
        """Show four views, or only the perspective view."""
        self._props["four"] = four
        self.update()

    def show_more(self, what: str, shown: bool) -> None:
        """Show or hide an optional drawing: "limits", "collision" (collision shapes) or "trace" (of dragged points)."""
        self._props["shown"] = {**self._props.get("shown", {}), what: shown}
        self.update()

    def choose(self, **what: int) -> None:
        """Select a joint, a task's target or an obstacle by its number and show its handles; nothing to deselect."""
        self.run_method("choose", what or None)

    def pick(self) -> None:
        """Let the user click a point of the figure; the event "picked" reports it."""
        self.run_method("pick")

    def pin_here(self) -> None:
        """Pin the point under the pointer."""
        self.run_method("pin_here")

    def choose_file(self) -> None:
        """Ask for a file to open."""
        self.run_method("choose_file")

    def highlight(self, body: int | None) -> None:
        """Highlight a body by its number; None for none."""
        self.run_method("highlight", body)

    def open_choice(self, name: str) -> None:
        """Open one of several files of the archive that was dropped last."""
        self.run_method("open_choice", name)

    def switch_dark(self) -> None:
        """Switch the page between dark and light; the browser remembers the choice."""
        self.run_method("switch_dark")

    def frame_selected(self) -> None:
        """Move the view close to the selected thing."""
        self.run_method("frame_selected")

    def frame_figure(self) -> None:
        """Move the view so that it shows the whole figure."""
        self.run_method("frame_figure")
