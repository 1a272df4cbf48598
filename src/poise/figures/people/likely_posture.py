"""The posture that people take for given feet, hands, head and other points, learnt from motion capture.

**Model.** Given the frames of both feet and the places of some other points, *handles* h, the joints of people's
postures q are spread about a centre c(h):

    -log p(q | h) = ½ Σ w_i d_i² + const        d = q ⊖ c(h)        q = c ⊕ d

with w_i the inverse variance of each velocity. A network with two hidden layers computes the centre. Its inputs u are,
in the feet's frame, the positions of the given points, two axes of the bodies whose rotation is given, and a 1 for all
that is given, with zeros for the rest:

    y(u) = W₃ tanh(W₂ tanh(W₁ u + b₁) + b₂) + b₃        values(h) = μ + σ ∘ ½ (y(u) + M y(M u))

where M mirrors (`posture_values`): the answer to mirrored handles is exactly the mirrored posture. The centre is a
smooth function of the handles: it does not jump when one of them moves on.

**Derivatives.** The centre is constant during a step of a solver, so that the criterion ½ Σ w_i d_i² is the distance to
a posture (`poise.tasks.criteria.Near`). For hinges d is a difference; for rotations it is r = log(c⁻¹ q) with
ṙ = A(r) ω,

    A(r) = 1 + ½ [r]ₓ + κ [r]ₓ²        κ = 1/|r|² - (1 + cos|r|) / (2 |r| sin|r|)        (1/12 as |r| → 0)

Its gradient is Aᵀ w d and its Gauss–Newton Hessian Aᵀ diag(w) A. The weights of the model are equal for the three axes
of a ball joint, where the gradient is w d exactly, because A(r)ᵀ r = r.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import FigureError
from poise.figure.model.figure import Figure
from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray, Pose, to_matrix
from poise.figure.model.posture import Posture
from poise.figures.people.posture_values import MIRROR, FeetFrame, PostureValues, feet_frame, other_side

POINTS = (
    "left_foot", "right_foot", "left_hand", "right_hand", "head", "pelvis", "thorax",
    "left_shank", "right_shank", "left_ulna", "right_ulna",
)  # fmt: skip
"""Sites and bodies that can be given; both feet must be. Knees are the origins of the shanks, elbows of the ulnae."""
TURNED = 7
"""How many of the first points can have a rotation."""
OTHER_SIDE = np.array([POINTS.index(other_side(name)) for name in POINTS])
FILE = Path(__file__).with_name("people.npz")


class Handles(NamedTuple):
    """Handles of n figures in their feet's frames, in the order of `POINTS`."""

    position: NDArray[np.floating]
    """(n, p, 3) positions [m]; what is not given does not matter."""
    rotation: NDArray[np.floating]
    """(n, p, 3, 3) rotations."""
    placed: NDArray[np.floating]
    """(n, p) 1 where the position is given, else 0."""
    turned: NDArray[np.floating]
    """(n, p) 1 where the rotation is given too, else 0."""

    def mirrored(self) -> Handles:
        """The mirror images."""
        rotation = self.rotation[:, OTHER_SIDE] * np.outer(MIRROR, MIRROR)
        position = self.position[:, OTHER_SIDE] * MIRROR
        return Handles(position, rotation, self.placed[:, OTHER_SIDE], self.turned[:, OTHER_SIDE])


