"""The strip below the viewport: plots and a timeline, drawn by the browser, with their own connection."""

from __future__ import annotations

from nicegui.element import Element

from poise.studio.panels.viewport import WEB


class ModeStrip(Element, component=str(WEB / "modes" / "strip.js"), default_classes="poise-strip"):
    """Shows a mode's plots, and its drawings in the viewport; the `Viewport` loads the scripts it needs."""

    def follow_mouse(self, follows: bool) -> None:
        """Let the gaze target follow the pointer, or not."""
        self._props["follow"] = follows
        self.update()

    def save_picture(self) -> None:
        """Let the browser save the viewport as a picture."""
        self.run_method("save_picture")
