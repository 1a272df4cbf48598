"""`Mechanism`: a builder of figures with loops, from links and the joints between them.

    m = Mechanism("four_bar", ground="frame", shapes=[...])
    m.link("crank", shapes=[bar(A, B, 0.01)], mass=0.1)
    m.motor(revolute("drive", "z"), "frame", "crank", at=A)
    m.hinge(revolute("knuckle", "z"), "crank", "coupler", at=B)
    figure = m.build()

All positions are world coordinates in the rest posture, in which no body is rotated. `build` chooses a spanning tree;
the other joints become loop joints. Motors are always in the tree, so that their values are coordinates. Of the passive
joints, those with the fewest degrees of freedom enter the tree first, in the order given, so that the cut joints remove
as many coordinates as possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import FigureError
from poise.figure.assembly.cut_joint_guards import with_cut_limits
from poise.figure.model.builder import Builder
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.pose import FloatArray, Pose, vector
from poise.figure.model.shapes import Shape


@dataclass(frozen=True)
class Connection:
    """A joint between two links."""

    joint: Joint
    at: FloatArray
    """(3,) world position in the rest posture [m]."""


@dataclass
class Mechanism:
    """Collects links and connections; `build` returns the figure."""

    name: str
    description: str
    ground: str
    """Name of the link that does not move."""
    shapes: list[Shape] = field(default_factory=list)
    """Solids of the ground."""
    mass: float = 1.0
    """Mass of the ground [kg]."""

    def __post_init__(self) -> None:
        """Add the ground as the first link."""
        self._links: dict[str, tuple[list[Shape], float]] = {self.ground: (self.shapes, self.mass)}
        self._connections: list[Connection] = []
        self._sites: list[tuple[str, str, FloatArray]] = []

    def link(self, name: str, shapes: Iterable[Shape], mass: float) -> str:
        """Add a rigid link with a mass [kg], and return its name."""
        self._links[name] = (list(shapes), mass)
        return name

    def motor(self, joint: Joint, parent: str, child: str, at: ArrayLike) -> None:
        """Connect two links with a driven joint at a world position."""
        self._connect(joint, parent, child, at)

    def hinge(self, joint: Joint, parent: str, child: str, at: ArrayLike) -> None:
        """Connect two links with a passive joint of any kind at a world position."""
        self._connect(replace(joint, active=False), parent, child, at)

    def site(self, name: str, link: str, at: ArrayLike) -> None:
        """Add a named point of a link at a world position."""
        self._sites.append((name, link, vector(at)))

    def _connect(self, joint: Joint, parent: str, child: str, at: ArrayLike) -> None:
        """Add a connection; refuses links that have not been added."""
        for link in (parent, child):
            if link not in self._links:
                raise FigureError(f"joint {joint.name!r} connects the link {link!r}, which has not been added.")
        self._connections.append(Connection(replace(joint, parent=parent, child=child), vector(at)))

    def build(self) -> Figure:
        """The figure, with each body's frame at the joint to its parent, and cut joints as loop joints with limits."""
        chosen = self._spanning_tree()
        tree_joints = self._orient(chosen)
        origin = {link: np.zeros(3) for link in self._links} | {c.joint.child: c.at for c in tree_joints}
        figure = Builder(self.name, description=self.description)
        for link, (shapes, mass) in self._links.items():
            moved = [replace(s, pose=Pose(s.pose.position - origin[link], s.pose.rotation)) for s in shapes]
            figure.body(link, shapes=moved, mass=mass)
        order = [c.joint.name for c in self._connections]
        for c in sorted(tree_joints, key=lambda c: order.index(c.joint.name)):
            assert c.joint.parent is not None
            figure.joints.append(replace(c.joint, parent_frame=Pose(c.at - origin[c.joint.parent])))
        for c in self._connections:
            if c not in chosen:
                figure.loops.append(_placed(c, origin))
        for name, link, at in self._sites:
            figure.site(name, link, at - origin[link])
        return with_cut_limits(figure.build())

    def _spanning_tree(self) -> list[Connection]:
        """The joints of the tree by Kruskal's algorithm: motors first, then passive joints with the fewest freedoms."""
        group = {link: link for link in self._links}
        chosen = []
        for c in sorted(self._connections, key=lambda c: (not c.joint.active, c.joint.nv)):
            a, b = group[str(c.joint.parent)], group[c.joint.child]
            if a != b:
                chosen.append(c)
                group = {link: a if g == b else g for link, g in group.items()}
            elif c.joint.active:
                raise FigureError(
                    f"the motors of mechanism {self.name!r} form a loop at {c.joint.name!r}: make one of them passive."
                )
        return chosen

    def _orient(self, chosen: list[Connection]) -> list[Connection]:
        """The tree's joints, each with the link that is nearer to the ground as its parent."""
        reached, tree_joints = {self.ground}, []
        waiting = list(chosen)
        while waiting:
            c = next((c for c in waiting if c.joint.parent in reached or c.joint.child in reached), None)
            if c is None:
                raise FigureError(
                    f"link {waiting[0].joint.child!r} of mechanism {self.name!r} is not connected to the ground."
                )
            waiting.remove(c)
            outward = c.joint if c.joint.parent in reached else c.joint.turned_around()
            reached.add(outward.child)
            tree_joints.append(Connection(outward, c.at))
        return tree_joints


def _placed(c: Connection, origin: dict[str, FloatArray]) -> Joint:
    """A loop joint with its frames in the frames of both bodies."""
    parent, child = str(c.joint.parent), c.joint.child
    return replace(c.joint, parent_frame=Pose(c.at - origin[parent]), child_frame=Pose(c.at - origin[child]))
