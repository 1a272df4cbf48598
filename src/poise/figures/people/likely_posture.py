"""The posture that people take for given feet, hands, head and other points, learnt from motion capture.

**Model.** Given the frames of both feet and the places of some other points, *handles* h, the joints of people's
postures q are spread about a centre c(h):

    -log p(q | h) = ½ Σ w_i d_i² + const        d = q ⊖ c(h)        q = c ⊕ d

with w_i the inverse variance of each velocity. A network with two hidden layers computes the centre. Its inputs u are,
in the feet's frame, the positions of the given points, two axes of the bodies whose rotation is given, and a 1 for all
that is given, with zeros for the rest:

    y(u) = W₃ tanh(W₂ tanh(W₁ u + b₁) + b₂) + b₃        values(h) = μ + σ ∘ ½ (y(u) + M y(M u))

where M mirrors: the answer to mirrored handles is exactly the mirrored posture. The values are the position of the
pelvis [m], its left and its up axis, and for every other joint its angle or, for a ball joint, the rotation vector from
its mean [rad]. The centre is a smooth function of the handles: it does not jump when one of them moves on.

**Derivatives.** The centre is constant during a step of a solver, so that the criterion ½ Σ w_i d_i² is the distance to
a posture (`poise.tasks.criteria.Near`). For hinges d is a difference; for rotations it is r = log(c⁻¹ q) with
ṙ = A(r) ω,

    A(r) = 1 + ½ [r]ₓ + κ [r]ₓ²        κ = 1/|r|² - (1 + cos|r|) / (2 |r| sin|r|)        (1/12 as |r| → 0)

Its gradient is Aᵀ w d and its Gauss–Newton Hessian Aᵀ diag(w) A. The weights of the model are equal for the three axes
of a ball joint, where the gradient is w d exactly, because A(r)ᵀ r = r.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.model.compiled import IntArray
from poise.figure.model.figure import Figure
from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.kernels.body.likely_posture import TURNED_POINTS, LikelyModel, feet_frame, likely_coordinates

POINTS = (
    "left_foot", "right_foot", "left_hand", "right_hand", "head", "pelvis", "thorax",
    "left_shank", "right_shank", "left_ulna", "right_ulna",
)  # fmt: skip
"""Sites and bodies that can be given; both feet must be. Knees are the origins of the shanks, elbows of the ulnae."""
FEET = POINTS[:2]
SHOULDERS = ("left_shoulder", "right_shoulder")
"""The joints from which free arms hang."""
TURNED = TURNED_POINTS
"""How many of the first points can have a rotation."""
BASE_VALUES = 9
"""Number of values of the pelvis: position, left axis and up axis."""
BASE_RATES = 6
"""Number of velocities of the pelvis."""
MIRROR = np.array([-1.0, 1.0, 1.0])
"""Signs of a vector's coordinates in the mirror; the figure's left is +x."""
FILE = Path(__file__).with_name("people.npz")


def other_side(name: str) -> str:
    """Name of the mirror image of a joint, a body or a site."""
    side, _, rest = name.partition("_")
    return {"left": "right_", "right": "left_"}[side] + rest if side in ("left", "right") and rest else name


OTHER_SIDE = np.array([POINTS.index(other_side(name)) for name in POINTS])


class Layout(NamedTuple):
    """Where the values of a posture are in its coordinates, and which value of the mirror image each one is."""

    ball_q: IntArray
    """(b,) first coordinate of each ball joint."""
    ball_value: IntArray
    """(b,) first value of each ball joint."""
    hinge_q: IntArray
    """(h,) coordinate of each hinge."""
    hinge_value: IntArray
    """(h,) value of each hinge."""
    source: IntArray
    """(count,) the value of the mirror image that each value comes from."""
    sign: FloatArray
    """(count,) its sign there."""

    @classmethod
    def of(cls, figure: Figure) -> Layout:
        """The layout of a figure that is built like the human; joints that not every human has are left out."""
        q, v = figure.compiled.q_slices, figure.compiled.v_slices
        joints = [joint for joint in figure.joints if joint.kind != "free" and joint.name in _human_joints()]
        count = BASE_RATES + sum(joint.nv for joint in joints)
        shift, balls = BASE_VALUES - BASE_RATES, [j.name for j in joints if j.kind == "ball"]
        hinges = [j.name for j in joints if j.kind != "ball"]
        source, sign = np.arange(count + shift), np.ones(count + shift)
        sign[:BASE_VALUES] = np.concatenate([MIRROR, -MIRROR, MIRROR])
        for joint in joints:
            here, there = v[joint.name], v[other_side(joint.name)]
            source[here.start + shift : here.stop + shift] = np.arange(there.start, there.stop) + shift
            if joint.kind == "ball":
                sign[here.start + shift + 1 : here.stop + shift] = -1.0
        return cls(
            np.array([q[name].start for name in balls]),
            np.array([v[name].start for name in balls]) + shift,
            np.concatenate([np.arange(q[name].start, q[name].stop) for name in hinges]),
            np.concatenate([np.arange(v[name].start, v[name].stop) for name in hinges]) + shift,
            source,
            sign,
        )


class People(NamedTuple):
    """What was learnt from people."""

    layers: tuple[tuple[FloatArray, FloatArray], ...]
    """Weights (inputs, outputs) and biases (outputs,) of each layer of the network."""
    point_mean: FloatArray
    """(p, 3) mean position of each point in the feet's frame [m]."""
    value_mean: FloatArray
    """(count,) mean of the values, μ."""
    value_scale: FloatArray
    """(count,) spread of the values, σ."""
    ball_means: FloatArray
    """(b, 4) mean rotation of each ball joint."""
    spread: FloatArray
    """(nv,) standard deviation of real postures about the likely ones [rad or m]."""
    held_out: tuple[str, ...]
    """Clips that the model has not seen."""

    @property
    def weight(self) -> FloatArray:
        """(nv,) inverse variance, 1 for the median joint and 0 for the base, which feet and other handles hold."""
        weight: FloatArray = 1.0 / np.square(self.spread)
        weight /= np.median(weight[BASE_RATES:])
        weight[:BASE_RATES] = 0.0
        return weight


