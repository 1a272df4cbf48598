"""A retargeting as the studio shows it: the clip, who performs it, the pairs, the motion, and how good it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.motion.clip.clip import Clip
from poise.motion.clip.motion import Motion
from poise.motion.mapping.mapping import JointMap
from poise.motion.report.report import Quality, measure
from poise.motion.retarget.retarget import retarget
from poise.pictures.camera import world_axes
from poise.pictures.parts import appearance
from poise.studio.wire.overlays import bones, rounded

MOST_TRACES = 8
"""How many joints are plotted: those that move most."""
MOST_POINTS = 1200
"""How many points a line has at most."""
FITTED = 60
"""Frames on which the source is laid beside the figure."""
_NUMBERS = count()
APART = 0.2
"""Room between the figure and its source, in heights of the taller one."""


@dataclass(frozen=True, eq=False)
class Wish:
    """What shall be retargeted."""

    clip: Clip
    figure: Figure
    """Who shall perform it, as it was chosen."""
    mapping: JointMap
    tempo: float = 1.0
    balance: bool = False


@dataclass(frozen=True, eq=False)
class Work:
    """A wish that was solved."""

    wish: Wish
    motion: Motion
    quality: Quality
    source: FloatArray
    """(frames, bodies, 3) the clip's bodies, in the size of the figure and beside it [m]."""
    middle: FloatArray
    """(3,) between the figure and its source in the first frame [m]."""
    radius: float
    """Of a ball around both [m]."""
    number: int = field(default_factory=lambda: next(_NUMBERS))
    """No two have the same."""

    def frame_at(self, time: float) -> int:
        """The frame at a time [s]."""
        return min(max(round(time * self.motion.rate), 0), len(self.motion) - 1)

    @property
    def spikes(self) -> list[float]:
        """Times of frames that jerk unlike all others [s]."""
        return [frame / self.motion.rate for frame in self.quality.spikes]

    def places(self, frame: int) -> list[float]:
        """Where the source's bodies are."""
        return rounded(self.source[frame])

    def pairs(self) -> list[tuple[int, int]]:
        """The source's bones."""
        return bones(self.wish.clip.figure)

    def plots(self) -> dict[str, Any]:
        """Error, joints and speed over the whole motion."""
        motion = self.motion
        step = max(1, -(-len(motion) // MOST_POINTS))
        names, angles, speed = joint_lines(motion)
        return {
            "kind": "clip",
            "times": np.round(motion.times[::step], 4).tolist(),
            "marks": self.spikes,
            "plots": [
                _plot("error", "mm", ["mean error"], [1e3 * self.quality.tracking[::step]], floor=0),
                _plot("joints", "°", names, [line[::step] for line in angles]),
                _plot("fastest joint", "rad/s", ["speed"], [speed[::step]], floor=0),
            ],
        }


def _plot(title: str, unit: str, names: list[str], lines: list[FloatArray], **more: Any) -> dict[str, Any]:
    values = [np.round(np.nan_to_num(line), 3).tolist() for line in lines]
    return {"title": title, "unit": unit, "names": names, "lines": values, "limit": None, **more}


def solved(wish: Wish, progress: Callable[[int, int], None]) -> Work:
    """Retarget, and measure; raises `PoiseError` for what cannot be."""
    motion = retarget(wish.clip, wish.figure, wish.mapping, tempo=wish.tempo, balance=wish.balance, progress=progress)
    source = laid_over(wish.clip, motion)
    ours = appearance(motion.figure).vertices(motion.figure.frames(motion[0]))
    source = source + beside(motion.figure, ours, source)
    both = np.concatenate([ours, source[0]])
    low, high = both.min(axis=0), both.max(axis=0)
    return Work(wish, motion, measure(motion), source, 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)))


def joint_lines(motion: Motion) -> tuple[list[str], list[FloatArray], FloatArray]:
    """Names and angles of the joints that move most [°], and the speed of the fastest joint in every frame."""
    figure = motion.figure
    rates = np.vstack([motion.velocity, np.zeros((1, figure.nv))])
    of_base = [joint.name for joint in figure.joints if joint.kind == "free"]
    turns = [name for name in figure.moving_joints if name not in of_base]
    if not turns:
        return [], [], np.abs(rates).max(axis=1)
    sizes = np.array([np.abs(rates[:, figure.v_slice(name)]).max(axis=1) for name in turns])
    most = np.argsort(-sizes.sum(axis=1), kind="stable")[:MOST_TRACES]
    rest = motion[0]
    turned = np.degrees(np.array([figure.difference(rest, posture) for posture in motion]))
    lines = [turned[:, figure.v_slice(turns[k])] for k in most]
    widest = [line[:, int(np.argmax(np.ptp(line, axis=0)))] for line in lines]
    return [turns[k] for k in most], widest, sizes.max(axis=0)


def laid_over(clip: Clip, motion: Motion) -> FloatArray:
    """(frames, bodies, 3) the clip's bodies turned, sized and moved as its targets were."""
    track = motion.track
    assert track is not None
    rows = clip.positions([body.name for body in clip.figure.bodies])
    chosen = np.unique(np.linspace(0, len(clip) - 1, FITTED).astype(int))
    joints = [joint for joint in track.targets if joint in clip.figure.bodies.names]
    theirs = np.concatenate([rows[chosen, clip.figure.bodies.index(joint)] for joint in joints])
    ours = np.concatenate([track.targets[joint][chosen] for joint in joints])
    turn, scale, moved = similarity(theirs, ours)
    found: FloatArray = scale * rows @ turn.T + moved
    return found


def beside(figure: Figure, ours: FloatArray, source: FloatArray) -> FloatArray:
    """(3,) how far to its left a figure's source is drawn, so that they stay clear of each other [m].

    Args:
        figure: Who says where left and up are.
        ours: (k, 3) points of the figure in the first frame [m].
        source: (frames, bodies, 3) the source, over the figure [m].
    """
    _, left, up = world_axes(figure.up)
    around = source[:: max(1, len(source) // FITTED)]
    theirs = around - around[:, :1] + source[0, 0]
    height = max(float(np.ptp(ours @ up)), float(np.ptp(source[0] @ up)))
    return np.asarray(((ours @ left).max() - (theirs @ left).min() + APART * height) * left)


def similarity(source: FloatArray, target: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Rotation R (3, 3), scale s and shift t (3,) that bring points nearest: min Σ |s R a + t - b|² [Umeyama 1991]."""
    a, b = source - source.mean(axis=0), target - target.mean(axis=0)
    u, sizes, v = np.linalg.svd(b.T @ a)
    mirror = np.diag([1.0, 1.0, float(np.sign(np.linalg.det(u @ v)) or 1.0)])
    turn = u @ mirror @ v
    spread = float((a * a).sum())
    scale = float((sizes * np.diag(mirror)).sum()) / spread if spread > 0.0 else 1.0
    return turn, scale, target.mean(axis=0) - scale * turn @ source.mean(axis=0)
