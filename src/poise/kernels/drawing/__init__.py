"""A software rasteriser."""
