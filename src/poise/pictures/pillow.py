"""Imports Pillow, for pictures with text, forces, goals or other pictures in them, and for files other than PNG."""

from poise.extras import require

require("PIL", "a picture that has text, forces or goals, consists of others or is no PNG file")

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

__all__ = ["Image", "ImageDraw", "ImageFont"]
