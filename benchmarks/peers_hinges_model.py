"""A figure as an MJCF model of hinges alone: every ball joint becomes three of them, with limits, one body for each.

A ball joint is R = R_x(a) R_z(b) R_y(c): limbs of the human point along y, so that the last hinge twists them. Each
hinge has the widest range of angles that the limits of the ball joint allow.
"""

from __future__ import annotations

from functools import lru_cache
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from poise.figure.model.joints import Joint

ORDER = "XZY"
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
SAMPLES = 3000
LIGHT = 1e-4
"""Mass of the bodies between the hinges of one joint [kg]; MuJoCo takes none without mass."""


def hinges_of(figure: poise.Figure) -> list[str]:
    """Names of the hinges."""
    return [f"{joint.name}.{k}" for joint in figure.joints if joint.kind != "free" for k in range(joint.nv)]


def to_hinges(posture: poise.Posture, world: np.ndarray) -> np.ndarray:
    """Position and quaternion (w first) of the base in a turned world, then the angles of all hinges."""
    base = np.asarray(posture["base"])
    turned = Rotation.from_matrix(world) * Rotation.from_quat(base[3:], scalar_first=True)
    parts = [world @ base[:3], turned.as_quat(scalar_first=True)]
    for joint in (j for j in posture.figure.joints if j.kind != "free"):
        value = np.atleast_1d(posture[joint.name])
        parts.append(angles(value) if joint.kind == "ball" else value)
    return np.concatenate(parts)


def angles(quaternion: np.ndarray) -> np.ndarray:
    """The angles of three hinges that turn as a quaternion does."""
    return np.asarray(Rotation.from_quat(quaternion, scalar_first=True).as_euler(ORDER))


def from_hinges(figure: poise.Figure, values: np.ndarray, world: np.ndarray) -> poise.Posture:
    """The posture of values that `to_hinges` gives."""
    q = np.empty(figure.nq)
    turned = Rotation.from_matrix(world.T) * Rotation.from_quat(values[3:7], scalar_first=True)
    q[:7], at = (*(world.T @ values[:3]), *turned.as_quat(scalar_first=True)), 7
    for joint in (j for j in figure.joints if j.kind != "free"):
        own = values[at : at + joint.nv]
        if joint.kind == "ball":
            own = Rotation.from_euler(ORDER, own).as_quat(scalar_first=True, canonical=True)
        q[figure.q_slice(joint.name)] = own
        at += joint.nv
    return figure.posture(q)


@lru_cache(maxsize=4)
def ball_ranges(figure: poise.Figure) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Least and greatest angles (3,) of the hinges of each ball joint, over many postures inside all limits."""
    rng, neutral = np.random.default_rng(0), figure.neutral()
    balls = [joint.name for joint in figure.joints if joint.kind == "ball"]
    seen: dict[str, list[np.ndarray]] = {name: [] for name in balls}
    for _ in range(SAMPLES):
        turns = Rotation.random(len(balls), rng=rng).as_quat(scalar_first=True)
        legal = figure.clamp(neutral.changed(dict(zip(balls, turns, strict=True))))
        for name in balls:
            seen[name].append(angles(np.asarray(legal[name])))
    return {name: (np.min(rows, axis=0), np.max(rows, axis=0)) for name, rows in seen.items()}


def hinge_mjcf(figure: poise.Figure, sites: dict[str, str]) -> str:
    """The model; `sites` are new names with a site or body of the figure."""
    hangs: dict[str | None, list[tuple[str, Joint]]] = {}
    for body, joint in figure.tree_order:
        assert joint is not None and not joint.reversed, "only figures on joints of their own"
        hangs.setdefault(joint.parent, []).append((body, joint))
    marks: dict[str, list[str]] = {}
    for name, site in sites.items():
        known = site in figure.sites.names
        body = figure.sites[site].body if known else site
        at, turn = (
            (figure.sites[site].pose.position, figure.sites[site].pose.rotation)
            if known
            else (np.zeros(3), (1, 0, 0, 0))
        )
        marks.setdefault(body, []).append(f"<site name={quoteattr(name)} pos={_numbers(at)} quat={_numbers(turn)}/>")
    inside = "".join(_body(figure, hangs, marks, *entry) for entry in hangs[None])
    return f"<mujoco><compiler angle='radian'/><worldbody>{inside}</worldbody></mujoco>"


def _body(
    figure: poise.Figure,
    hangs: dict[str | None, list[tuple[str, Joint]]],
    marks: dict[str, list[str]],
    body: str,
    joint: Joint,
) -> str:
    """A body with the hinges of its joint, its sites, and all that hangs on it."""
    inner = "".join(_body(figure, hangs, marks, *entry) for entry in hangs.get(body, []))
    mass = figure.bodies[body].mass
    inside = (
        f"<inertial pos={_numbers(mass.center)} mass='{max(mass.mass, LIGHT)}' diaginertia='.1 .1 .1'/>"
        f"{''.join(marks.get(body, []))}{inner}"
    )
    at = _numbers(joint.parent_frame.position)
    if joint.kind == "free":
        return f"<body name={quoteattr(body)} pos={at}><freejoint name={quoteattr(joint.name)}/>{inside}</body>"
    if joint.kind == "ball":
        axes, (low, high) = AXES, ball_ranges(figure)[joint.name]
    else:
        axes, low, high = np.asarray(joint.axes), np.asarray(joint.lower), np.asarray(joint.upper)
    light = f"<inertial pos='0 0 0' mass='{LIGHT}' diaginertia='{LIGHT} {LIGHT} {LIGHT}'/>"
    for k in reversed(range(joint.nv)):
        last = k == joint.nv - 1
        name, place = body if last else f"{joint.name}.{k} body", at if k == 0 else "'0 0 0'"
        hinge = quoteattr(f"{joint.name}.{k}")
        hinge = f"<joint name={hinge} axis={_numbers(axes[k])} range={_numbers((low[k], high[k]))}/>"
        inside = f"<body name={quoteattr(name)} pos={place}>{hinge}{'' if last else light}{inside}</body>"
    return inside


def _numbers(values: object) -> str:
    return "'" + " ".join(repr(float(value)) for value in np.asarray(values)) + "'"
