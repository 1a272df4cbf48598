"""Closes the loops of a figure that was read from a file, and removes the file's rounding errors from them."""

from __future__ import annotations

import logging
from pathlib import Path

from poise.figure.assembly.cleaning import LARGEST_MOVE, cleaned
from poise.figure.assembly.cut_joint_guards import with_cut_limits
from poise.figure.assembly.guards import find_guards, guarded
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture

_log = logging.getLogger(__name__)


def assemble_loops(figure: Figure, path: Path, *, guards: bool = True) -> Figure:
    """`figure` with its loops closed in its neutral posture, exact anchors and axes, and guards.

    A file may describe a mechanism that is not assembled; its neutral posture is then replaced by an assembled one. The
    log says what was changed. If the loops cannot be closed, the log has a warning and the figure is unchanged.

    Args:
        figure: The figure as read.
        path: Its file, for the log.
        guards: Whether passive hinges without limits get guards.
    """
    posture = figure.neutral()
    if figure.closure_error(posture) > LARGEST_MOVE:
        assembled = figure.assemble({})
        if assembled.status == "open":
            _log.warning("%s: %s", path, assembled.report())
            return figure
        posture = assembled.posture
        _log.info("%s: the loops are open in the file; the neutral posture is now an assembled one.", path)
    clean, moved = cleaned(figure, posture)
    if clean is not figure:
        _log.info("%s: %s.", path, moved)
    whole = clean if posture is figure.neutral() else _with_neutral(clean, posture)
    if not guards:
        return whole
    for guard in (found := find_guards(whole)):
        _log.info("%s: %s.", path, guard)
    return guarded(whole, found)


def with_loop_limits(figure: Figure, path: Path) -> Figure:
    """`figure` with the limits of its loop joints enforced, which the log reports; couplings of the file come first."""
    named = {coupling.name for coupling in figure.couplings}
    limited = with_cut_limits(figure)
    added = [coupling for coupling in limited.couplings if coupling.name not in named]
    ends = [loop.name for loop in figure.loops if loop.name not in limited.loops]
    if not added and not ends:
        return figure
    _log.info("%s: the limits of these loop joints are enforced: %s.", path, ", ".join([c.name for c in added] + ends))
    return limited.replaced(couplings=[*figure.couplings, *added])


def _with_neutral(figure: Figure, posture: Posture) -> Figure:
    """`figure` with the values of a posture as its neutral posture."""
    values = {joint.name: tuple(posture.q[figure.q_slice(joint.name)].tolist()) for joint in figure.joints if joint.nq}
    postures = {name: figure.named_values(name) for name in figure.posture_names}
    return figure.replaced(postures=postures | {"neutral": values})
