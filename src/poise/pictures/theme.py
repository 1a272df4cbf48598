"""Colours and lights of pictures, for light and for dark pages."""

from __future__ import annotations

from dataclasses import dataclass

from poise.errors import PoiseError
from poise.figure.model.names import suggestion
from poise.figure.model.shapes import Color


@dataclass(frozen=True)
class Theme:
    """Colours (sRGB, from 0 to 1) and strengths of the lights."""

    body: Color
    bone: Color
    collision: Color
    active: Color
    """Joints with a motor."""
    passive: Color
    """Joints without a motor."""
    loop: Color
    """Joints that close a loop."""
    gap: Color
    """Gaps of open loops and missed targets."""
    target: Color
    """Targets and lines of sight."""
    balance: Color
    """Support polygons and centres of mass."""
    obstacle: Color
    ring: Color
    """Border of the discs on joints."""
    text: Color
    top: Color
    """Background at the top of the picture."""
    bottom: Color
    """Background at the bottom of the picture."""
    line: Color
    """Grid lines of the floor."""
    shadow: Color
    key: float = 0.8
    """Strength of the key light."""
    fill: float = 0.22
    """Strength of the fill light."""
    sky: float = 0.36
    """Strength of the ambient light from above."""
    ground: float = 0.2
    """Strength of the ambient light from below."""
    shine: float = 0.05
    """Strength of specular highlights."""
    line_strength: float = 0.5
    """Opacity of the grid lines."""
    shadow_strength: float = 0.4
    """Opacity of the shadow."""


def _color(code: str) -> Color:
    red, green, blue = (int(code[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return red, green, blue


LIGHT_THEME = Theme(
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
DARK_THEME = Theme(
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
THEMES = {"light": LIGHT_THEME, "dark": DARK_THEME}


def theme_named(name: str | Theme) -> Theme:
    """The theme with this name; a theme is returned unchanged."""
    if isinstance(name, Theme):
        return name
    if name not in THEMES:
        raise PoiseError(f"there is no theme {name!r}.{suggestion(name, THEMES)} Themes: {', '.join(THEMES)}.")
    return THEMES[name]
