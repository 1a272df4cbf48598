"""Colours and lights, for light and for dark pages."""

from __future__ import annotations

from dataclasses import dataclass

from poise.errors import PoiseError
from poise.figure.model.names import suggestion
from poise.pictures.parts import Color


@dataclass(frozen=True)
class Theme:
    """Colours in 0 … 1 as the screen shows them, and how strong the lights are."""

    body: Color
    bone: Color
    collision: Color
    active: Color
    """Joints that a motor drives."""
    passive: Color
    """Joints that follow."""
    loop: Color
    """Joints that close a loop."""
    gap: Color
    """A loop that is not closed."""
    target: Color
    """Where something should be."""
    balance: Color
    """What is stood on, and the weight above it."""
    obstacle: Color
    ring: Color
    """Border of the discs on joints."""
    text: Color
    top: Color
    bottom: Color
    line: Color
    shadow: Color
    key: float = 0.8
    fill: float = 0.22
    sky: float = 0.36
    ground: float = 0.2
    shine: float = 0.05
    line_strength: float = 0.5
    shadow_strength: float = 0.4


def _color(code: str) -> Color:
    red, green, blue = (int(code[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return red, green, blue


LIGHT = Theme(
    body=_color("#c9d1dc"),
    bone=_color("#8d9bb0"),
    collision=_color("#e0b07a"),
    active=_color("#f2762e"),
    passive=_color("#4a90d9"),
    loop=_color("#9b51c9"),
    gap=_color("#d9263e"),
    target=_color("#1f9d63"),
    balance=_color("#3f7fd0"),
    obstacle=_color("#d8b48a"),
    ring=_color("#ffffff"),
    text=_color("#2c3440"),
    top=_color("#fbfbfa"),
    bottom=_color("#eceef0"),
    line=_color("#b4bcc8"),
    shadow=_color("#5b6472"),
)
DARK = Theme(
    body=_color("#aeb9c9"),
    bone=_color("#8796ad"),
    collision=_color("#c99a63"),
    active=_color("#ff8a3d"),
    passive=_color("#5aa7f0"),
    loop=_color("#b877e6"),
    gap=_color("#ff4d63"),
    target=_color("#3fd08b"),
    balance=_color("#6fb0ff"),
    obstacle=_color("#b08d63"),
    ring=_color("#11151c"),
    text=_color("#e3e8ef"),
    top=_color("#232933"),
    bottom=_color("#161a21"),
    line=_color("#4b5565"),
    shadow=_color("#05070a"),
    sky=0.32,
    ground=0.14,
    shadow_strength=0.75,
)
THEMES = {"light": LIGHT, "dark": DARK}


def theme_named(name: str | Theme) -> Theme:
    """The theme of a name."""
    if isinstance(name, Theme):
        return name
    if name not in THEMES:
        raise PoiseError(f"there is no theme {name!r}.{suggestion(name, THEMES)} Themes: {', '.join(THEMES)}.")
    return THEMES[name]
