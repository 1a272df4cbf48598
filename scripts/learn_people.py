"""Learn where people's joints are together, and write what `poise.figures.people.likely_posture` reads.

    python scripts/learn_people.py

retargets the captured clips on the built-in human (once, four minutes), leaves out the subjects that are kept for
testing, and trains the network twice: without a fifth of the other subjects, to measure how far real postures of unseen
people are from the likely ones, then with all of them. Takes some minutes on one core; the seed fixes the result.

**Data.** Frames of a clip in which no point has moved by `MIN_MOVE` from one that is kept are left out, so that
standing and walking do not outweigh the rest. Some frames are used again, turned as a whole by any rotation: captured
people seldom have their feet above their heads. Every frame is used with its mirror image.

**Loss.** δ² (√(1 + (e/δ)²) - 1) of the errors e of the standardised values, those of the pelvis counting double. Large
errors count linearly: of several postures that people take for the same handles the network learns a frequent one
rather than the mean of all. Each time a frame is seen, other points are given, drawn by the shares in `PLACED` and
`TURNED`, in half of the cases fewer of them: one network answers for every set of handles. Noise on the handles keeps
it smooth. Adam [Kingma & Ba 2015] with weight decay, a warm-up and a cosine schedule.

**Spread.** With d = q ⊖ c(h) for real postures q of unseen subjects and random sets of handles, the squared spread of a
velocity is mean of d² + ε², the same for the mirrored one and for the three axes of a ball joint.
(The whole inverse covariance instead of the variances changed no distance by more than 2 mm.)
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from people_clips import clip_names, held_out, postures_of
from posture_values import FeetFrames, Handles, Network, PostureValues, feet_frames, in_feet_frame
from scipy.spatial.transform import Rotation

import poise
from poise.figures.people import likely_posture as model
from poise.figures.people.likely_posture import POINTS, other_side

MIN_MOVE = 0.04
"""Least distance that some point has moved between two frames that are used [m]."""
COMPARED = 200
"""Number of earlier frames of the clip that a frame is compared with."""
TILTED_SHARE = 0.1
"""Share of the frames that is used a second time, turned as a whole by any rotation."""
PLACED = np.array([1.0, 1.0, 0.7, 0.7, 0.5, 0.3, 0.2, 0.12, 0.12, 0.12, 0.12])
"""How often each point is given."""
TURNED = np.array([1.0, 1.0, 0.3, 0.3, 0.3, 0.3, 0.2, 0.0, 0.0, 0.0, 0.0])
"""How often its rotation is given too."""
FEWER = 0.35
"""Factor on the shares in half of the cases."""
HIDDEN, EPOCHS, BATCH, RATE, DECAY, NOISE = 192, 120, 1024, 3e-3, 1e-2, 0.02
"""Units of a hidden layer; passes over the data; frames of a step; learning rate; weight decay; noise [m]."""
CORE = 0.3
"""δ, standardised error from which on the loss grows linearly."""
PELVIS_WEIGHT = 2.0
"""Weight of the pelvis' values in the loss."""
SPREAD_FLOOR = 0.02
"""ε, standard deviation that even the best known joint has [rad]."""
SEED = 0


class Frames(NamedTuple):
    """Postures of people with their handles in the feet's frame; all points are given."""

    values: np.ndarray
    handles: Handles
    subject: np.ndarray

    def chosen(self, rows: np.ndarray) -> Frames:
        """Some of the frames."""
        return Frames(self.values[rows], Handles(*(part[rows] for part in self.handles)), self.subject[rows])


def main() -> None:
    """Retarget, fit and save."""
    human = poise.load("human")
    names = clip_names()
    tests = held_out(names)
    clips = {name: thinned(human, postures_of(name, human)) for name in names if name not in tests}
    q = np.concatenate(list(clips.values()))
    subject = np.repeat([int(name.split("_")[0]) for name in clips], [len(part) for part in clips.values()])
    upright = len(q)
    tilt = np.random.default_rng(SEED).permutation(upright)[: round(TILTED_SHARE * upright)]
    q, subject = np.concatenate([q, tilted(q[tilt])]), np.concatenate([subject, subject[tilt]])
    chart = PostureValues(human, ball_means(human, q))
    frames = described(human, chart, q, subject)
    print(f"{upright} frames of {len(clips)} clips; {len(tests)} clips kept for testing", flush=True)
    unseen = np.isin(subject, np.unique(subject)[1::5])
    tested = frames.chosen(unseen & (np.arange(len(q)) < upright))
    spread = measured_spread(train(frames.chosen(~unseen), chart), tested, chart, human)
    save(train(frames, chart), chart, spread, tests)


