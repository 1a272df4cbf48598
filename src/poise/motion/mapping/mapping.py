"""Joint mapping: which joint of a clip drives which site or body of a figure.

Both sides are matched by their *roles* (`poise.figure.model.roles`): a role is an anatomical word such as "knee" with
its side, "left_knee", found by the part's name. A skeleton without such names is matched by its shape (`topology`).
"""

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
from poise.figure.model.roles import figure_roles, roles_of
from poise.motion.clip.clip import Clip, Source
from poise.motion.mapping.topology import roles_by_shape

ROLE_WEIGHTS = {
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
"""Default weight of each role against the others of its priority; roles that are not listed, such as hips, get 0."""
FOOT_ROLES = ("ankle", "toe")
"""Roles of the parts of a foot, which foot planning places."""


@dataclass(frozen=True)
class Link:
    """A joint of a clip and the site or body of a figure that it drives."""

    joint: str
    """Name of the joint, or site, of the clip."""
    site: str
    """Name of the site or body of the figure."""
    role: str = ""
    """Anatomical role of both, such as "left_knee"; derived from the site's name if empty."""
    weight: float = 1.0
    """Weight against other links of the same priority; 0 uses the joint for calibration only."""
    axes: str = "xyz"
    """World axes along which the site follows its target."""
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Offset added to the target, in world axes [m]."""
    priority: int = 2
    """Priority level from 1 on; feet always have priority 1."""

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
    """For a proposed mapping, one line per link that says how it was found."""

    @staticmethod
    def propose(clip: Clip, figure: Figure) -> JointMap:
        """Propose a mapping from joint names, or from the topology of the clip's skeleton if the names are unknown."""
        theirs, how = clip_roles(clip)
        ours = figure_roles(figure)
        shared = [role for role in theirs if role in ours]
        if not shared:
            raise TaskError(
                f"no part of figure {figure.name!r} matches a joint of clip {clip.name!r} by name or by shape; give a "
                f'mapping such as {{"{clip.figure.bodies.names[-1]}": "{_example_site(figure)}"}}. Joints: '
                f"{listing(clip.figure.bodies.names)}. Sites: {listing(figure.sites.names)}."
            )
        links = tuple(
            Link(theirs[r], ours[r], r, default_weight(r), priority=1 if _role_part(r) in FOOT_ROLES else 2)
            for r in shared
        )
        return JointMap(links, tuple(f"{link.role}: {link.joint} → {link.site}, by {how}" for link in links))

    @staticmethod
    def of(given: JointMap | Table[str, str] | str | Path | None, clip: Clip, figure: Figure) -> JointMap:
        """A checked mapping from an argument: None for a proposed one, a TOML file, or a table of sites by joint."""
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
        """Write the mapping as a TOML file that people can edit."""
        from poise.formats.mapping_toml import write_mapping

        write_mapping(self, path)

    def explain(self) -> str:
        """A text with one line per link: its role, joint and site, and how it was found."""
        lines = self.notes or [f"{link.role or 'part'}: {link.joint} → {link.site}" for link in self.links]
        return "\n".join(lines)

    def by_role(self) -> dict[str, Link]:
        """Links that have a role, by role."""
        return {link.role: link for link in self.links if link.role}

    def _checked(self, clip: Clip, figure: Figure) -> JointMap:
        if not self.links:
            raise TaskError("the mapping has no links; give at least one, or no mapping to have one proposed.")
        names = {site: role for role, site in figure_roles(figure).items()}
        links = []
        for link in self.links:
            _check_name(link.joint, [*clip.figure.bodies.names, *clip.figure.sites.names], f"clip {clip.name!r}")
            figure.frame_row(link.site)
            links.append(link if link.role else _with_role(link, names.get(link.site, "")))
        return JointMap(tuple(links), self.notes)


def clip_roles(clip: Clip) -> tuple[dict[str, str], str]:
    """Joints of a clip by role, and whether they were found by "name" or by "shape"."""
    names = [*clip.figure.bodies.names, *clip.figure.sites.names]
    found = roles_of(names)
    if {"left_ankle", "right_ankle"} <= set(found) or len(found) >= 6:
        return found, "name"
    source = Source(clip)
    shape = roles_by_shape(clip.figure, source.positions[:, : len(clip.figure.bodies)], clip.figure.up_vector)
    return (shape, "shape") if len(shape) > len(found) else (found, "name")


def default_weight(role: str) -> float:
    """Default weight of a role."""
    return ROLE_WEIGHTS.get(_role_part(role), 0.0)


def _role_part(role: str) -> str:
    """The role without its side: "knee" for "left_knee"."""
    return role.rsplit("_", maxsplit=1)[-1]


def _with_role(link: Link, role: str) -> Link:
    return replace(link, role=role, priority=1 if _role_part(role) in FOOT_ROLES else link.priority)


def _check_name(name: str, known: Iterable[str], owner: str) -> None:
    names = list(known)
    if name not in names:
        raise TaskError(f"{owner} has no joint {name!r}.{suggestion(name, names)} Joints: {listing(names)}.")


def _example_site(figure: Figure) -> str:
    return figure.sites.names[-1] if figure.sites.names else figure.bodies.names[-1]
