"""Joint mapping: which joint of a clip drives which site or body of a figure.

Both sides are matched by their *roles* (`poise.figure.anatomy.roles`): a role is an anatomical word such as "knee" with
its side, "left_knee", found from names, structure and geometry by the same code for figures and for clips.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Mapping as Table
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from poise.errors import TaskError
from poise.figure.anatomy.roles import ROLES, Role, moving_roles
from poise.figure.model.figure import Figure
from poise.figure.model.names import listing, suggestion
from poise.motion.clip.clip import Clip, Source

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
LIMBS = {"leg": ("knee", "ankle"), "arm": ("elbow", "wrist")}
"""Roles without side of which a limb needs one to follow a clip."""
LEAST_IDLE_JOINTS = 3
"""Number of joints that do not follow a clip from which a warning names them."""
CLIP_SAMPLES = 60
"""Largest number of frames of a clip that are used to find its roles."""
CLIPS_REMEMBERED = 4
"""Number of clips whose roles are kept: a retargeting asks for those of its clip for the mapping and for every plan."""


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
    point: tuple[float, float, float] | None = None
    """The point of the site that follows, in its frame [m]; None for the centre of the joint that moves the body."""

    def __post_init__(self) -> None:
        """Check the role and the numbers."""
        if self.role and self.role not in ROLES:
            hint = suggestion(self.role, ROLES)
            raise TaskError(f"link {self.joint!r}: there is no role {self.role!r}.{hint} Roles: {', '.join(ROLES)}.")
        if not (math.isfinite(self.weight) and self.weight >= 0.0):
            raise TaskError(f"link {self.joint!r}: weight must be zero or a positive number, not {self.weight}.")
        if not np.isfinite(np.asarray(self.offset, dtype=np.float64)).all() or len(self.offset) != 3:
            raise TaskError(f"link {self.joint!r}: offset must be three finite numbers, not {self.offset}.")
        object.__setattr__(self, "offset", tuple(float(x) for x in self.offset))
        if self.point is not None:
            if np.shape(self.point) != (3,) or not np.isfinite(np.asarray(self.point, dtype=np.float64)).all():
                raise TaskError(f"link {self.joint!r}: point must be three finite numbers, not {self.point}.")
            object.__setattr__(self, "point", tuple(float(x) for x in self.point))
        if type(self.priority) is not int or self.priority < 1:
            raise TaskError(f"link {self.joint!r}: priority must be a whole number from 1 on, not {self.priority!r}.")


@dataclass(frozen=True)
class JointMap:
    """All links of a retargeting, and how they were found."""

    links: tuple[Link, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)
    """For a proposed mapping, one line per link that says how it was found."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about legs, arms and other joints of the figure that will not follow the clip."""

    @staticmethod
    def propose(clip: Clip, figure: Figure) -> JointMap:
        """Propose a mapping: parts that have the same role in the clip's skeleton and in the figure.

        Raises:
            TaskError: No leg and no arm has a counterpart, so that nothing would move but the body as a whole.
        """
        theirs, ours = clip_roles(clip), figure.roles
        shared = [role for role in theirs if role in ours]
        if not any(_role_part(role) in {part for parts in LIMBS.values() for part in parts} for role in shared):
            raise TaskError(
                f"no leg or arm of figure {figure.name!r} matches one of {_words(clip)} by name or by structure; "
                f'give a mapping such as {{"{clip.figure.bodies.names[-1]}": "{_example_site(figure)}"}}. '
                f"Joints: {listing(clip.figure.bodies.names)}. Sites: {listing(figure.sites.names)}. "
                f"Bodies: {listing(figure.bodies.names)}."
            )
        links = tuple(
            Link(
                theirs[role].part,
                ours[role].part,
                role,
                _weight(figure, role),
                priority=1 if _role_part(role) in FOOT_ROLES else 2,
                point=ours[role].point,
            )
            for role in shared
        )
        return JointMap(links, tuple(_note(link, theirs[link.role], ours[link.role]) for link in links))

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
        elif isinstance(given, Table):
            found = JointMap(tuple(Link(joint, site) for joint, site in given.items()))
        else:
            raise TaskError(f"a mapping is a TOML file, a table {{joint: site}} or None to propose one, not {given!r}.")
        return found._checked(clip, figure)

    def save(self, path: str | Path) -> None:
        """Write the mapping as a TOML file that people can edit."""
        from poise.formats.mapping_toml import write_mapping

        write_mapping(self, path)

    def explain(self) -> str:
        """A text with one line per link: its role, joint and site, and how it was found; then what is not mapped."""
        lines = self.notes or [f"{link.role or 'part'}: {link.joint} → {link.site}" for link in self.links]
        return "\n".join([*lines, *self.warnings])

    def by_role(self) -> dict[str, Link]:
        """Links that have a role, by role."""
        return {link.role: link for link in self.links if link.role}

    def _checked(self, clip: Clip, figure: Figure) -> JointMap:
        if not self.links:
            raise TaskError("the mapping has no links; give at least one, or no mapping to have one proposed.")
        theirs = clip_roles(clip)
        links = []
        for link in self.links:
            _check_name(link.joint, [*clip.figure.bodies.names, *clip.figure.sites.names], _words(clip))
            figure.frame_row(link.site)
            links.append(link if link.role else _with_role(link, theirs, figure))
        return JointMap(tuple(links), self.notes, unmapped_parts(links, theirs, figure))


