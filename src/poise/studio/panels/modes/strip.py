"""The strip below the viewport: plots and a timeline, drawn by the browser from a connection of its own."""

from __future__ import annotations

from nicegui.element import Element

from poise.studio.panels.viewport import WEB


class ModeStrip(Element, component=str(WEB / "mode_strip.js"), default_classes="poise-strip"):
    """Shows what a mode plots, and draws what it adds to the viewport; modules come with the `Viewport` beside it."""

    def follow_mouse(self, follows: bool) -> None:
        """Let the gaze go where the pointer is."""
        self._props["follow"] = follows
        self.update()

    def save_picture(self) -> None:
        """Hand the viewport to the user as a picture."""
        self.run_method("save_picture")
