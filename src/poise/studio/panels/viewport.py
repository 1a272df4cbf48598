"""The three-dimensional view: a canvas of our own, fed by its own connection."""

from __future__ import annotations

from pathlib import Path

import nicegui
from nicegui.element import Element

WEB = Path(__file__).parents[1] / "web"
"""The scripts of the page."""
_THREE = Path(nicegui.__file__).parent / "elements" / "scene" / "dist"
"""NiceGUI's build of three.js, which exports THREE and OrbitControls."""


class Viewport(
    Element,
    component=str(WEB / "viewport.js"),
    esm={"nicegui-scene": str(_THREE), "poise-studio": str(WEB)},
    default_classes="poise-viewport",
):
    """Shows the session's figure; one can turn, move and zoom the view."""

    def show_joints(self, shown: bool) -> None:
        """Show or hide the marks on joints."""
        self._props["joints"] = shown
        self.update()

    def show_four(self, four: bool) -> None:
        """Show four views, or the one that turns."""
        self._props["four"] = four
        self.update()

    def show_more(self, what: str, shown: bool) -> None:
        """Draw joint limits, what collides, or the trace of what is pulled: "limits", "collision" or "trace"."""
        self._props["shown"] = {**self._props.get("shown", {}), what: shown}
        self.update()

    def choose(self, **what: int) -> None:
        """Put handles on a joint, a task's target or an obstacle, by its number; on nothing where none is given."""
        self.run_method("choose", what or None)

    def pick(self) -> None:
        """Ask for a point of the figure; the event "picked" says which."""
        self.run_method("pick")

    def clear_trace(self) -> None:
        """Wipe the trace of what was pulled."""
        self.run_method("clear_trace")

    def pin_here(self) -> None:
        """Pin the point under the pointer."""
        self.run_method("pin_here")

    def choose_file(self) -> None:
        """Ask for a file to open."""
        self.run_method("choose_file")

    def switch_dark(self) -> None:
        """Make the page dark or light; the browser remembers it."""
        self.run_method("switch_dark")

    def look_near(self) -> None:
        """Move the view to what is selected."""
        self.run_method("frame_selected")

    def look_again(self) -> None:
        """Move the view back to where it shows the whole figure."""
        self.run_method("frame_figure")
