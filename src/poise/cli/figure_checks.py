"""What `poise doctor` finds out about a figure, each finding with what to do about it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.doctor import Finding
from poise.errors import PoiseError
from poise.figure.collision.mesh_files import find_mesh, read_triangles
from poise.figure.collision.soles import sole_corners
from poise.figure.model.describe import base_words, facing_words
from poise.figure.model.facing import head_of
from poise.figure.model.names import listing
from poise.figure.model.shapes import Mesh

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.figure.model.joints import Joint

ON_THE_GROUND = 0.02
"""Difference of the heights of two soles up to which both stand on the ground [m]."""
CLOSED = 1e-6
"""Gap up to which a loop is closed [m or rad]."""
MOST_TURNS = 3.0
"""Turns that a hinge makes at most; one that makes more has limits in degrees where radians are meant."""
LEAST_CORNERS = 3
"""Least number of contact points of a sole that is a surface."""


def figure_findings(figure: Figure) -> Iterator[Finding]:
    """Check a figure for frequent mistakes: base, feet, limits, speeds, masses, face, meshes, loops and postures."""
    checks: tuple[Callable[[Figure], Iterator[Finding]], ...] = (
        _base,
        _feet,
        _limits,
        _speeds,
        _masses,
        _face,
        _meshes,
        _loops,
        _postures,
        _retargeting,
    )
    for check in checks:
        yield from check(figure)


def _floats(figure: Figure) -> bool:
    return any(joint.kind == "free" and joint.parent is None for joint in figure.joints)


def _base(figure: Figure) -> Iterator[Finding]:
    stands = {"left_ankle", "right_ankle"} <= set(figure.roles)
    if stands and not _floats(figure):
        remedy = "figure.with_floating_base() lets it walk; a scene file says floating = true"
        yield Finding("note", "base", f"{base_words(figure)}, although it has feet", remedy)
    else:
        yield Finding("good", "base", base_words(figure))


def _feet(figure: Figure) -> Iterator[Finding]:
    """Feet by name, their soles, and whether both are on the ground in the neutral posture."""
    roles = figure.roles
    feet = [roles[role].part for role in ("left_ankle", "right_ankle") if role in roles]
    if not feet:
        if _floats(figure):
            remedy = "name the parts it stands on left_foot and right_foot, or give CenterOfMass(over=[…]) their names"
            yield Finding("note", "feet", "none is found by its name", remedy)
        return
    frames, up = figure.frames(figure.neutral()), figure.up_vector
    soles = {foot: [frames[foot].apply(corner) @ up for corner in sole_corners(figure, foot)] for foot in feet}
    narrow = [foot for foot, corners in soles.items() if len(corners) < LEAST_CORNERS]
    lowest = [min(corners) for corners in soles.values()]
    if narrow:
        remedy = "give the foot a box, a capsule or corners as sites, so that it can carry weight beside its ankle"
        yield Finding("note", "feet", f"{listing(narrow)} stands on a point: its shapes have no flat sole", remedy)
    elif max(lowest) - min(lowest) > ON_THE_GROUND:
        gap = 100.0 * (max(lowest) - min(lowest))
        remedy = "start from a posture in which both feet are on the ground: a posture named standing is used"
        yield Finding("note", "feet", f"one is {gap:.0f} cm above the other in the neutral posture", remedy)
    else:
        yield Finding("good", "feet", f"{listing(feet)}, at the height {min(lowest):.3f} m")


def _limits(figure: Figure) -> Iterator[Finding]:
    """Joints without limits, and joints that cannot move."""
    turning = [joint for joint in figure.joints if joint.scalars]
    free = [joint.name for joint in turning if any(map(math.isinf, (*joint.lower, *joint.upper)))]
    free += [joint.name for joint in figure.joints if joint.kind == "ball" and joint.ball_limits is None]
    locked = [joint.name for joint in turning if joint.lower == joint.upper]
    if free:
        remedy = "give them limits = [low, high], so that solutions stay inside what the real joints can do"
        yield Finding("note", "limits", f"none for {listing(free)}", remedy)
    if locked:
        remedy = 'widen their limits, or make them kind = "fixed"'
        yield Finding("note", "limits", f"{listing(locked)} cannot move: both limits are equal", remedy)
    wide = [joint.name for joint in turning if _turns(joint) > MOST_TURNS]
    if wide:
        remedy = 'give its limits in radians, or write angles = "degrees" into its file'
        yield Finding("note", "limits", f"{listing(wide)} can turn more than {MOST_TURNS:g} times around", remedy)
    if not (free or locked or wide):
        yield Finding("good", "limits", f"of all joints: {len(figure.moving_joints) - _floats(figure)}")


def _turns(joint: Joint) -> float:
    """How often a hinge can turn around; 0 for a joint of another kind, or without limits."""
    span = joint.upper[0] - joint.lower[0] if joint.kind == "revolute" else 0.0
    return span / math.tau if math.isfinite(span) else 0.0


def _speeds(figure: Figure) -> Iterator[Finding]:
    motors = [joint for joint in figure.joints if joint.active and joint.nq == 1]
    without = [joint.name for joint in motors if math.isinf(joint.speed)]
    if without:
        remedy = (
            "give them speed = …, or servos a speed in their file; without it a robot moves them at 57°/s or 10 cm/s"
        )
        yield Finding("note", "speeds", f"unknown for {listing(without)}", remedy)
    elif motors:
        yield Finding("good", "speeds", f"of all motors: {len(motors)}")


def _masses(figure: Figure) -> Iterator[Finding]:
    if figure.mass > 0.0:
        yield Finding("good", "mass", f"{figure.mass:.3g} kg")
    else:
        remedy = "give bodies a mass or a density"
        yield Finding("note", "mass", "none, so that balance and torques cannot be computed", remedy)


def _face(figure: Figure) -> Iterator[Finding]:
    """Which way the head looks."""
    head = head_of(figure)
    if head is not None and figure.facing_axis(head) is None:
        remedy = 'write facing = "z", or the axis it looks along, into its [[body]] or [[site]]'
        yield Finding("note", "facing", f"{head} looks along its own +Y, which may be its crown", remedy)
    yield from (Finding("good", "facing", line) for line in facing_words(figure))


def _meshes(figure: Figure) -> Iterator[Finding]:
    """Whether the mesh files exist and can be read."""
    paths = Counter(shape.path for body in figure.bodies for shape in body.shapes if isinstance(shape, Mesh))
    if not paths:
        return
    problems = [problem for path in paths if (problem := _mesh_problem(path, figure.folder))]
    if problems:
        more = f"; {len(problems) - 1} more" if len(problems) > 1 else ""
        remedy = "put the files where the figure's file says, relative to its folder"
        yield Finding("bad", "meshes", f"{problems[0]}{more}", remedy)
    else:
        yield Finding("good", "meshes", f"all {len(paths)} files can be read")


def _mesh_problem(reference: str, folder: Path | None) -> str:
    found = find_mesh(reference, folder)
    if found is None:
        return f"{reference} is not in {folder or Path.cwd()}"
    try:
        read_triangles(found)
    except (PoiseError, OSError) as problem:
        return str(problem).rstrip(".")
    return ""


def _loops(figure: Figure) -> Iterator[Finding]:
    if not figure.loops:
        return
    gap = figure.closure_error(figure.neutral())
    if gap > CLOSED:
        remedy = "figure.assemble({}) closes it; check the frames of the loop joints"
        yield Finding("bad", "loops", f"open by {gap:.2g} in the neutral posture", remedy)
    else:
        yield Finding("good", "loops", f"{len(figure.loops)}, closed in the neutral posture")


def _postures(figure: Figure) -> Iterator[Finding]:
    """Named postures outside the limits."""
    wrong = {name: figure.violations(name) for name in figure.posture_names}
    wrong = {name: found for name, found in wrong.items() if found}
    for name, found in wrong.items():
        yield Finding("note", "postures", f"in {name!r}, {found[0]}", "widen the limit, or change the posture")
    if figure.posture_names and not wrong:
        yield Finding("good", "postures", f"{listing(figure.posture_names)}, all inside the limits")


def _retargeting(figure: Figure) -> Iterator[Finding]:
    roles = figure.roles
    if roles:
        yield Finding("good", "retargeting", f"finds {listing(sorted(roles))}")
