"""A retargeting as the studio shows it: the request, the motion, its quality, and the clip beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.motion.clip.clip import Clip
from poise.motion.clip.motion import Motion
from poise.motion.mapping.mapping import JointMap, Link
from poise.motion.report.report import Quality, measure
from poise.motion.retarget.retarget import retarget
from poise.pictures.camera import world_axes
from poise.studio.modes.retarget.own import beside, is_own, own_motion
from poise.studio.session.state import appearance_of
from poise.studio.wire.overlays import rounded

JOINTS_PLOTTED = 8
"""Number of joints that are plotted: those that move most."""
POINTS_PLOTTED = 1200
"""Largest number of points of a curve."""
FITTED_FRAMES = 60
"""Number of frames to which the clip's stick figure is aligned."""
_work_numbers = count()
SLOWED_SHARE = 0.01
"""Share of its time by which a motion is longer from which the page says so."""
NEAR_LIMIT_SHARE = 0.8
"""Share of its speed limit from which a joint counts as the one that is too slow."""
SIDE_BY_SIDE_GAP = 0.2
"""Gap between the figure and the clip's stick figure, as a share of the height of the taller one."""


@dataclass(frozen=True, eq=False)
class Request:
    """The inputs of a retargeting."""

    clip: Clip
    """The animation."""
    figure: Figure
    """The figure that performs it, as chosen; the motion's figure may have a free root in addition."""
    mapping: JointMap
    """Links from joints of the clip to sites of the figure."""
    tempo: float = 1.0
    """Playback speed; 0.5 is half as fast."""
    balance: bool = False
    """Whether the centre of mass is kept over the feet."""

    @property
    def is_whole(self) -> bool:
        """Whether every link leads from a part to the part of the same name, as between two motions of one figure."""
        return all(link.joint == link.site for link in self.mapping.links)

    def marks(self) -> list[tuple[int, int, list[float]]]:
        """For every link, the numbers of the clip's body and the figure's body, and the point on that body [m]."""
        found = []
        for link in self.mapping.links:
            body, point = _point_of(self.figure, link)
            joint = self.clip.figure.frame_row(link.joint)
            if joint < len(self.clip.figure.bodies):
                found.append((joint, self.figure.bodies.index(body), rounded(point)))
        return found


def _point_of(figure: Figure, link: Link) -> tuple[str, FloatArray]:
    """The body of a link's site, and the point on it that follows the clip."""
    point = np.zeros(3) if link.point is None else np.array(link.point)
    if link.site in figure.sites:
        site = figure.sites[link.site]
        return site.body, site.pose.apply(point)
    return link.site, point


@dataclass(frozen=True, eq=False)
class Draft:
    """A clip beside a figure before anything is retargeted, for pairs to be chosen."""

    request: Request
    """The inputs."""
    source: FloatArray
    """(bodies, 3) positions of the clip's bodies in its first frame, beside the figure [m]."""
    middle: FloatArray
    """(3,) centre of both [m]."""
    radius: float
    """Radius of a sphere around both [m]."""
    number: int = field(default_factory=lambda: next(_work_numbers))
    """A unique number."""

    def shows(self, request: Request) -> bool:
        """Whether it is of the clip and the figure of a request."""
        return self.request.clip is request.clip and self.request.figure is request.figure


def draft_of(request: Request, posture: Posture) -> Draft:
    """The clip's first frame beside the figure in a posture."""
    ours = appearance_of(request.figure).vertices(request.figure.frames(posture))
    source = beside(request.clip, request.figure, ours)
    first = (source + offset_beside(request.figure, ours, source))[0]
    return Draft(request, first, *_sphere_around(ours, first))


def _sphere_around(*points: FloatArray) -> tuple[FloatArray, float]:
    """The centre (3,) and the radius of a sphere around points [m]."""
    both = np.concatenate(points)
    low, high = both.min(axis=0), both.max(axis=0)
    return 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low))


