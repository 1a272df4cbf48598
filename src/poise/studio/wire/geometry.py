"""What the viewport draws, sent once per figure: a JSON header, then the surfaces of all parts as binary arrays.

The first four bytes are the length of the header as a little-endian uint32; it is padded to a multiple of four bytes.
Vertices and normals (float32) and triangles (uint32) follow, for all parts one after the other, then for coarser
versions of the same parts; the header says whose they are. Vertices are in the frame of their body.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from poise.figure.model.figure import Figure
from poise.pictures.camera import world_axes
from poise.pictures.floor import floor_level, grid_spacing
from poise.pictures.parts import Part, appearance
from poise.pictures.surface import Surface
from poise.pictures.theme import THEMES
from poise.studio.session.loads import arrow_scales
from poise.studio.session.state import State
from poise.studio.wire.anchors import marked_joints
from poise.studio.wire.limits import limits_drawn

SMALL = 1e-6
"""Share of a surface that is too small to be a hole."""
COARSE = 16
"""Segments around a round solid while it moves where drawing is slow."""


def geometry(state: State) -> bytes:
    """Header and surfaces of a state's figure."""
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
        "parts": [_part(part, k >= len(state.look.parts)) for k, part in enumerate(_parts(state))],
        "coarse": [_size(part) for part in _coarse_parts(state)],
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
    """What is seen, then what collides."""
    return state.look.parts + appearance(state.figure, collision=True, folder=state.folder).parts


def _coarse_parts(state: State) -> tuple[Part, ...]:
    """The same parts, of fewer triangles."""
    figure, folder = state.figure, state.folder
    looks = [appearance(figure, collision=collides, folder=folder, around=COARSE) for collides in (False, True)]
    return looks[0].parts + looks[1].parts


def _freedoms(figure: Figure) -> list[dict[str, Any]]:
    """For every marked joint the numbers of its freedoms, and which of them turn."""
    rows = []
    for joint in marked_joints(figure):
        place = figure.v_slice(joint.name)
        turns = [True] * joint.nv if joint.kind == "ball" else [kind == "turn" for kind in joint.scalars]
        rows.append({"first": place.start, "turns": turns, "name": joint.name.replace("_", " ")})
    return rows


def _part(part: Part, collides: bool) -> dict[str, Any]:
    return {
        "body": part.body,
        **_size(part),
        "color": part.color,
        "bone": part.is_bone,
        "collides": collides,
        "closed": is_closed(part.surface),
    }


def is_closed(surface: Surface) -> bool:
    """Whether a surface is only ever seen from outside: all triangles face as their normals do, and leave no hole."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    normals = surface.normals[surface.triangles].sum(axis=1)
    whole = float(np.linalg.norm(areas, axis=1).sum())
    faces_out = bool((np.einsum("ij,ij->i", areas, normals) >= -SMALL * whole).all())
    return faces_out and float(np.linalg.norm(areas.sum(axis=0))) <= SMALL * whole


def _size(part: Part) -> dict[str, int]:
    return {"vertices": len(part.surface.vertices), "triangles": len(part.surface.triangles)}