def _words(clip: Clip) -> str:
    """A clip, for sentences."""
    return f"clip {clip.name!r}" if clip.name else "the clip"


def unmapped_parts(links: Iterable[Link], theirs: Table[str, Role], figure: Figure) -> tuple[str, ...]:
    """Sentences about legs and arms that are not mapped, and about other joints that no link moves.

    Args:
        links: The links of a mapping.
        theirs: Roles of the clip.
        figure: The figure.
    """
    used = [link for link in links if link.weight > 0.0]
    mapped = {link.role for link in used}
    out = []
    for limb, parts in LIMBS.items():
        sides = [side for side in ("left", "right") if not any(f"{side}_{part}" in mapped for part in parts)]
        in_clip = [side for side in sides if any(f"{side}_{part}" in theirs for part in parts)]
        in_figure = [side for side in sides if any(f"{side}_{part}" in figure.roles for part in parts)]
        if in_figure:
            unmapped = "it is not mapped" if len(in_figure) == 1 else "they are not mapped"
            reason = unmapped if in_clip else "none was found in the clip"
            out.append(f"The {_sides(in_figure, limb)} of figure {figure.name!r} will not follow the clip: {reason}.")
    idle = _idle_joints(used, figure)
    if not out and len(idle) >= LEAST_IDLE_JOINTS:
        out.append(
            f"{len(idle)} joints of figure {figure.name!r} will not move, because no mapped part depends on them: "
            f"{listing(idle)}."
        )
    return tuple(out)


def _idle_joints(links: Iterable[Link], figure: Figure) -> list[str]:
    """Motors on which no mapped part depends, without fingers and other parts beyond a hand, a foot or the head."""
    bodies = {figure.body_of(link.site) for link in links}
    ends = {
        figure.roles[role].part for role in figure.roles if _role_part(role) in {"wrist", "ankle", "head", "fingers"}
    }
    ends = {figure.body_of(name) for name in ends}
    above = {joint.child: joint for joint in figure.joints}
    moving, beyond = set(), set()
    for body in bodies:
        while body in above and above[body].name not in moving:
            moving.add(above[body].name)
            body = above[body].parent or ""
    for name, joint in figure.tree_order:
        if joint is not None and (joint.parent in ends or joint.parent in beyond):
            beyond.add(name)
    looped = {joint.name for joint in figure.joints} if len(figure.loops) else set()
    return [
        joint.name
        for joint in figure.joints
        if joint.nv and joint.active and joint.name not in moving | looped and joint.child not in beyond
    ]


def _sides(sides: list[str], limb: str) -> str:
    return f"{limb}s" if len(sides) == 2 else f"{sides[0]} {limb}"


@lru_cache(maxsize=CLIPS_REMEMBERED)
def clip_roles(clip: Clip) -> Table[str, Role]:
    """Joints of a clip by role, from their names and from the places of all joints over the clip."""
    every = max(1, len(clip) // CLIP_SAMPLES)
    places = Source(clip[::every]).positions[:, : len(clip.figure.bodies)]
    return MappingProxyType(moving_roles(clip.figure, places))


def default_weight(role: str) -> float:
    """Default weight of a role."""
    return ROLE_WEIGHTS.get(_role_part(role), 0.0)


def _weight(figure: Figure, role: str) -> float:
    """Weight of a role of a figure; 0 for a head that is fixed to the chest, because that follows the shoulders."""
    head_is_fixed = role == "head" and figure.roles["head"].reason == "name" and "neck" not in figure.roles
    return 0.0 if head_is_fixed and "chest" in figure.roles else default_weight(role)


def _note(link: Link, theirs: Role, ours: Role) -> str:
    sure = min(theirs.certainty, ours.certainty)
    reason = theirs.reason if theirs.reason == ours.reason else f"{theirs.reason} and {ours.reason}"
    return f"{link.role}: {link.joint} → {link.site}, by {_each_word_once(reason)} ({100.0 * sure:.0f} % sure)"


def _each_word_once(reason: str) -> str:
    return " and ".join(dict.fromkeys(reason.split(" and ")))


def _role_part(role: str) -> str:
    """The role without its side: "knee" for "left_knee"."""
    return role.rsplit("_", maxsplit=1)[-1]


def _with_role(link: Link, theirs: Table[str, Role], figure: Figure) -> Link:
    """A link with the role of its site, of several roles that of its joint; without one, with the joint's role.

    On a figure without any role, such as an arm, a link has none either.
    """
    of_joint = [role for role, found in theirs.items() if found.part == link.joint and figure.roles]
    of_site = [role for role, found in figure.roles.items() if found.part == link.site]
    both = [role for role in of_site if role in of_joint]
    role = (both or of_site or of_joint or [""])[0]
    point = figure.roles[role].point if link.point is None and role in of_site else link.point
    return replace(
        link,
        role=role,
        point=point,
        priority=1 if _role_part(role) in FOOT_ROLES and role in of_site else link.priority,
    )


def _check_name(name: str, known: Iterable[str], owner: str) -> None:
    names = list(known)
    if name not in names:
        raise TaskError(f"{owner} has no joint {name!r}.{suggestion(name, names)} Joints: {listing(names)}.")


def _example_site(figure: Figure) -> str:
    return figure.sites.names[-1] if figure.sites.names else figure.bodies.names[-1]