@dataclass(frozen=True, eq=False)
class Work:
    """A finished retargeting."""

    request: Request
    """The inputs."""
    motion: Motion
    """The resulting motion."""
    quality: Quality
    """Errors and limit violations of the motion."""
    source: FloatArray
    """(frames, bodies, 3) positions of the clip's bodies, scaled to the figure and placed beside it [m]."""
    middle: FloatArray
    """(3,) centre of the figure and the clip's stick figure in the first frame [m]."""
    radius: float
    """Radius of a sphere around both [m]."""
    number: int = field(default_factory=lambda: next(_work_numbers))
    """A unique number."""

    @property
    def nbytes(self) -> int:
        """Memory of the motion, the clip, and the stick figure [bytes]."""
        frames = len(self.motion)
        return int(self.source.nbytes + 8 * frames * (2 * self.motion.figure.nq + self.request.clip.figure.nq))

    def frame_at(self, time: float) -> int:
        """The frame at a time [s]."""
        return min(max(round(time * self.motion.rate), 0), len(self.motion) - 1)

    @property
    def spikes(self) -> list[float]:
        """Times of frames with unusually large jerk [s]."""
        return [frame / self.motion.rate for frame in self.quality.spikes]

    def places(self, frame: int) -> list[float]:
        """Positions of the clip's bodies in a frame, as a flat list [m]."""
        return rounded(self.source[frame])

    @property
    def slowed(self) -> str:
        """A sentence that says that the motion is slower than was asked for, and because of which joint; or ""."""
        asked = (len(self.motion) - 1) / (self.request.clip.rate * self.request.tempo)
        if self.motion.duration < (1.0 + SLOWED_SHARE) * asked:
            return ""
        figure, rates = self.motion.figure, np.abs(self.motion.velocity)
        shares = {
            name: float(np.linalg.norm(rates[:, figure.v_slice(name)], axis=1).max()) / figure.joints[name].speed
            for name in figure.moving_joints
        }
        joint = max(shares, key=lambda name: shares[name])
        reason = f"{joint.replace('_', ' ')} cannot move faster"
        if shares[joint] < NEAR_LIMIT_SHARE:
            reason = "joints would accelerate too much"
        return f"Slowed down from {asked:.1f} s to {self.motion.duration:.1f} s: {reason}."

    def plots(self) -> dict[str, Any]:
        """Three plots over the whole motion: error, joint angles, and speed of the fastest joint."""
        motion = self.motion
        step = max(1, -(-len(motion) // POINTS_PLOTTED))
        names, angles, speed = joint_curves(motion)
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


def solved(request: Request, progress: Callable[[int, int], None]) -> Work:
    """Retarget a clip and measure the quality of the result; raises `PoiseError` if the request cannot be solved."""
    clip, figure, mapping, tempo = request.clip, request.figure, request.mapping, request.tempo
    if request.is_whole and not request.balance and is_own(clip, figure):
        motion = own_motion(clip, figure, mapping, tempo)
    else:
        motion = retarget(clip, figure, mapping, tempo=tempo, balance=request.balance, progress=progress)
    source = aligned_source(clip, motion)
    ours = appearance_of(motion.figure).vertices(motion.figure.frames(motion[0]))
    source = source + offset_beside(motion.figure, ours, source)
    return Work(request, motion, measure(motion), source, *_sphere_around(ours, source[0]))


def joint_curves(motion: Motion) -> tuple[list[str], list[FloatArray], FloatArray]:
    """Names and angles [°] of the joints that move most, and the speed of the fastest joint in every frame [rad/s]."""
    figure = motion.figure
    rates = np.vstack([motion.velocity, np.zeros((1, figure.nv))])
    of_base = [joint.name for joint in figure.joints if joint.kind == "free"]
    turns = [name for name in figure.moving_joints if name not in of_base]
    if not turns:
        return [], [], np.abs(rates).max(axis=1)
    sizes = np.array([np.abs(rates[:, figure.v_slice(name)]).max(axis=1) for name in turns])
    most = np.argsort(-sizes.sum(axis=1), kind="stable")[:JOINTS_PLOTTED]
    rest = motion[0]
    turned = np.degrees(np.array([figure.difference(rest, posture) for posture in motion]))
    lines = [turned[:, figure.v_slice(turns[k])] for k in most]
    widest = [line[:, int(np.argmax(np.ptp(line, axis=0)))] for line in lines]
    return [turns[k] for k in most], widest, sizes.max(axis=0)


def aligned_source(clip: Clip, motion: Motion) -> FloatArray:
    """(frames, bodies, 3) the clip's bodies after the similarity transform that best fits the motion's targets [m]."""
    track = motion.track
    assert track is not None
    rows = clip.positions([body.name for body in clip.figure.bodies])
    chosen = np.unique(np.linspace(0, len(clip) - 1, FITTED_FRAMES).astype(int))
    joints = [joint for joint in track.targets if joint in clip.figure.bodies.names]
    theirs = np.concatenate([rows[chosen, clip.figure.bodies.index(joint)] for joint in joints])
    ours = np.concatenate([track.targets[joint][chosen] for joint in joints])
    turn, scale, moved = similarity(theirs, ours)
    found: FloatArray = scale * rows @ turn.T + moved
    return found


def offset_beside(figure: Figure, ours: FloatArray, source: FloatArray) -> FloatArray:
    """(3,) the shift to the figure's left that keeps the clip's stick figure clear of the figure [m].

    Args:
        figure: The figure, which defines left and up.
        ours: (k, 3) points of the figure in the first frame [m].
        source: (frames, bodies, 3) the clip's bodies, aligned with the figure [m].
    """
    _, left, up = world_axes(figure.up)
    around = source[:: max(1, len(source) // FITTED_FRAMES)]
    theirs = around - around[:, :1] + source[0, 0]
    height = max(float(np.ptp(ours @ up)), float(np.ptp(source[0] @ up)))
    return np.asarray(((ours @ left).max() - (theirs @ left).min() + SIDE_BY_SIDE_GAP * height) * left)


def similarity(source: FloatArray, target: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Rotation R (3, 3), scale s and translation t (3,) that minimise Σ |s R a + t - b|² [Umeyama 1991]."""
    a, b = source - source.mean(axis=0), target - target.mean(axis=0)
    u, sizes, v = np.linalg.svd(b.T @ a)
    mirror = np.diag([1.0, 1.0, float(np.sign(np.linalg.det(u @ v)) or 1.0)])
    turn = u @ mirror @ v
    spread = float((a * a).sum())
    scale = float((sizes * np.diag(mirror)).sum()) / spread if spread > 0.0 else 1.0
    return turn, scale, target.mean(axis=0) - scale * turn @ source.mean(axis=0)