@cache
def people() -> People:
    """What was learnt from people, read from the file that comes with poise."""
    with np.load(FILE) as file:
        names = [name for name in file.files if name.startswith("weights_")]
        layers = tuple(
            (file[name].astype(float), file[name.replace("weights", "bias")].astype(float)) for name in names
        )
        names = ["point_mean", "value_mean", "value_scale", "ball_means", "spread"]
        return People(layers, **{name: file[name] for name in names}, held_out=tuple(file["held_out"].tolist()))


@lru_cache(maxsize=16)
def people_of(figure: Figure) -> People | None:
    """What was learnt from people, for a human of any size, whose eyes and fingers may move; else None."""
    from poise.figures.people.human_body import human

    like = human(eyes=True, fingers=True)
    known = {joint.name: (joint.kind, joint.parent) for joint in like.joints}
    same = all(known.get(joint.name) == (joint.kind, joint.parent) for joint in figure.joints)
    first = figure.joints.names[: len(_human_joints())] == _human_joints()
    return people() if same and first and figure.up == like.up else None


@cache
def _human_joints() -> tuple[str, ...]:
    """Names of the joints that every human has; those that not every one has come after them."""
    from poise.figures.people.human_body import human

    return human().joints.names


@lru_cache(maxsize=256)
def handle_point(figure: Figure, part: str) -> str | None:
    """The one of `POINTS` on the same body as a site or body; None if there is none."""
    bodies = {figure.body_of(point): point for point in POINTS}
    return part if part in POINTS else bodies.get(figure.body_of(part))


