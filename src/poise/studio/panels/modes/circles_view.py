"""The side view of the circles mode: a canvas of its own beside the viewport."""

from __future__ import annotations

from nicegui.element import Element


class CirclesView(Element, component="web/mode_circles.js", default_classes="poise-circles"):
    """Draws links, circles and safe zones; what can be dragged is dragged here."""
