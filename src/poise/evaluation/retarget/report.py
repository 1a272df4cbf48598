"""The report of a retargeted motion as an HTML page: pictures, measures with their bounds, and the worst frames."""

from __future__ import annotations

import html
import io
from pathlib import Path

import numpy as np

from poise.errors import FormatError
from poise.evaluation.page import Rows, folded, heading, paragraph, picture, table, write_page
from poise.evaluation.retarget.plots import drawn_joints, drawn_timeline
from poise.evaluation.retarget.poses import drawn_poses, shown_frames
from poise.motion.clip.clip import Clip
from poise.motion.clip.motion import Motion
from poise.motion.report.curves import JointCurve, joint_curves
from poise.motion.report.report import Quality, measure
from poise.pictures.picture import Picture

MAX_FOOT_DRIFT, MAX_PENETRATION, MAX_LOOP_GAP = 1e-3, 1e-3, 1e-6
"""Largest drift of a standing foot [m], penetration of the ground [m], and gap of a loop [m or rad] that pass."""
MAX_LISTED_SPIKES = 20
"""Largest number of spikes in the list."""


def write_report(clip: Clip, motion: Motion, path: str | Path, quality: Quality | None = None) -> Path:
    """Write the report of a motion that was retargeted from a clip as one HTML file; returns its path.

    Args:
        clip: The source clip.
        motion: The retargeted motion.
        path: The file, ending in `.html`.
        quality: The measures of the motion, if they are already computed.
    """
    file = Path(path)
    if file.suffix.lower() != ".html":
        raise FormatError(f"a report is a page such as report.html, not {file.suffix or 'without ending'}.", path)
    known = measure(motion) if quality is None else quality
    title = f"{clip.name or 'A clip'} on {motion.figure.name}"
    return write_page(file, title, _parts(clip, motion, known))


def _parts(clip: Clip, motion: Motion, quality: Quality) -> list[str]:
    curves = joint_curves(motion)
    above, below = drawn_poses(clip, motion, shown_frames(len(motion)))
    parts = [
        paragraph(_introduction(clip, motion)),
        table(("", "measured", "bound", ""), verdicts(motion, quality)),
        heading("Source and result"),
        picture(_png(above), "postures of the clip"),
        picture(_png(below), "postures of the motion", "Above: the clip. Below: the motion, at the same times."),
        heading("Frame by frame"),
        picture(drawn_timeline(motion, quality), "measures over the frames", _timeline_words(motion)),
        *_spikes(motion, quality),
        heading("Joints"),
        picture(drawn_joints(motion, curves, quality), "distance to limits, speed, acceleration and jerk", JOINT_WORDS),
        folded("All joints in numbers", table(JOINT_HEAD, joint_rows(motion, curves))),
    ]
    if quality.errors:
        parts += [heading("Targets"), table(TARGET_HEAD, target_rows(motion, quality))]
    if motion.track is not None:
        words = f"<pre>{html.escape(motion.track.mapping.explain())}</pre>"
        parts.append(folded("How joints of the clip were matched with parts of the figure", words))
    return parts


def _introduction(clip: Clip, motion: Motion) -> str:
    seconds = f"{motion.duration:.2f} s at {motion.rate:.4g} frames per second"
    return (
        f"{len(motion)} frames, {seconds}, of figure {motion.figure.name!r} after a clip of {len(clip)} frames at "
        f"{clip.rate:.4g} per second of {clip.figure.name!r}, a skeleton of {len(clip.figure.bodies)} bodies."
    )


def verdicts(motion: Motion, quality: Quality) -> Rows:
    """Rows of measure, value, bound, and whether the value is within the bound."""
    feet = motion.track is not None and bool(motion.track.locks)
    millimetres = 1e3 * quality.tracking
    rows = [["Tracking: mean, most", f"{millimetres.mean():.1f}, {millimetres.max():.1f} mm", "", ""]]
    if feet:
        sunk, skate = float(quality.penetration.max()), float(quality.skate.max(initial=0.0))
        rows.append(_bounded("Standing feet: drift", quality.drift, MAX_FOOT_DRIFT))
        rows.append(_bounded("Standing feet: skate per frame", skate, MAX_FOOT_DRIFT))
        rows.append(_bounded("Feet below the ground", sunk, MAX_PENETRATION))
    rows.append(_counted("Frames beyond a position limit", len(quality.broken)))
    if any(np.isfinite(joint.speed) for joint in motion.figure.joints):
        rows.append(_counted("Frames beyond a speed limit", len(quality.hurried)))
    if motion.figure.loops:
        verdict = "✓" if quality.closure <= MAX_LOOP_GAP else "✗"
        rows.append(["Loops open by", f"{quality.closure:.1e}", f"{MAX_LOOP_GAP:.0e} m or rad", verdict])
    rows.append(_counted("Frames with spikes", len(quality.spikes)))
    if quality.stands is not None:
        rows.append(["Frames in which no foot stands", str(quality.airborne), "", ""])
    if quality.margin is not None:
        rows.append(_balance(motion, quality))
    return rows


