"""Postures of the human as vectors of numbers that do not depend on its place and heading, and their mirror images.

Place and heading are those of the feet's frame (`poise.kernels.body.likely_posture`).

The values of a posture are the position of the pelvis in the feet's frame [m], the left and the up axis of the pelvis
in that frame, and all other joints in the order of their velocities: hinges by angle, ball joints by the rotation
vector log(m⁻¹ q) from their mean m [rad]. The mirror image of a posture has the values of the other side, with some
signs changed: mirroring is linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray
from poise.figures.people.likely_posture import BASE_RATES, BASE_VALUES, MIRROR, OTHER_SIDE, TURNED, Layout
from poise.kernels.body.likely_posture import feet_frame


class FeetFrames(NamedTuple):
    """Places and headings of n figures."""

    yaw: FloatArray
    """(n,) angles about the vertical [rad]."""
    origin: FloatArray
    """(n, 3) origins [m]."""

    @property
    def rotation(self) -> FloatArray:
        """(n, 3, 3) rotations from the feet's frame to the world."""
        return Rotation.from_rotvec(self.yaw[:, None] * np.array([0.0, 1.0, 0.0])).as_matrix()


def feet_frames(position: FloatArray, rotation: FloatArray) -> FeetFrames:
    """The frames of feet at positions (n, 2, 3), left before right, with rotations (n, 2, 4)."""
    found = [feet_frame(*poses) for poses in zip(position, rotation, strict=True)]
    return FeetFrames(np.array([yaw for yaw, _ in found]), np.array([origin for _, origin in found]))


class PostureValues:
    """Converts postures of one human to values and back."""

    def __init__(self, figure: Figure, ball_means: FloatArray) -> None:
        """Use the mean rotations (b, 4) of the ball joints, in the order of the joints."""
        self.nq, self.count, self.ball_means = figure.nq, figure.nv + BASE_VALUES - BASE_RATES, ball_means
        layout = Layout.of(figure)
        self.ball_q = layout.ball_q[:, None] + np.arange(4)
        self.ball_values = layout.ball_value[:, None] + np.arange(3)
        self.hinge_q, self.hinge_values = layout.hinge_q, layout.hinge_value
        self.source, self.sign = layout.source, layout.sign

    def mirrored(self, values: FloatArray) -> FloatArray:
        """Values (n, count) of the mirror images."""
        return values[:, self.source] * self.sign

    def values(self, q: FloatArray, feet: FeetFrames) -> FloatArray:
        """Values (n, count) of postures (n, nq)."""
        out = np.empty((len(q), self.count))
        from_world = feet.rotation.transpose(0, 2, 1)
        pelvis = from_world @ Rotation.from_quat(q[:, 3:7], scalar_first=True).as_matrix()
        out[:, :3] = np.einsum("nij,nj->ni", from_world, q[:, :3] - feet.origin)
        out[:, 3:6], out[:, 6:9] = pelvis[:, :, 0], pelvis[:, :, 1]
        turned = self._means(len(q)).inv() * Rotation.from_quat(q[:, self.ball_q].reshape(-1, 4), scalar_first=True)
        out[:, self.ball_values] = turned.as_rotvec().reshape(len(q), -1, 3)
        out[:, self.hinge_values] = q[:, self.hinge_q]
        return out

    def postures(self, values: FloatArray, feet: FeetFrames) -> FloatArray:
        """Postures (n, nq) with given values; the axes of the pelvis are made orthonormal."""
        q = np.empty((len(values), self.nq))
        left = values[:, 3:6] / np.linalg.norm(values[:, 3:6], axis=1, keepdims=True)
        up = values[:, 6:9] - (values[:, 6:9] * left).sum(1, keepdims=True) * left
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        pelvis = feet.rotation @ np.stack([left, up, np.cross(left, up)], axis=-1)
        q[:, :3] = np.einsum("nij,nj->ni", feet.rotation, values[:, :3]) + feet.origin
        q[:, 3:7] = Rotation.from_matrix(pelvis).as_quat(scalar_first=True)
        turned = self._means(len(q)) * Rotation.from_rotvec(values[:, self.ball_values].reshape(-1, 3))
        q[:, self.ball_q] = turned.as_quat(scalar_first=True, canonical=True).reshape(len(q), -1, 4)
        q[:, self.hinge_q] = values[:, self.hinge_values]
        return q

    def _means(self, n: int) -> Rotation:
        """Mean rotations of all ball joints, n times over."""
        return Rotation.from_quat(np.tile(self.ball_means, (n, 1)), scalar_first=True)


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


def in_feet_frame(handles: Handles, feet: FeetFrames) -> Handles:
    """Handles in the world, seen from the feet."""
    from_world = feet.rotation.transpose(0, 2, 1)
    position = np.einsum("nij,nkj->nki", from_world, handles.position - feet.origin[:, None])
    return handles._replace(position=position, rotation=np.einsum("nij,nkjl->nkil", from_world, handles.rotation))