class Likely(NamedTuple):
    """The likely posture for some handles, and how much it counts to be near to it."""

    posture: Posture
    weight: FloatArray
    """(nv,) weight of each velocity in the distance to the posture."""


def likely_posture(human: Figure, handles: Mapping[str, Pose | ArrayLike]) -> Likely:
    """The posture that people are likely to take when their feet, and perhaps hands or head, are in given places.

    Args:
        human: The built-in human.
        handles: Poses or positions of some of `POINTS` [m]; both feet need poses.
    """
    q = human.neutral()._q.copy()
    given = handle_arrays(handles)
    if not given.turned[:2].all():
        raise FigureError("a likely posture needs the poses of left_foot and right_foot.")
    likely_coordinates(likely_model(human), *given, q)
    return Likely(human.clamp(human.posture(q)), people().weight)


class HandleArrays(NamedTuple):
    """Handles in the order of `POINTS`, for the kernels."""

    position: FloatArray
    """(p, 3) positions [m]."""
    rotation: FloatArray
    """(p, 4) rotations."""
    placed: FloatArray
    """(p,) 1 where the position is given, else 0."""
    turned: FloatArray
    """(p,) 1 where the rotation is given, else 0."""

    def set(self, name: str, position: FloatArray, rotation: FloatArray | None = None) -> None:
        """Set the position (3,) of a point, and its rotation (4,) if it is given and the model knows it."""
        i = look_up(POINT_INDEX, name, "point", "the model of people")
        self.position[i], self.placed[i] = position, 1.0
        if rotation is not None:
            self.rotation[i], self.turned[i] = rotation, float(i < TURNED)


def feet_pose(feet: Sequence[Pose]) -> Pose:
    """The feet's frame of a left and a right foot: see `poise.kernels.body.likely_posture`."""
    yaw, origin = feet_frame(np.array([f.position for f in feet]), np.array([f.rotation for f in feet]))
    return Pose(origin, (np.cos(0.5 * yaw), 0.0, np.sin(0.5 * yaw), 0.0))


POINT_INDEX = {name: i for i, name in enumerate(POINTS)}


def handle_arrays(handles: Mapping[str, Pose | ArrayLike]) -> HandleArrays:
    """Poses and positions of points as arrays."""
    n = len(POINTS)
    found = HandleArrays(np.zeros((n, 3)), np.zeros((n, 4)), np.zeros(n), np.zeros(n))
    found.rotation[:, 0] = 1.0
    for name, given in handles.items():
        if isinstance(given, Pose):
            found.set(name, given.position, given.rotation)
        else:
            found.set(name, np.asarray(given, dtype=np.float64))
    return found


def likely_model(human: Figure) -> LikelyModel:
    """The model as arrays for the kernels, for one figure; each thread has a workspace of its own."""
    return _model_in_thread(human, threading.get_ident())


@lru_cache(maxsize=64)
def _model_in_thread(human: Figure, _thread: int) -> LikelyModel:
    from poise.figures.people.human_body import human as of_size

    height, learnt_on = human.neutral()._q[1], of_size().neutral()._q[1]
    model, layout = people(), Layout.of(human)
    (w0, b0), (w1, b1), (w2, b2) = model.layers
    return LikelyModel(
        weights=(w0, w1, w2),
        bias=(b0, b1, b2),
        point_mean=model.point_mean,
        value_mean=model.value_mean,
        value_scale=model.value_scale,
        source=layout.source,
        sign=layout.sign,
        other_point=OTHER_SIDE,
        ball_q=layout.ball_q,
        ball_value=layout.ball_value,
        ball_mean=model.ball_means,
        hinge_q=layout.hinge_q,
        hinge_value=layout.hinge_value,
        size=np.array([height / learnt_on]),
        layer=tuple(np.zeros((2, size)) for size in (w0.shape[0], *(w.shape[1] for w in (w0, w1, w2)))),  # type: ignore[arg-type]
        values=np.zeros(len(model.value_mean)),
    )
