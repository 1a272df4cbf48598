"""Forces of the ground, found for the user inside the friction cones (the wish of [Baerlocher 2001, 7.3.8])."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from poise.errors import TaskError
from poise.figure.model.figure import Figure, PostureLike
from poise.figure.model.pose import FloatArray
from poise.forces.acting import Acting, acting_on, footholds_of
from poise.forces.loads import Load, Support
from poise.kernels.body.queries import node_frames
from poise.kernels.body.tree import center_of_mass
from poise.kernels.forces.reactions import Footholds, contact_reactions
from poise.kernels.forces.statics import Wrenches
from poise.kernels.maths.vector import Vector

BALANCED_RESIDUAL = 1e-9
"""Rest, as a fraction of the load, up to which a figure counts as balanced."""


@dataclass(frozen=True)
class Reactions:
    """What the ground does to each support."""

    supports: dict[str, FloatArray]
    """Force on each support (3,) [N], by site."""
    contact_point: FloatArray
    """(c, 3) where the ground pushes [m]."""
    contact_force: FloatArray
    """(c, 3) how hard [N]."""
    footholds: Footholds
    rest_force: FloatArray
    """(3,) force that stays unbalanced [N]."""
    rest_moment: FloatArray
    """(3,) moment that stays unbalanced, about the middle of the contacts [N m]."""
    rest: float
    """All that stays unbalanced, as a fraction of the load."""

    @property
    def balanced(self) -> bool:
        """Whether the friction cones suffice."""
        return self.rest <= BALANCED_RESIDUAL

    def wrenches(self, acting: Acting) -> Wrenches:
        """The given forces, and these in place of what the supports carry."""
        given, c = acting.applied(), self.footholds
        count = len(c.node)
        return Wrenches(
            np.concatenate([given.node, c.node]),
            np.concatenate([given.point, c.point]),
            np.concatenate([given.force, self.contact_force]),
            np.concatenate([given.torque, np.zeros((count, 3))]),
            np.concatenate([given.local, np.zeros(count, dtype=np.int64)]),
            np.zeros((len(given.node) + count, 2)),
        )

    def center_of_pressure(self, site: str) -> FloatArray:
        """(3,) where the force on a support acts [m]; the middle of its contacts where it has none."""
        rows = self.footholds.support == list(self.supports).index(site)
        push = np.einsum("ij,ij->i", self.contact_force[rows], self.footholds.normal[rows])
        weights = push if push.sum() > 0.0 else np.ones_like(push)
        return np.asarray(weights @ self.contact_point[rows] / weights.sum())


class Ground:
    """The contacts of one figure in one posture, ready for questions about its balance."""

    def __init__(self, figure: Figure, posture: PostureLike, acting: Acting) -> None:
        if not acting.supports:
            raise TaskError(f"figure {figure.name!r} has no supports here: give one Support per foot that carries it.")
        _refuse_doubles(acting)
        self.acting = acting
        self.footholds = footholds_of(acting)
        self.table = acting.applied()
        self.tree = figure.compiled.tree
        self.position, self.rotation, _ = node_frames(self.tree, figure.posture(posture)._q)
        self.center = np.array(center_of_mass(self.tree, self.position, self.rotation, np.empty_like(self.position)))
        shares = [np.nan if s.share is None else s.share for s in acting.supports]
        self.share, self.open = np.array(shares), np.full(len(shares), np.nan)

    def react(self, center: FloatArray | None = None, *, shared: bool = True) -> tuple[Reactions, float]:
        """Reactions with the centre of mass where it is or elsewhere, and the length that weighs moments [m]."""
        count = len(self.footholds.node)
        point, force, rest = np.empty((count, 3)), np.empty((count, 3)), np.empty(6)
        _, reach, left = contact_reactions(
            self.tree,
            self.position,
            self.rotation,
            Vector(*(self.center if center is None else center).tolist()),
            self.table,
            self.acting.gravity,
            self.footholds,
            self.share if shared else self.open,
            point,
            force,
            rest,
        )
        by_site = {
            support.site: force[self.footholds.support == i].sum(axis=0)
            for i, support in enumerate(self.acting.supports)
        }
        return Reactions(by_site, point, force, self.footholds, rest[:3].copy(), rest[3:].copy(), left), reach


def _refuse_doubles(acting: Acting) -> None:
    sites = [support.site for support in acting.supports]
    for site in sites:
        if sites.count(site) > 1:
            raise TaskError(f"site {site!r} is given as a support twice; give it once, with all its contacts.")


def find_reactions(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> Reactions:
    """Forces of the ground that balance weight and forces as well as the friction cones let them, and the least such.

    A support with a share must carry it; how it pushes sideways, and what supports without a share carry, is found.
    """
    return Ground(figure, posture, acting_on(figure, forces, supports)).react()[0]