def _bounded(what: str, value: float, bound: float) -> list[str]:
    return [what, f"{1e3 * value:.3f} mm", f"{1e3 * bound:g} mm", "✓" if value <= bound else "✗"]


def _counted(what: str, count: int) -> list[str]:
    return [what, str(count), "0", "✗" if count else "✓"]


def _balance(motion: Motion, quality: Quality) -> list[str]:
    """The row of the balance; it has a verdict only for a motion with a balance task, since others may be dynamic."""
    asked = motion.track is not None and motion.track.center is not None
    # A balance task requires support in every frame.
    fallen = quality.unbalanced + quality.airborne
    row = ["Frames with the centre of mass outside the support", str(quality.unbalanced)]
    return [*row, "0, and no frame in the air" if asked else "", ("✗" if fallen else "✓") if asked else ""]


def _timeline_words(motion: Motion) -> str:
    words = "Red lines are spikes."
    feet = motion.track is not None and bool(motion.track.locks)
    if feet:
        words += " Skate is the distance that a standing heel or ball moves from one frame to the next."
    if feet and motion.figure.mass > 0.0:
        words += " Where the centre of mass is outside the support polygon, a figure that stood still would fall."
    return words


def _spikes(motion: Motion, quality: Quality) -> list[str]:
    if not quality.jerks:
        return []
    worst = sorted(quality.jerks, key=lambda spike: -spike.jerk / spike.threshold)[:MAX_LISTED_SPIKES]
    rows = [
        [str(s.frame), f"{s.frame / motion.rate:.2f} s", s.joint, f"{s.jerk:.3g}", f"{s.threshold:.3g}"]
        for s in sorted(worst, key=lambda spike: spike.frame)
    ]
    listed = table(("frame", "time", "joint", "jerk [1/s³]", "flagged above"), rows)
    more = len(quality.jerks) - len(worst)
    return ["<h3>Spikes</h3>", listed, *([paragraph(f"The largest; {more} more are not listed.")] if more else [])]


JOINT_WORDS = (
    "The most extreme joints are named, all others are grey. Dashed lines are limits of position and speed; "
    "acceleration and jerk have no limits and are shown for comparison. Red lines are spikes."
)
"""Caption of the plots of the joints."""
JOINT_HEAD = ("joint", "to limit", "frame", "fastest", "limit", "frame", "acceleration", "frame", "jerk", "frame")
"""Headings of the table of joints."""


def joint_rows(motion: Motion, curves: list[JointCurve]) -> Rows:
    """The extreme values of every joint, each with its frame."""
    rows = []
    for curve in curves:
        unit, factor = ("mm", 1e3) if curve.slides else ("°", float(np.degrees(1.0)))
        room = ["", ""]
        if curve.room is not None:
            at = int(curve.room.argmin())
            room = [f"{factor * curve.room[at]:.1f} {unit}", str(at)]
        speed = _peak(curve.speed, 1)
        limit = f"{curve.fastest:.3g}" if np.isfinite(curve.fastest) else ""
        over = curve.fastest < curve.speed.max(initial=0.0) * (1.0 - 1e-6)
        fastest = [f"✗ {speed[0]}" if over else speed[0], limit, speed[1]]
        rows.append([curve.joint, *room, *fastest, *_peak(curve.acceleration, 1), *_peak(curve.jerk, 1)])
    return rows


def _peak(values: np.ndarray, first: int) -> list[str]:
    """The largest value and its frame."""
    return [f"{values.max():.3g}", str(int(values.argmax()) + first)] if len(values) else ["", ""]


TARGET_HEAD = ("joint of the clip", "part of the figure", "mean [mm]", "most [mm]", "frame")
"""Headings of the table of targets."""


def target_rows(motion: Motion, quality: Quality) -> Rows:
    """Mean and largest distance of every mapped point from its target."""
    points = motion.track.points if motion.track is not None else {}
    return [
        [joint, points[joint][0], f"{1e3 * error.mean():.1f}", f"{1e3 * error.max():.1f}", str(int(error.argmax()))]
        for joint, error in quality.errors.items()
    ]


def _png(image: Picture) -> bytes:
    out = io.BytesIO()
    image.image().save(out, format="png")
    return out.getvalue()
