"""The side view of the circles mode, a canvas beside the viewport."""

from __future__ import annotations

from nicegui.element import Element

from poise.studio.panels.viewport import WEB


class CirclesView(Element, component=str(WEB / "modes" / "circles.js"), default_classes="poise-circles"):
    """Draws links, circles and safe zones; the end-point, pedal or ball is dragged here."""
