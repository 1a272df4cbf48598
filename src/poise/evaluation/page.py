"""HTML pages as single files: style and pictures are embedded, so that they need no network."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

Rows = list[list[str]]

PAGE_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1150px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
td.paper { color: #8a5a00; }
td.good { color: #1a7f4b; }
td.bad { color: #c0273a; font-weight: 600; }
img { width: 100%; }
figure { margin: 1em 0; }
figcaption { color: #555; font-size: 13px; }
details { margin: 1em 0; }
summary { cursor: pointer; }
pre { font-size: 13px; }
.wide, pre { overflow-x: auto; }
"""
"""CSS of all pages."""
CELL_CLASSES = {"~": "paper", "✓": "good", "✗": "bad"}
"""CSS class of a table cell by its first character; ~ is not shown."""


def write_page(path: Path, title: str, parts: Iterable[str]) -> Path:
    """Write an HTML page; returns its path."""
    head = (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{html.escape(title)}</title>\n<style>{PAGE_STYLE}</style><h1>{html.escape(title)}</h1>"
    )
    path.write_text("\n".join([head, *parts]) + "\n", encoding="utf-8")
    return path


def heading(text: str) -> str:
    """A section heading."""
    return f"<h2>{html.escape(text)}</h2>"


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def table(head: Sequence[str], rows: Rows) -> str:
    """A table; cells that begin with ~ are a paper's numbers, those with ✓ or ✗ are verdicts."""
    cells = "".join(f"<th>{html.escape(text)}</th>" for text in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<div class=wide><table><tr>{cells}</tr>{body}</table></div>"


def picture(png: bytes, words: str, caption: str = "") -> str:
    """An embedded picture with its alternative text and an optional caption."""
    image = base64.b64encode(png).decode()
    below = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return f"<figure><img alt='{html.escape(words, quote=True)}' src='data:image/png;base64,{image}'>{below}</figure>"


def folded(summary: str, content: str) -> str:
    """Content that opens when its summary is clicked."""
    return f"<details><summary>{html.escape(summary)}</summary>{content}</details>"


def _cell(text: str) -> str:
    mark = CELL_CLASSES.get(text[:1])
    if mark is None:
        return f"<td>{html.escape(text)}</td>"
    return f"<td class={mark}>{html.escape(text.removeprefix('~'))}</td>"
