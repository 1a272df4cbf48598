"""Pillow, which pictures need that contain text, forces, goals or other pictures, or are not PNG files."""

from poise.extras import require

require("PIL", "a picture that has text, forces or goals, consists of others or is no PNG file")

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

__all__ = ["Image", "ImageDraw", "ImageFont"]
