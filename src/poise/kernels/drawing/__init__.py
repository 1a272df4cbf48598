"""A software rasteriser: triangles to pixels, without a graphics card."""
