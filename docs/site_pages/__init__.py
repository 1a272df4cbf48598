"""What the documentation site computes from the source: reference pages, the gallery, equations."""
