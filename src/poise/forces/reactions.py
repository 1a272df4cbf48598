"""Contact forces of the ground, computed inside the friction cones (as proposed by [Baerlocher 2001, 7.3.8])."""

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
"""Residual, as a fraction of the load, up to which a figure counts as balanced."""


@dataclass(frozen=True)
class Reactions:
    """Forces of the ground on each support, and the residual that they cannot balance."""

    supports: dict[str, FloatArray]
    """Force on each support (3,) [N], by site."""
    contact_point: FloatArray
    """(c, 3) contact points in the world [m]."""
    contact_force: FloatArray
    """(c, 3) force of the ground at each contact point [N]."""
    footholds: Footholds
    """The contact points on the nodes of the figure."""
    rest_force: FloatArray
    """(3,) unbalanced force [N]."""
    rest_moment: FloatArray
    """(3,) unbalanced moment about the middle of the contact points [N m]."""
    rest: float
    """Size of the unbalanced force and moment, as a fraction of the load."""

    @property
    def balanced(self) -> bool:
        """Whether forces inside the friction cones balance the figure."""
        return self.rest <= BALANCED_RESIDUAL

    def wrenches(self, acting: Acting) -> Wrenches:
        """The table of the applied forces and these contact forces, instead of the supports' shares."""
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
        """(3,) centre of pressure of a support [m]; the middle of its contact points if it carries nothing."""
        rows = self.footholds.support == list(self.supports).index(site)
        pressure = np.einsum("ij,ij->i", self.contact_force[rows], self.footholds.normal[rows])
        weights = pressure if pressure.sum() > 0.0 else np.ones_like(pressure)
        return np.asarray(weights @ self.contact_point[rows] / weights.sum())


class Ground:
    """The contacts and loads of a figure in one posture, from which contact forces are computed."""

    def __init__(self, figure: Figure, posture: PostureLike, acting: Acting) -> None:
        if not acting.supports:
            raise TaskError(f"figure {figure.name!r} needs supports: give one Support for each foot that carries it.")
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
        """Compute the contact forces that balance the figure as well as possible.

        Args:
            center: (3,) centre of mass to assume [m]; the actual one if None.
            shared: Whether supports with a share carry exactly that share.

        Returns:
            The reactions, and the length by which moments are divided to compare them with forces [m].
        """
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
    """Raise `TaskError` if two supports have the same site."""
    sites = [support.site for support in acting.supports]
    for site in sites:
        if sites.count(site) > 1:
            raise TaskError(f"site {site!r} is given as a support twice; give it once, with all its contacts.")


def find_reactions(
    figure: Figure, posture: PostureLike, forces: Iterable[Load] = (), supports: Iterable[Support] = ()
) -> Reactions:
    """Find the smallest contact forces inside the friction cones that balance weight and forces as well as possible.

    A support with a share carries exactly that share along gravity; its tangential force, and the whole force of a
    support without a share, are free.
    """
    return Ground(figure, posture, acting_on(figure, forces, supports)).react()[0]
