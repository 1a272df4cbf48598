"""A figure that can be turned, in a page of its own: one piece of HTML that needs no network.

`page` packs the surfaces of a figure (once, in the frames of its bodies) and the world poses of the bodies in every
frame, as base64 of little-endian arrays, beside a script of two hundred lines that draws them with WebGL
(`viewer.js`). Notebooks show the page in a frame of its own (`notebook_html`); elsewhere it opens in the browser
(`show`).
"""

from __future__ import annotations

import base64
import html
import json
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import PoiseError
from poise.figure.model.pose import FloatArray
from poise.figure.model.viewable import View
from poise.pictures.camera import world_axes
from poise.pictures.floor import floor_level, grid_spacing
from poise.pictures.parts import appearance
from poise.pictures.surface import IntArray
from poise.pictures.theme import THEMES

SEGMENTS = 20
"""Segments around round shapes; fewer than in pictures, because a page should be small."""
MAX_FRAMES = 3000
"""Largest number of frames of a motion in a page; longer motions are thinned out."""
HEIGHT = 420
"""Height of the view in a notebook [pixels]."""


def page(view: View) -> str:
    """A complete HTML page with a figure that can be turned, and played if it moves."""
    if not view.postures:
        raise PoiseError("there is no frame to show; a view needs at least one posture.")
    script = files("poise.pictures").joinpath("viewer.js").read_text(encoding="utf-8")
    title = html.escape(view.title or view.figure.name)
    # "<" would end the element that holds the data, if a name contains "</script>".
    return PAGE.format(title=title, data=json.dumps(_data(view)).replace("<", "\\u003c"), script=script)


def notebook_html(view: View) -> str:
    """The page in a frame of its own, as notebooks show it; its styles and scripts do not touch the notebook's."""
    inside = html.escape(page(view), quote=True)
    style = f"width: 100%; height: {HEIGHT}px; border: 0; border-radius: 6px"
    name = html.escape(f"{view.figure.name}, a view that can be turned", quote=True)
    text = f"<pre>{html.escape(view.text)}</pre>" if view.text else ""
    return f'<iframe sandbox="allow-scripts" title="{name}" style="{style}" srcdoc="{inside}"></iframe>{text}'


def show(view: View) -> Path | None:
    """Show a figure in the notebook this runs in, else in a new tab of the browser.

    Returns:
        The file of the page, in the temporary folder; None in a notebook.
    """
    if "ipykernel" in sys.modules:
        from IPython.display import HTML, display

        display(HTML(notebook_html(view)))
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="poise-", encoding="utf-8", delete=False) as file:
        file.write(page(view))
    path = Path(file.name)
    if not webbrowser.open(path.as_uri()):
        print(f"No browser could be started; open {path} in one.", file=sys.stderr)
    return path


def _data(view: View) -> dict[str, Any]:
    figure, every = view.figure, -(-len(view.postures) // MAX_FRAMES)
    look = appearance(figure, segments=SEGMENTS)
    frames = [figure.frames(posture) for posture in view.postures[::every]]
    forward, left, up = world_axes(figure.up)
    shown = [look.vertices(frame) for frame in frames[:: max(1, len(frames) // 8)]]
    low = np.min([vertices.min(axis=0) for vertices in shown], axis=0)
    high = np.max([vertices.max(axis=0) for vertices in shown], axis=0)
    surfaces = [part.surface for part in look.parts]
    bodies = len(figure.bodies)
    return {
        "name": figure.name,
        "rate": view.rate / every,
        "frames": len(frames),
        "parts": [
            {
                "body": part.body,
                "color": part.color or ("bone" if part.is_bone else "body"),
                "vertices": len(part.surface.vertices),
                "triangles": len(part.surface.triangles),
            }
            for part in look.parts
        ],
        "vertices": _packed([surface.vertices for surface in surfaces], "<f4"),
        "normals": _packed([np.round(127.0 * surface.normals) for surface in surfaces], "<i1"),
        "triangles": _packed([surface.triangles for surface in surfaces], "<u4"),
        "bodies": bodies,
        "positions": _packed([frame.position[:bodies] for frame in frames], "<f4"),
        "rotations": _packed([frame.rotation[:bodies] for frame in frames], "<f4"),
        "axes": [forward.tolist(), left.tolist(), up.tolist()],
        "center": (0.5 * (low + high)).tolist(),
        "radius": max(0.5 * float(np.linalg.norm(high - low)), 1e-6),
        "floor": min(floor_level(vertices @ up) for vertices in shown),
        "spacing": grid_spacing(float((high - low).max())),
        "themes": {name: asdict(theme) for name, theme in THEMES.items()},
    }


def _packed(arrays: Sequence[FloatArray | IntArray], kind: str) -> str:
    """Arrays of rows, one after the other, as base64."""
    return base64.b64encode(np.concatenate(arrays).astype(kind).tobytes()).decode("ascii")


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
html, body {{ margin: 0; height: 100%; overflow: hidden; font: 13px system-ui, sans-serif; color-scheme: light dark; }}
canvas {{ display: block; width: 100%; height: 100%; touch-action: none; cursor: grab; outline-offset: -2px; }}
form {{ position: absolute; left: 12px; right: 12px; bottom: 10px; display: flex; gap: 10px; align-items: center; }}
form[hidden] {{ display: none; }}
button {{ font: inherit; min-width: 64px; padding: 4px 10px; }}
input {{ flex: 1; }}
output {{ min-width: 64px; text-align: right; font-variant-numeric: tabular-nums; }}
p {{ position: absolute; left: 12px; top: 8px; margin: 0; opacity: 0.7; pointer-events: none; }}
</style>
</head>
<body>
<canvas tabindex="0" role="img" aria-label="{title}: drag to turn, scroll to zoom, arrow keys turn"></canvas>
<p></p>
<form hidden>
<button type="button">Play</button>
<input type="range" min="0" value="0" step="1" aria-label="Frame">
<output></output>
</form>
<script type="application/json" id="figure">{data}</script>
<script>
{script}
</script>
</body>
</html>
"""
