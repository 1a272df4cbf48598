"""Pictures of figures, rendered in software without a window, a browser or a graphics card."""

from poise.pictures.draw import draw
from poise.pictures.film import save_gif
from poise.pictures.picture import Picture
from poise.pictures.scenes import draw_scene
from poise.pictures.sheets import contact_sheet, strip

__all__ = ["Picture", "contact_sheet", "draw", "draw_scene", "save_gif", "strip"]
