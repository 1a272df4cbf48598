"""The skeletons and figures 7 to 9 of the paper: which postures and orientations are sampled [Ribeiro & Paiva 2019].

They show the grid of this evaluation, which has about as many postures and orientations as the paper's.
"""

from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Sheet

from poise.chains.chain import Limb, chain_of
from poise.evaluation.erik.sampling import TURN_VALUES, sample_space
from poise.figure.model.pose import FloatArray
from poise.figures import built_in
from poise.kernels.chains.chain import joint_positions, segment_rotations

AXIS_COLORS = {"X": "#d62728", "Y": "#2ca02c", "Z": "#1f5fd0"}
"""Colour of a joint by its axis, as in table 5 of the paper."""
PLOTTED_AXES = {"front": (0, 1), "side": (2, 1), "above": (0, 2)}
"""World axes shown across and upwards in each view."""
EXAMPLES = np.radians([[0, 0, 0], [60, 30, 0], [-45, 75, 40], [50, -80, -50], [90, 45, -90]])
"""Angles of the three joints of skeleton C in the example postures [rad]."""


def skeletons_sheet(letters: str) -> Sheet:
    """The skeletons of table 5 in their rest posture; colours are the axes of the joints."""
    sheet = Sheet(figsize=(11.0, 2.6), layout="constrained")
    for letter, axes in zip(letters, np.atleast_1d(sheet.subplots(1, len(letters), sharey=True)), strict=True):
        limb = chain_of(built_in(f"erik_{letter.lower()}"))
        places = chain_points(limb, np.zeros((1, len(limb.joints))))[0]
        axes.plot(places[:, 0], places[:, 1], color="#777777", linewidth=3.0, zorder=1)
        names = ["XYZ"[int(np.argmax(np.abs(axis)))] for axis in limb.chain.axis]
        axes.scatter(places[:-1, 0], places[:-1, 1], c=[AXIS_COLORS[name] for name in names], s=60, zorder=2)
        axes.set(title=f"{letter}: {'-'.join(names)}", xlim=(-0.3, 0.3))
        axes.title.set_fontsize(8)
        axes.set_axis_off()
    return sheet


def figure_7() -> Sheet:
    """Five example postures of skeleton C, seen from the front and from the side."""
    limb = chain_of(built_in("erik_c"))
    angles = np.zeros((len(EXAMPLES), len(limb.joints)))
    angles[:, limb.chain.middle == 1] = EXAMPLES
    sheet = Sheet(figsize=(11.0, 4.6), layout="constrained")
    axes = sheet.subplots(2, len(EXAMPLES), sharex=True, sharey=True)
    for column, places in enumerate(chain_points(limb, angles)):
        for row, view in enumerate(("front", "side")):
            across, upwards = PLOTTED_AXES[view]
            axis = axes[row, column]
            axis.plot(places[:, across], places[:, upwards], color="#333333", linewidth=2.5, marker="o", markersize=5)
            axis.set_aspect("equal")
            axis.tick_params(labelsize=7)
            if row == 0:
                degrees = ", ".join(f"{value:.0f}°" for value in np.degrees(EXAMPLES[column]))
                axis.set_title(degrees, fontsize=9)
            if column == 0:
                axis.set_ylabel(view, fontsize=9)
    return sheet


def figure_8() -> Sheet:
    """All postures of the grid of skeleton C over each other, in three views."""
    limb = chain_of(built_in("erik_c"))
    places = chain_points(limb, grid_postures(limb))
    sheet = Sheet(figsize=(11.0, 4.0), layout="constrained")
    for axis, (name, view) in zip(sheet.subplots(1, 3), PLOTTED_AXES.items(), strict=True):
        lines = LineCollection([points[:, list(view)] for points in places], colors="#1f5fd0", alpha=0.04, linewidths=1)
        axis.add_collection(lines)
        axis.autoscale()
        axis.set_aspect("equal")
        axis.set_title(f"{name}: {len(places):,} postures", fontsize=9)
        axis.tick_params(labelsize=7)
    return sheet


def figure_9() -> Sheet:
    """The orientations as points: direction by heading and tilt, roll by the distance from the centre and colour."""
    turns = np.linspace(-np.pi, np.pi, TURN_VALUES)
    heading, tilt, roll = (grid.ravel() for grid in np.meshgrid(turns, turns, turns))
    direction = np.stack([np.sin(tilt) * np.sin(heading), np.cos(tilt), np.sin(tilt) * np.cos(heading)], axis=1)
    points = direction * (1.0 + 0.5 * roll / np.pi)[:, None]
    sheet = Sheet(figsize=(11.0, 4.0), layout="constrained")
    for axis, (name, (across, upwards)) in zip(sheet.subplots(1, 3), PLOTTED_AXES.items(), strict=True):
        drawn = axis.scatter(points[:, across], points[:, upwards], c=np.degrees(roll), s=2, cmap="RdYlGn")
        axis.set_aspect("equal")
        axis.set_title(f"{name}: {len(points):,} orientations", fontsize=9)
        axis.tick_params(labelsize=7)
    sheet.colorbar(drawn, ax=sheet.axes, label="roll [°]", shrink=0.8)
    return sheet


def grid_postures(limb: Limb) -> FloatArray:
    """(m, n) angles of every posture of the grid of a chain [rad]."""
    space = sample_space(limb)
    ranges = zip(space.lower, space.upper, strict=True)
    values = [np.linspace(low, high, space.joint_values) if low < high else [low] for low, high in ranges]
    return np.stack([grid.ravel() for grid in np.meshgrid(*values, indexing="ij")], axis=1)


def chain_points(limb: Limb, angles: FloatArray) -> FloatArray:
    """(m, n+1, 3) positions of the joints and the tip for each row of angles [m]."""
    n = len(limb.joints)
    rotations, places = np.empty((n, 4)), np.empty((len(angles), n + 1, 3))
    for row, values in enumerate(np.ascontiguousarray(angles)):
        segment_rotations(limb.chain, values, rotations)
        joint_positions(limb.chain, rotations, places[row])
    return places
