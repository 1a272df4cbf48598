"""Loops of a figure that was read from a file: closed, and free of the file's rounding."""

from __future__ import annotations

import logging
from pathlib import Path

from poise.figure.assembly.cleaning import LARGEST_MOVE, cleaned
from poise.figure.assembly.cut_joint_guards import with_cut_limits
from poise.figure.assembly.guards import find_guards, guarded
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture

_log = logging.getLogger(__name__)


def put_together(figure: Figure, path: Path, *, guards: bool = True) -> Figure:
    """`figure` with its loops closed in its neutral posture, anchors and axes as their makers meant them, and guards.

    A file may describe a mechanism that has yet to be assembled: its neutral posture is then the assembled one. What
    was moved is said in the log.
    """
    posture = figure.neutral()
    if figure.closure_error(posture) > LARGEST_MOVE:
        assembled = figure.assemble({})
        if assembled.status == "open":
            _log.warning("%s: %s", path, assembled.report())
            return figure
        posture = assembled.posture
        _log.info("%s: the loops are open in the file; the neutral posture is the assembled one.", path)
    clean, moved = cleaned(figure, posture)
    if clean is not figure:
        _log.info("%s: %s.", path, moved)
    whole = clean if posture is figure.neutral() else _with_neutral(clean, posture)
    if not guards:
        return whole
    for guard in (found := find_guards(whole)):
        _log.info("%s: %s.", path, guard)
    return guarded(whole, found)


def with_limits_of_loops(figure: Figure, path: Path) -> Figure:
    """`figure` with the limits of joints that close loops kept, as the log then says; couplings of the file win."""
    named = {coupling.name for coupling in figure.couplings}
    limited = with_cut_limits(figure)
    added = [coupling for coupling in limited.couplings if coupling.name not in named]
    ends = [loop.name for loop in figure.loops if loop.name not in limited.loops]
    if not added and not ends:
        return figure
    _log.info("%s: limits of joints that close loops are kept: %s.", path, ", ".join([c.name for c in added] + ends))
    return limited.replaced(couplings=[*figure.couplings, *added])


def _with_neutral(figure: Figure, posture: Posture) -> Figure:
    """`figure` with the values of a posture as its neutral one."""
    values = {joint.name: tuple(posture.q[figure.q_slice(joint.name)].tolist()) for joint in figure.joints if joint.nq}
    postures = {name: figure.named_values(name) for name in figure.posture_names}
    return figure.replaced(postures=postures | {"neutral": values})
