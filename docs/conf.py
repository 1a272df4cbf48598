"""How Sphinx builds the documentation site: `make site`."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # for the modules of docs/site_pages, here and in Sphinx' own processes

from site_pages import gallery, reference  # noqa: E402

import poise  # noqa: E402

project = "poise"
author = "The poise developers"
copyright = author  # noqa: A001
version = release = poise.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "site_pages.equations",
    "site_pages.reference",
]
exclude_patterns = ["generated/examples/**", "tutorials/**"]
default_role = "code"
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False

html_theme = "pydata_sphinx_theme"
html_title = "poise"
html_show_sourcelink = False
html_static_path = ["site_pages/static"]
html_css_files = ["poise.css"]
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_math_renderer = "mathml"

reference.write(DOCS / "generated")
gallery.write_examples(DOCS.parent / "examples", DOCS / "generated" / "examples")
sphinx_gallery_conf = gallery.settings(DOCS)
