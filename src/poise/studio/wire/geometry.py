"""The geometry of a figure, sent once: a JSON header, then the surfaces of all parts as binary arrays.

The first four bytes are the length of the header as a little-endian uint32; it is padded to a multiple of four bytes.
The vertices (float32), normals (float32) and triangles (uint32) of all parts follow, then those of coarser versions of
the same parts; the header lists the parts with their bodies and counts. Vertices are in the frame of their body. The
header also contains the layout of frames under "frame", see `layout.py`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from poise.figure.model.figure import Figure
from poise.pictures.camera import world_axes
from poise.pictures.floor import floor_level, grid_spacing
from poise.pictures.force_marks import arrow_scales
from poise.pictures.parts import Part, appearance
from poise.pictures.surface import Surface
from poise.pictures.theme import THEMES
from poise.studio.session.state import State
from poise.studio.wire.anchors import marked_joints
from poise.studio.wire.layout import described
from poise.studio.wire.limits import limits_drawn

HOLE_AREA_SHARE = 1e-6
"""Share of a surface's area below which a net area counts as rounding error and not as a hole."""
COARSE_SEGMENTS = 16
"""Segments around a round solid in the coarse version, which slow computers draw while the figure moves."""


def geometry(state: State) -> bytes:
    """The header and surfaces of a state's figure as bytes."""
    header = json.dumps(_header(state)).encode()
    header += b" " * (-len(header) % 4)
    parts = _parts(state) + _coarse_parts(state)
    arrays = [
        np.concatenate([np.empty((0, 3)), *(part.surface.vertices for part in parts)]).astype("<f4"),
        np.concatenate([np.empty((0, 3)), *(part.surface.normals for part in parts)]).astype("<f4"),
        np.concatenate([np.empty((0, 3)), *(part.surface.triangles for part in parts)]).astype("<u4"),
    ]
    return b"".join([len(header).to_bytes(4, "little"), header, *(array.tobytes() for array in arrays)])


def _header(state: State) -> dict[str, Any]:
    figure = state.figure
    vertices = state.look.vertices(figure.frames(state.posture))
    forward, left, up = world_axes(figure.up)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return {
        "name": figure.name,
        "number": state.figure_number,
        "frame": described(),
        "parts": [_part(part, k >= len(state.look.parts)) for k, part in enumerate(_parts(state))],
        "coarse": [_counts(part) for part in _coarse_parts(state)],
        "bodies": [body.name.replace("_", " ") for body in figure.bodies],
        "joints": [joint.active for joint in marked_joints(figure)],
        "freedoms": _freedoms(figure),
        "limits": limits_drawn(figure),
        "arrows": arrow_scales(figure, state.look.extent),
        "extent": state.look.extent,
        "loops": len(figure.loops),
        "forward": forward.tolist(),
        "left": left.tolist(),
        "up": up.tolist(),
        "center": (0.5 * (low + high)).tolist(),
        "radius": 0.5 * float(np.linalg.norm(high - low)),
        "floor": floor_level(vertices @ up),
        "spacing": grid_spacing(float((high - low).max())),
        "themes": {name: asdict(theme) for name, theme in THEMES.items()},
    }


def _parts(state: State) -> tuple[Part, ...]:
    """The visible parts, then the collision shapes."""
    return state.look.parts + appearance(state.figure, collision=True).parts


def _coarse_parts(state: State) -> tuple[Part, ...]:
    """The same parts with fewer triangles."""
    looks = [appearance(state.figure, collision=collides, segments=COARSE_SEGMENTS) for collides in (False, True)]
    return looks[0].parts + looks[1].parts


def _freedoms(figure: Figure) -> list[dict[str, Any]]:
    """For every marked joint, the number of its first degree of freedom, and which of them are rotations."""
    rows = []
    for joint in marked_joints(figure):
        freedoms = figure.v_slice(joint.name)
        turns = [True] * joint.nv if joint.kind == "ball" else [kind == "turn" for kind in joint.scalars]
        rows.append({"first": freedoms.start, "turns": turns, "name": joint.name.replace("_", " ")})
    return rows


def _part(part: Part, collides: bool) -> dict[str, Any]:
    return {
        "body": part.body,
        **_counts(part),
        "color": part.color,
        "bone": part.is_bone,
        "collides": collides,
        "closed": is_closed(part.surface),
    }


def is_closed(surface: Surface) -> bool:
    """Whether a surface is closed and faces outwards, so that its back sides need not be drawn.

    All triangles must face along their normals, and their area vectors must add up to zero.
    """
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    normals = surface.normals[surface.triangles].sum(axis=1)
    whole = float(np.linalg.norm(areas, axis=1).sum())
    faces_out = bool((np.einsum("ij,ij->i", areas, normals) >= -HOLE_AREA_SHARE * whole).all())
    return faces_out and float(np.linalg.norm(areas.sum(axis=0))) <= HOLE_AREA_SHARE * whole


def _counts(part: Part) -> dict[str, int]:
    return {"vertices": len(part.surface.vertices), "triangles": len(part.surface.triangles)}
