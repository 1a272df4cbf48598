"""Clips of a client: to another figure, and with the gaze on a target."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.chains.targets import at
from poise.engine.solver import Solver
from poise.errors import FigureError, TaskError, UnmappedWarning
from poise.expressive.expressive import Expressive
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.formats.text.toml_tables import Table
from poise.motion.clip.clip import MOST_JOINT_VALUES, Clip, Source
from poise.motion.clip.watching import watching
from poise.motion.retarget.retarget import retarget
from poise.service.answers import numbers
from poise.service.bones import value_of_rotation
from poise.service.posed import Posed
from poise.tasks.look_at import LookAt
from poise.tasks.posture import Hold

MOST_FRAMES = 100_000
GAZE_STEPS = 20
"""Largest number of steps for the gaze of a frame."""
GAZE_AT_REST = 1e-4
"""Motion of a step at which a gaze is done [rad]."""


def read_clip(given: Table, posed: Posed) -> Clip:
    """A clip of a figure from its channels, with quaternions of bones that turn about fewer axes projected on those."""
    figure, skeleton = posed.figure, posed.skeleton
    rotations = numbers(given.take("rotations"), (None, len(skeleton.names), 4), f"'rotations' of {given.what}")
    frames = len(rotations)
    if not 0 < frames <= MOST_FRAMES or frames * figure.nq > MOST_JOINT_VALUES:
        raise FigureError(f"{given.what} has {frames} frames; it can have 1 to {MOST_FRAMES}.")
    places = given.as_table(given.take("locations", {}), "locations", f"'locations' of {given.what}")
    q = np.repeat(figure.neutral().q[None], frames, axis=0)
    for row, bone in enumerate(skeleton.names):
        joint = skeleton.joints.get(bone)
        if joint is None or not joint.nq:
            continue
        where = figure.q_slice(joint.name)
        if joint.kind in ("ball", "free"):
            q[:, where.stop - 4 : where.stop] = rotations[:, row]
        else:
            q[:, where] = [value_of_rotation(joint, rotation) for rotation in rotations[:, row]]
        if joint.kind == "free" and bone in places:
            q[:, where.start : where.start + 3] = numbers(
                places.take(bone), (frames, 3), f"the location of bone {bone!r} in {given.what}"
            )
    places.finish()
    rate = given.number("rate")
    given.finish()
    return Clip(figure, q, rate, "clip")


def channels(posed: Posed, clip: Clip) -> dict[str, Any]:
    """The channels of a clip: rotations and locations of bones against their rest, with signs that do not jump."""
    source, count = Source(clip), len(posed.skeleton.names)
    places, rotations = posed.skeleton.turns(source.positions[:, :count], source.rotations[:, :count])
    along = {bone: places[:, i] for i, bone in enumerate(posed.skeleton.movers)}
    return {"rate": clip.rate, "rotations": _steady(rotations), "locations": along}


def _steady(rotations: FloatArray) -> FloatArray:
    """(frames, bones, 4) rotations with the sign of each quaternion that is nearer to the one before."""
    flips = np.sum(rotations[1:] * rotations[:-1], axis=-1) < 0.0
    signs = np.cumprod(np.where(flips, -1.0, 1.0), axis=0)
    found = rotations.copy()
    found[1:] *= signs[..., None]
    return found


def retargeted(message: Table, posed: Posed, source: Posed) -> dict[str, Any]:
    """The clip of one figure, performed by another."""
    clip = read_clip(message.as_table(message.take("clip"), "clip", "the clip"), source)
    mapping = message.take("mapping", None)
    if mapping is not None and not isinstance(mapping, Mapping):
        raise message.error("'mapping' is an object of the figure's bones by those of the clip.", "mapping")
    balance, tempo = message.flag("balance", default=False), message.number("tempo", 1.0)
    message.finish()
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", UnmappedWarning)
        motion = retarget(clip, posed.figure, mapping, rate=clip.rate, balance=balance, tempo=tempo)
    if motion.figure.nq != posed.figure.nq:
        raise FigureError(
            f"figure {posed.figure.name!r} has feet, so its root has to move: send that bone with moves = true."
        )
    sentences = [str(each.message) for each in noted if issubclass(each.category, UnmappedWarning)]
    return {"clip": channels(posed, motion), "warnings": sentences}


def watched(message: Table, posed: Posed) -> dict[str, Any]:
    """A clip whose figure looks at a target: a point, or one for each frame."""
    figure = posed.figure
    clip = read_clip(message.as_table(message.take("clip"), "clip", "the clip"), posed)
    bone = message.text("bone")
    axis = message.take("axis", None)
    given = message.take("at")
    one = np.ndim(given) == 1
    points = numbers(given, (3,) if one else (len(clip), 3), "'at' of the gaze")
    message.finish()
    along = np.repeat(points[None], len(clip), axis=0) if one else points
    if axis is None and _is_chain_to(figure, bone):
        found = watching(clip, [at(point) for point in along])
    else:
        found = _gazing(clip, LookAt(bone, at=along[0], axis=axis, joints=_neck(figure, bone)), along)
    return {"clip": channels(posed, found)}


def _is_chain_to(figure: Figure, bone: str) -> bool:
    """Whether a figure is a single chain of hinges, as expressive robots are, at whose end this bone is."""
    try:
        solver = Expressive(figure)
    except (FigureError, TaskError):
        return False
    return figure.body_of(solver.limb.tip) == bone


def _neck(figure: Figure, bone: str) -> list[str]:
    """Names of the joints that turn a bone: all from the root of the figure, but a floating base."""
    above, names, body = dict(figure.tree_order), [], figure.body_of(bone)
    while (joint := above[body]) is not None:
        if joint.nv and joint.kind != "free":
            names.append(joint.name)
        if joint.parent is None:
            break
        body = joint.parent
    if not names:
        raise TaskError(f"no joint turns bone {bone!r}, so that it cannot look anywhere.")
    return names


def _gazing(clip: Clip, look: LookAt, along: FloatArray) -> Clip:
    """The clip with the posture of each frame kept as far as the gaze lets it be."""
    figure, hold = clip.figure, Hold(clip[0], priority=2)
    solver = Solver(figure, [look, hold])
    rows = []
    turned = clip[0]
    for frame, point in zip(clip, along, strict=True):
        solver.target(look, point)
        solver.target(hold, frame)
        # Everything but the neck is as in the clip.
        kept = {name: frame[name] for name in figure.moving_joints if name not in (look.joints or ())}
        turned = turned.changed(kept)
        for _ in range(GAZE_STEPS):
            before, turned = turned, solver.step(turned)
            if np.abs(figure.difference(before, turned)).max(initial=0.0) < GAZE_AT_REST:
                break
        rows.append(turned.q)
    return Clip(figure, np.array(rows), clip.rate, clip.name)