def points(human: poise.Figure, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """World positions (n, p, 3) and rotations (n, p, 4) of `POINTS`."""
    rows = [human.compiled.frame_index[name] for name in POINTS]
    found = [human.frames(posture) for posture in q]
    return np.array([frame.position[rows] for frame in found]), np.array([frame.rotation[rows] for frame in found])


def thinned(human: poise.Figure, q: np.ndarray) -> np.ndarray:
    """The frames in which some point has moved by `MIN_MOVE`, seen from the pelvis, from all that are kept."""
    position, _ = points(human, q)
    pelvis = Rotation.from_quat(q[:, 3:7], scalar_first=True).as_matrix()
    seen = np.einsum("nji,nkj->nki", pelvis, position - q[:, None, :3])
    kept: list[int] = []
    for i in range(len(q)):
        if not kept or np.abs(seen[i] - seen[kept[-COMPARED:]]).max(axis=(1, 2)).min() > MIN_MOVE:
            kept.append(i)
    return q[kept]


def tilted(q: np.ndarray) -> np.ndarray:
    """Postures (n, nq) turned as a whole, by any rotation."""
    turn = Rotation.random(len(q), rng=np.random.default_rng(SEED))
    found = q.copy()
    found[:, :3] = turn.apply(q[:, :3])
    found[:, 3:7] = (turn * Rotation.from_quat(q[:, 3:7], scalar_first=True)).as_quat(scalar_first=True)
    return found


def ball_means(human: poise.Figure, q: np.ndarray) -> np.ndarray:
    """Mean rotations (b, 4) of the ball joints and of the mirror images of those of the other side."""
    means = []
    for joint in (j for j in human.joints if j.kind == "ball"):
        at = human.compiled.q_slices
        left, right = joint.name.replace("right_", "left_"), joint.name.replace("left_", "right_")
        other = right if joint.name == left else left
        both = np.concatenate([q[:, at[joint.name]], q[:, at[other]] * [1.0, 1.0, -1.0, -1.0]])
        means.append(Rotation.from_quat(both, scalar_first=True).mean().as_quat(scalar_first=True, canonical=True))
    return np.array(means)


def described(human: poise.Figure, chart: PostureValues, q: np.ndarray, subject: np.ndarray) -> Frames:
    """Values and handles of postures."""
    position, rotation = points(human, q)
    feet = feet_frames(position, rotation)
    matrices = Rotation.from_quat(rotation.reshape(-1, 4), scalar_first=True).as_matrix()
    all_given = np.ones(position.shape[:2])
    handles = Handles(position, matrices.reshape(*position.shape, 3), all_given, all_given)
    handles = in_feet_frame(handles, feet)
    return Frames(chart.values(q, feet), handles, subject)


def some_given(handles: Handles, rng: np.random.Generator) -> Handles:
    """The handles with a random choice of what is given."""
    shares = np.where(rng.random((len(handles.placed), 1)) < 0.5, FEWER * PLACED, PLACED)
    shares[:, :2] = 1.0
    placed = (rng.random(shares.shape) < shares).astype(np.float32)
    return handles._replace(placed=placed, turned=placed * (rng.random(placed.shape) < TURNED))


def with_noise(handles: Handles, rng: np.random.Generator) -> Handles:
    """The handles moved and turned a little."""
    position = handles.position + NOISE * rng.standard_normal(handles.position.shape, np.float32)
    rotation = handles.rotation + 2.0 * NOISE * rng.standard_normal(handles.rotation.shape, np.float32)
    return handles._replace(position=position, rotation=rotation)


def train(frames: Frames, chart: PostureValues) -> Network:
    """A network fitted to frames and their mirror images."""
    rng, begin = np.random.default_rng(SEED), time.perf_counter()
    pairs = zip(frames.handles, frames.handles.mirrored(), strict=True)
    handles = Handles(*(np.concatenate(pair).astype(np.float32) for pair in pairs))
    values = np.concatenate([frames.values, chart.mirrored(frames.values)])
    mean, scale = values.mean(0), np.maximum(values.std(0), 0.05)
    wanted = ((values - mean) / scale).astype(np.float32)
    empty = Network((), handles.position.mean(0).astype(float), mean, scale)
    first = empty.inputs(Handles(*(part[:1] for part in handles))).shape[1]
    network = empty._replace(layers=first_layers([first, HIDDEN, HIDDEN, chart.count], rng))
    moments = [[np.zeros_like(part) for part in layer for _ in range(2)] for layer in network.layers]
    steps = EPOCHS * len(values) // BATCH
    for step in range(steps):
        rows = rng.integers(len(values), size=BATCH)
        given = with_noise(some_given(Handles(*(part[rows] for part in handles)), rng), rng)
        gradients, loss = loss_gradients(network, network.inputs(given).astype(np.float32), wanted[rows])
        for layer, gradient, moment in zip(network.layers, gradients, moments, strict=True):
            adam_step(layer, gradient, moment, step, schedule(step / steps))
        if step % 1000 == 0:
            print(f"step {step} of {steps}: loss {loss:.3f}, {time.perf_counter() - begin:.0f} s", flush=True)
    return network


def first_layers(sizes: list[int], rng: np.random.Generator) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Random weights and zero biases of layers between these numbers of units."""
    return tuple(
        ((rng.standard_normal((a, b)) / np.sqrt(a)).astype(np.float32), np.zeros(b, dtype=np.float32))
        for a, b in pairwise(sizes)
    )


def loss_gradients(
    network: Network, inputs: np.ndarray, wanted: np.ndarray
) -> tuple[list[tuple[np.ndarray, np.ndarray]], float]:
    """Derivatives of the loss by the weights and biases of each layer, by backpropagation, and the loss."""
    outputs = network.activations(inputs)
    weight = np.ones(wanted.shape[1], dtype=np.float32)
    weight[:9] = PELVIS_WEIGHT
    error = outputs[-1] - wanted
    root = np.sqrt(1.0 + (error / CORE) ** 2)
    slope = weight * error / (root * np.float32(error.size))
    gradients = []
    for (weights, _), below in zip(reversed(network.layers), reversed(outputs[:-1]), strict=True):
        gradients.append((below.T @ slope, slope.sum(0)))
        slope = (slope @ weights.T) * (1.0 - below**2)
    return gradients[::-1], float((weight * CORE**2 * (root - 1.0)).mean())


def schedule(done: float) -> float:
    """Learning rate after a share of all steps: a tenth to warm up, then half a cosine."""
    return RATE * (done / 0.1 if done < 0.1 else 0.5 * (1.0 + np.cos(np.pi * (done - 0.1) / 0.9)))


def adam_step(
    layer: tuple[np.ndarray, np.ndarray], gradient: tuple[np.ndarray, np.ndarray], moments: list, step: int, rate: float
) -> None:
    """One step of Adam for a layer, in place; only weights decay."""
    for k, (value, slope) in enumerate(zip(layer, gradient, strict=True)):
        mean, square = moments[2 * k], moments[2 * k + 1]
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope**2 - square)
        way = (mean / (1.0 - 0.9 ** (step + 1))) / (np.sqrt(square / (1.0 - 0.999 ** (step + 1))) + 1e-8)
        value -= (rate * (way + (DECAY * value if k == 0 else 0.0))).astype(np.float32)


def measured_spread(network: Network, unseen: Frames, chart: PostureValues, human: poise.Figure) -> np.ndarray:
    """Standard deviation (nv,) of real postures about the likely ones, for random sets of handles."""
    likely = network.values(some_given(unseen.handles, np.random.default_rng(SEED)), chart)
    n = len(likely)
    home = FeetFrames(np.zeros(n), np.zeros((n, 3)))
    pairs = zip(chart.postures(likely, home), chart.postures(unseen.values, home), strict=True)
    squares = np.square([human.difference(a, b) for a, b in pairs]).mean(0)
    spread = np.sqrt(squares)
    for joint in (j for j in human.joints if j.kind != "free"):
        at, other = human.v_slice(joint.name), human.v_slice(other_side(joint.name))
        square = 0.5 * (squares[at] + squares[other])
        spread[at] = np.sqrt((square.mean() if joint.kind == "ball" else square) + SPREAD_FLOOR**2)
    print(f"unseen people: pelvis within {1e3 * np.sqrt(squares[:3].sum()):.0f} mm (r.m.s.)", flush=True)
    return spread


def save(network: Network, chart: PostureValues, spread: np.ndarray, tests: list[str]) -> None:
    """Write the file of the package; the weights with 32 bits."""
    layers = {}
    for k, (weights, bias) in enumerate(network.layers):
        layers |= {f"weights_{k}": weights, f"bias_{k}": bias}
    np.savez_compressed(
        model.FILE,
        **layers,
        **{name: getattr(network, name) for name in ("point_mean", "value_mean", "value_scale")},
        ball_means=chart.ball_means,
        spread=spread,
        held_out=np.array(tests),
    )
    print(f"{model.FILE.name}: {model.FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
