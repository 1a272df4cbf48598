"""Joint torques that hold a posture, and the criterion of small torques [Baerlocher 2001, 6.4–6.5]."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray
from poise.forces.acting import Acting, acting_on
from poise.forces.loads import Load, Support
from poise.forces.reactions import Reactions
from poise.kernels.body.queries import node_frames
from poise.kernels.forces.joint_torques import force_derivatives, holding_torques_under, make_load_work, torque_gradient
from poise.kernels.forces.statics import Wrenches


def joint_torques(
    figure: Figure,
    posture: PostureLike,
    forces: Iterable[Load] = (),
    supports: Iterable[Support] = (),
    *,
    reactions: Reactions | None = None,
) -> FloatArray:
    """(nv,) torques [N m] and forces [N] with which the joints hold a posture [Baerlocher 2001, eq. 6.11].

    The entries of a floating base, which has no motor, are the unbalanced force and moment.

    Args:
        figure: The figure. Forces in its loops are ignored: the torques are those of its tree.
        posture: Its posture.
        forces: Forces on it; standard gravity unless another is among them.
        supports: Supports, each of which carries its share.
        reactions: Contact forces from `find_reactions`, instead of the shares.
    """
    acting = acting_on(figure, forces, supports)
    table = acting.wrenches if reactions is None else reactions.wrenches(acting)
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, figure.posture(posture)._q)
    out = np.empty(figure.nv)
    holding_torques_under(tree, position, rotation, axes, table, acting.gravity, make_load_work(len(position)), out)
    return out


def torque_slopes(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> FloatArray:
    """(nv, nv) derivative of the joint torques by the degrees of freedom [Baerlocher 2001, eq. 6.13]."""
    acting = acting_on(figure, forces, supports)
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, figure.posture(posture)._q)
    out = np.empty((figure.nv, figure.nv))
    force_derivatives(
        tree, position, rotation, axes, acting.wrenches, acting.gravity, make_load_work(len(position)), out
    )
    return -out


@dataclass(frozen=True)
class TorqueCriterion:
    """The effort of holding a posture: f = ½ Σ (τ / strength)² [Baerlocher 2001, eq. 6.12, 6.5.2].

    If neither the criterion nor the figure gives strengths, all are 1.
    """

    forces: tuple[Load, ...] = ()
    """Forces on the figure; supports and gravity may be among them."""
    strength: float | Mapping[str, float] | None = None
    """Strength of all joints, or of some by name [N m or N]; the strengths of the figure otherwise. The torque of a
    joint of infinite strength does not count."""
    joints: tuple[str, ...] | None = None
    """Names of the joints whose torques count; all but free and passive joints if None."""

    def __post_init__(self) -> None:
        """Freeze the collections and check the strengths."""
        object.__setattr__(self, "forces", tuple(self.forces))
        if self.joints is not None:
            object.__setattr__(self, "joints", tuple(self.joints))
        if isinstance(self.strength, Mapping):
            object.__setattr__(self, "strength", dict(self.strength))
        values = self.strength.values() if isinstance(self.strength, Mapping) else [self.strength]
        for value in values:
            if value is not None and (math.isnan(value) or value <= 0.0):
                raise TaskError(f"a strength must be a positive number of N m, not {value}.")

    def weakness(self, figure: Figure) -> FloatArray:
        """(nv,) 1 / strength of the joint of each degree of freedom; 0 where its torque does not count."""
        strengths = self._strengths(figure)
        counted = self.joints
        if counted is None:
            counted = tuple(j.name for j in figure.joints if j.active and j.kind != "free")
        out = np.zeros(figure.nv)
        for name in counted:
            out[figure.v_slice(name)] = 1.0 / look_up(strengths, name, "joint", f"figure {figure.name!r}")
        return out

    def _strengths(self, figure: Figure) -> dict[str, float]:
        """Strength of every joint, by name [N m or N]."""
        if isinstance(self.strength, int | float):
            return {joint.name: float(self.strength) for joint in figure.joints}
        known = {joint.name: joint.strength for joint in figure.joints}
        given = self.strength or {}
        for name, value in given.items():
            look_up(known, name, "joint", f"figure {figure.name!r}")
            known[name] = float(value)
        return known if any(map(math.isfinite, known.values())) else dict.fromkeys(known, 1.0)

    def acting(self, figure: Figure) -> Acting:
        """The forces, compiled for the kernels."""
        return acting_on(figure, self.forces)

    def evaluate(self, figure: Figure, posture: PostureLike) -> tuple[float, FloatArray]:
        """The effort f in a posture, and its exact gradient (nv,)."""
        acting = self.acting(figure)
        return _effort(figure, posture, acting, acting.wrenches, self.weakness(figure))


def _effort(
    figure: Figure, posture: PostureLike, acting: Acting, table: Wrenches, weakness: FloatArray
) -> tuple[float, FloatArray]:
    """The effort under a table of wrenches, and its gradient (nv,)."""
    tree = figure.compiled.tree
    position, rotation, axes = node_frames(tree, figure.posture(posture)._q)
    torque, gradient = np.empty(figure.nv), np.empty(figure.nv)
    effort = torque_gradient(
        tree, position, rotation, axes, table, acting.gravity, weakness, make_load_work(len(position)), torque, gradient
    )
    return effort, gradient
