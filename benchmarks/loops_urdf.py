"""The tree of a figure as URDF, for libraries that read no other format.

Joints of several turns and slides become chains of single ones. The two sides of every loop joint, and every site,
become links of their own: `NAME.inner` and `NAME.outer`, which a solver has to make coincide, and `site.NAME`.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from poise.figure import Joint, Pose

BALL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def urdf_of(figure: poise.Figure) -> str:
    parts = [f'<link name="{body.name}"/>' for body in figure.bodies]
    for joint in figure.joints:
        parts += _chain(joint)
    for loop in figure.loops:
        sides = [(loop.parent, loop.parent_frame), (loop.child, loop.child_frame)]
        for word, (body, frame) in zip(("inner", "outer"), reversed(sides) if loop.reversed else sides, strict=True):
            parts += _held(f"{loop.name}.{word}", str(body), frame)
    for site in figure.sites:
        parts += _held(f"site.{site.name}", site.body, site.pose)
    return f'<robot name="{figure.name}">\n' + "\n".join(parts) + "\n</robot>\n"


def _chain(joint: Joint) -> list[str]:
    """A joint as hinges and slides in series, and the frame of its child on the last."""
    steps = [("turn", axis) for axis in BALL] if joint.kind == "ball" else list(
        zip(joint.primitives, joint.axes, strict=True)
    )  # fmt: skip
    if joint.reversed and len(steps) > 1:
        raise ValueError(f"joint {joint.name!r} is reversed and has several freedoms.")
    parts, last, origin = [], str(joint.parent), joint.parent_frame
    for i, (step, axis) in enumerate(steps):
        name = joint.name if len(steps) == 1 else f"{joint.name}.{i}"
        along = -np.array(axis) if joint.reversed else np.array(axis)
        low, high = (joint.lower[i], joint.upper[i]) if joint.kind != "ball" else (-np.pi, np.pi)
        low, high = np.nan_to_num([low, high], neginf=-10.0, posinf=10.0)
        kind = "revolute" if step == "turn" else "prismatic"
        parts += [f'<link name="{name}.link"/>', _joint(name, kind, last, f"{name}.link", origin, along, low, high)]
        last, origin = f"{name}.link", Pose()
    return [*parts, _joint(f"{joint.name}.end", "fixed", last, joint.child, origin @ joint.child_frame.inverse())]


def _held(name: str, body: str, frame: Pose) -> list[str]:
    return [f'<link name="{name}"/>', _joint(f"{name}.held", "fixed", body, name, frame)]


def _joint(
    name: str, kind: str, parent: str, child: str, origin: Pose, axis: np.ndarray | None = None,
    low: float = 0.0, high: float = 0.0,
) -> str:  # fmt: skip
    rpy = Rotation.from_matrix(origin.matrix).as_euler("xyz")
    text = f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
    text += f'<origin xyz="{_numbers(origin.position)}" rpy="{_numbers(rpy)}"/>'
    if axis is not None:
        text += f'<axis xyz="{_numbers(axis)}"/><limit lower="{low}" upper="{high}" velocity="100" effort="100"/>'
    return text + "</joint>"


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values)