class Network(NamedTuple):
    """The learnt function from handles to values of postures."""

    layers: tuple[tuple[NDArray[np.floating], NDArray[np.floating]], ...]
    """Weights (inputs, outputs) and biases (outputs,) of each layer."""
    point_mean: FloatArray
    """(p, 3) mean position of each point in the feet's frame [m]."""
    value_mean: FloatArray
    """(count,) mean of the values, μ."""
    value_scale: FloatArray
    """(count,) spread of the values, σ."""

    def inputs(self, handles: Handles) -> NDArray[np.floating]:
        """(n, inputs) what the first layer sees: positions, up and forward axes, and what is given."""
        n = len(handles.position)
        places = 2.0 * (handles.position - self.point_mean) * handles.placed[:, :, None]
        axes = np.concatenate([handles.rotation[:, :TURNED, :, 1], handles.rotation[:, :TURNED, :, 2]], axis=-1)
        axes = axes * handles.turned[:, :TURNED, None]
        given = [handles.placed[:, 2:], handles.turned[:, 2:TURNED]]
        return np.concatenate([places.reshape(n, -1), axes.reshape(n, -1), *given], axis=1)

    def activations(self, inputs: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """The inputs, the outputs of every hidden layer, and the standardised values."""
        out = [inputs]
        for weights, bias in self.layers[:-1]:
            out.append(np.tanh(out[-1] @ weights + bias))
        weights, bias = self.layers[-1]
        return [*out, out[-1] @ weights + bias]

    def values(self, handles: Handles, chart: PostureValues) -> FloatArray:
        """Values (n, count) of likely postures: the mean of the answer and of the image of that to mirrored handles."""
        answer, mirrored = (
            self.value_mean + self.value_scale * self.activations(self.inputs(given))[-1]
            for given in (handles, handles.mirrored())
        )
        return 0.5 * (answer + chart.mirrored(mirrored))


class People(NamedTuple):
    """What was learnt from people."""

    network: Network
    ball_means: FloatArray
    """(b, 4) mean rotation of each ball joint."""
    weight: FloatArray
    """(nv,) inverse variance of real postures about the likely ones, 1 for the median joint and 0 for the base."""
    held_out: tuple[str, ...]
    """Clips that the model has not seen."""


@cache
def people() -> People:
    """The model that comes with poise."""
    with np.load(FILE) as file:
        names = [name for name in file.files if name.startswith("weights_")]
        layers = tuple(
            (file[name].astype(float), file[name.replace("weights", "bias")].astype(float)) for name in names
        )
        network = Network(layers, *(file[name] for name in ("point_mean", "value_mean", "value_scale")))
        return People(network, file["ball_means"], file["weight"], tuple(file["held_out"].tolist()))


class Likely(NamedTuple):
    """The likely posture for some handles, and how much it counts to be near to it."""

    posture: Posture
    weight: FloatArray
    """(nv,) weight of each velocity in the distance to the posture."""


def likely_posture(human: Figure, handles: Mapping[str, Pose | ArrayLike]) -> Likely:
    """The posture that people take for some points of the body.

    Args:
        human: The built-in human.
        handles: Poses or positions of some of `POINTS` [m]; both feet need poses.
    """
    index = {name: i for i, name in enumerate(POINTS)}
    position, rotation = np.zeros((1, len(POINTS), 3)), np.zeros((1, len(POINTS), 3, 3))
    placed, turned = np.zeros((1, len(POINTS))), np.zeros((1, len(POINTS)))
    for name, given in handles.items():
        i = look_up(index, name, "point", "the model of people")
        position[0, i] = given.position if isinstance(given, Pose) else np.asarray(given, dtype=np.float64)
        placed[0, i] = 1.0
        if isinstance(given, Pose):
            rotation[0, i], turned[0, i] = to_matrix(given.rotation), float(i < TURNED)
    if not turned[0, :2].all():
        raise FigureError("a likely posture needs the poses of left_foot and right_foot.")
    feet = feet_frame(position[:, :2], rotation[:, :2])
    model, chart = people(), _chart(human)
    values = model.network.values(in_feet_frame(Handles(position, rotation, placed, turned), feet), chart)
    return Likely(human.clamp(human.posture(chart.postures(values, feet)[0])), model.weight)


@lru_cache(maxsize=4)
def _chart(human: Figure) -> PostureValues:
    """The conversion between postures and values."""
    return PostureValues(human, people().ball_means)


def in_feet_frame(handles: Handles, feet: FeetFrame) -> Handles:
    """Handles in the world, seen from the feet."""
    from_world = feet.rotation.transpose(0, 2, 1)
    position = np.einsum("nij,nkj->nki", from_world, handles.position - feet.origin[:, None])
    return handles._replace(position=position, rotation=np.einsum("nij,nkjl->nkil", from_world, handles.rotation))
