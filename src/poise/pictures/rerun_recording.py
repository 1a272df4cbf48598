"""Recordings for the viewer Rerun: the surfaces of a figure once, and the pose of every body over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.errors import PoiseError
from poise.extras import require
from poise.figure.model.viewable import View
from poise.pictures.parts import appearance
from poise.pictures.theme import THEMES

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

SEGMENTS = 20
"""Segments around round shapes; fewer than in pictures, because a recording should be small."""


def record(view: View, path: str | Path | None = None) -> None:
    """Record a view with Rerun.

    Every body is an entity `/figure/body` with its pose on the timeline `time`, and its surfaces below it.

    Args:
        view: The figure and its postures.
        path: The file to write, which should end in `.rrd`; None for the recording that the program has begun with
            `rerun.init`, or else for a new one in Rerun's own window.
    """
    require("rerun", "a Rerun recording")
    import rerun as rr

    if not view.postures:
        raise PoiseError("there is no frame to record; a view needs at least one posture.")
    stream = rr.get_global_data_recording() if path is None else None
    if stream is None:
        stream = rr.RecordingStream(view.title or view.figure.name)
        if path is None:
            stream.spawn()
        else:
            stream.save(str(path))
    _log_surfaces(rr, stream, view.figure)
    _log_poses(rr, stream, view)
    stream.flush()


def _log_surfaces(rr: Any, stream: Any, figure: Figure) -> None:
    axes = {"x": rr.ViewCoordinates.RIGHT_HAND_X_UP, "y": rr.ViewCoordinates.RIGHT_HAND_Y_UP}
    root = rr.new_entity_path([figure.name])
    stream.log(root, axes.get(figure.up, rr.ViewCoordinates.RIGHT_HAND_Z_UP), static=True)
    theme, names = THEMES["light"], figure.bodies.names
    for number, part in enumerate(appearance(figure, segments=SEGMENTS).parts):
        color = part.color or (theme.bone if part.is_bone else theme.body)
        stream.log(
            rr.new_entity_path([figure.name, names[part.body], f"surface {number}"]),
            rr.Mesh3D(
                vertex_positions=part.surface.vertices.astype(np.float32),
                vertex_normals=part.surface.normals.astype(np.float32),
                triangle_indices=part.surface.triangles.astype(np.uint32),
                albedo_factor=color,
            ),
            static=True,
        )


def _log_poses(rr: Any, stream: Any, view: View) -> None:
    figure = view.figure
    frames = [figure.frames(posture) for posture in view.postures]
    times = rr.TimeColumn("time", duration=np.arange(len(frames)) / (view.rate or 1.0))
    for row, name in enumerate(figure.bodies.names):
        turns = np.array([frame.rotation[row] for frame in frames])
        stream.send_columns(
            rr.new_entity_path([figure.name, name]),
            indexes=[times],
            columns=rr.Transform3D.columns(
                translation=np.array([frame.position[row] for frame in frames]), quaternion=turns[:, [1, 2, 3, 0]]
            ),
        )
