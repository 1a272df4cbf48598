"""Pictures of figures, rendered in software without a window, a browser or a graphics card.

A figure is drawn with numpy alone. Films, scenes and sheets are imported on first use, because they need Pillow.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from poise.pictures.draw import draw
from poise.pictures.picture import Picture

if TYPE_CHECKING:
    from poise.pictures.film import save_gif
    from poise.pictures.scenes import draw_scene
    from poise.pictures.sheets import contact_sheet, strip

__all__ = ["Picture", "contact_sheet", "draw", "draw_scene", "save_gif", "strip"]

_HOMES = {"contact_sheet": "sheets", "draw_scene": "scenes", "save_gif": "film", "strip": "sheets"}


def __getattr__(name: str) -> object:
    """Import a function from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
