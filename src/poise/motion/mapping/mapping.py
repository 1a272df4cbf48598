"""Which joint of a clip leads which part of a figure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Mapping as Table
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.names import listing, suggestion
from poise.motion.clip.clip import Clip
from poise.motion.clip.source import Source
from poise.motion.mapping.roles import roles_of
from poise.motion.mapping.topology import roles_by_shape

WEIGHTS = {
    "pelvis": 1.0,
    "knee": 0.4,
    "ankle": 1.0,
    "toe": 1.0,
    "shoulder": 0.5,
    "elbow": 0.6,
    "wrist": 1.0,
    "fingers": 0.5,
    "neck": 0.5,
    "head": 0.5,
}
"""How much each role counts among those of its level."""
CARRIED = ("hip",)
"""Roles that need no task: the pelvis carries them."""
FEET = ("ankle", "toe")


@dataclass(frozen=True)
class Link:
    """A joint of a clip and the site or body of a figure that it leads."""

    joint: str
    site: str
    role: str = ""
    """What both are, such as "left_knee"; found by the site's name unless said."""
    weight: float = 1.0
    """Against others of its priority; 0 to use the joint for calibration only."""
    axes: str = "xyz"
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Added to its target, in world axes [m]."""
    priority: int = 2
    """Level from 1 on; feet are always on the first."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (math.isfinite(self.weight) and self.weight >= 0.0):
            raise TaskError(f"link {self.joint!r}: weight must be zero or a positive number, not {self.weight}.")
        if not np.isfinite(np.asarray(self.offset, dtype=np.float64)).all() or len(self.offset) != 3:
            raise TaskError(f"link {self.joint!r}: offset must be three finite numbers, not {self.offset}.")
        object.__setattr__(self, "offset", tuple(float(x) for x in self.offset))
        if type(self.priority) is not int or self.priority < 1:
            raise TaskError(f"link {self.joint!r}: priority must be a whole number from 1 on, not {self.priority!r}.")


@dataclass(frozen=True)
class JointMap:
    """All links of a retargeting, and how they were found."""

    links: tuple[Link, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Why each link is there, for proposed ones."""

    @staticmethod
    def propose(clip: Clip, figure: Figure) -> JointMap:
        """Links from names where they say enough, else from the shape of the clip's skeleton."""
        theirs, how = clip_roles(clip)
        ours = figure_roles(figure)
        shared = [role for role in theirs if role in ours]
        if not shared:
            raise TaskError(
                f"no part of figure {figure.name!r} is known to match a joint of clip {clip.name!r}; say which with "
                f'a mapping such as {{"{clip.figure.bodies.names[-1]}": "{_last_name(figure)}"}}. Joints: '
                f"{listing(clip.figure.bodies.names)}. Sites: {listing(figure.sites.names)}."
            )
        links = tuple(Link(theirs[r], ours[r], r, weight_of(r), priority=1 if _kind(r) in FEET else 2) for r in shared)
        return JointMap(links, tuple(f"{link.role}: {link.joint} → {link.site}, by {how}" for link in links))

    @staticmethod
    def of(given: JointMap | Table[str, str] | str | Path | None, clip: Clip, figure: Figure) -> JointMap:
        """A mapping from what a user gave: nothing, a file, or sites by joint."""
        if given is None:
            found = JointMap.propose(clip, figure)
        elif isinstance(given, JointMap):
            found = given
        elif isinstance(given, str | Path):
            from poise.formats.mapping_toml import read_mapping

            found = read_mapping(given)
        else:
            found = JointMap(tuple(Link(joint, site) for joint, site in given.items()))
        return found._checked(clip, figure)

    def save(self, path: str | Path) -> None:
        """Write the mapping as TOML, for people to edit."""
        from poise.formats.mapping_toml import write_mapping

        write_mapping(self, path)

    def explain(self) -> str:
        """One line for each link."""
        lines = self.notes or [f"{link.role or 'part'}: {link.joint} → {link.site}" for link in self.links]
        return "\n".join(lines)

    def by_role(self) -> dict[str, Link]:
        """Links that have a role."""
        return {link.role: link for link in self.links if link.role}

    def _checked(self, clip: Clip, figure: Figure) -> JointMap:
        if not self.links:
            raise TaskError("the mapping is empty; leave it out for a proposed one.")
        names = {site: role for role, site in figure_roles(figure).items()}
        links = []
        for link in self.links:
            _check_name(link.joint, [*clip.figure.bodies.names, *clip.figure.sites.names], f"clip {clip.name!r}")
            figure.frame_row(link.site)
            links.append(link if link.role else _with_role(link, names.get(link.site, "")))
        return JointMap(tuple(links), self.notes)


def clip_roles(clip: Clip) -> tuple[dict[str, str], str]:
    """Roles of a clip's joints, and how they were told."""
    names = [*clip.figure.bodies.names, *clip.figure.sites.names]
    found = roles_of(names)
    if {"left_ankle", "right_ankle"} <= set(found) or len(found) >= 6:
        return found, "name"
    source = Source(clip)
    shape = roles_by_shape(clip.figure, source.positions[:, : len(clip.figure.bodies)], clip.figure.up_vector)
    return (shape, "shape") if len(shape) > len(found) else (found, "name")


def figure_roles(figure: Figure) -> dict[str, str]:
    """Roles of a figure's parts. In a figure with loops only what stands out counts: pelvis, feet and the like."""
    return roles_of([*figure.bodies.names, *figure.sites.names])


def weight_of(role: str) -> float:
    """The usual weight of a role."""
    return WEIGHTS.get(_kind(role), 0.0)


def _kind(role: str) -> str:
    return role.rsplit("_", maxsplit=1)[-1]


def _with_role(link: Link, role: str) -> Link:
    return replace(link, role=role, priority=1 if _kind(role) in FEET else link.priority)


def _check_name(name: str, known: Iterable[str], owner: str) -> None:
    names = list(known)
    if name not in names:
        raise TaskError(f"{owner} has no joint {name!r}.{suggestion(name, names)} Joints: {listing(names)}.")


def _last_name(figure: Figure) -> str:
    return figure.sites.names[-1] if figure.sites.names else figure.bodies.names[-1]
