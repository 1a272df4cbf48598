"""Forces, torques and supports of a scene, and how they are changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.scene import Scene
from poise.errors import TaskError
from poise.figure.model.figure import STANDARD_GRAVITY, Figure
from poise.figure.model.pose import FloatArray, to_matrix, vector
from poise.figure.model.posture import Posture
from poise.forces.contacts import contact_points
from poise.forces.loads import Force, Load, Support
from poise.forces.reactions import Reactions, find_reactions
from poise.studio.session.edits import with_parts
from poise.tasks.mass import CenterOfMass

FIRST_SHARE = 0.1
"""Share of the weight that a new force has."""
FIRST_ARM = 0.02
"""Lever of a new torque, in sizes of the figure."""
ARROW = 0.45
"""Length of the arrow of a whole weight, in sizes of the figure."""
LEVER = 0.1
"""Lever on which a whole weight makes a torque with as long an arrow, in sizes of the figure."""
MASSLESS = 10.0
"""Weight that stands for that of a figure without mass [N]."""
FINEST = 4
"""Decimals of shares that were found."""


def weight_of(figure: Figure) -> float:
    """What gives forces their size on the page [N]."""
    return STANDARD_GRAVITY * figure.mass or MASSLESS


def arrow_scales(figure: Figure, extent: float) -> tuple[float, float]:
    """Length of the arrow of one newton, and of one newton metre [m]."""
    weight = weight_of(figure)
    return ARROW * extent / weight, ARROW / (LEVER * weight)


def new_force(figure: Figure, site: str, kind: str, extent: float) -> Force:
    """A force that presses a site down, or a torque that turns it about the vertical."""
    weight = weight_of(figure)
    if kind == "torque":
        return Force(site, torque=FIRST_ARM * extent * weight * figure.up_vector)
    return Force(site, force=-FIRST_SHARE * weight * figure.up_vector)


def with_load(scene: Scene, load: Load) -> Scene:
    """The scene with one force or support more."""
    if isinstance(load, Support) and any(load.site == other.site for other in supports_of(scene)):
        raise TaskError(f"{load.site!r} is a support already.")
    return with_parts(scene, forces=[*scene.forces, load])


def without_load(scene: Scene, number: int) -> Scene:
    """The scene without one of its forces and supports."""
    return with_parts(scene, forces=[load for k, load in enumerate(scene.forces) if k != number])


def with_changed_load(scene: Scene, number: int, **fields: Any) -> Scene:
    """The scene with something changed about one of its forces and supports."""
    return with_parts(
        scene, forces=[replace(load, **fields) if k == number else load for k, load in enumerate(scene.forces)]
    )


def with_share(scene: Scene, number: int, share: float) -> Scene:
    """The scene with the share of one support given; where all are, the last of the others takes what is left."""
    others = [k for k, load in enumerate(scene.forces) if isinstance(load, Support) and k != number]
    given = all(getattr(scene.forces[k], "share", None) is not None for k in others)
    taker = others[-1] if others and given else None
    alone = {number: share if others else 1.0} | ({taker: None} if taker is not None else {})
    loads = [replace(load, share=alone[k]) if k in alone else load for k, load in enumerate(scene.forces)]
    return with_parts(scene, forces=loads)


def with_arrow(scene: Scene, number: int, part: str, arrow: ArrayLike, posture: Posture) -> Scene:
    """The scene with a force [N] or torque [N m] of a load, given in world axes."""
    load = scene.forces[number] if 0 <= number < len(scene.forces) else None
    if not isinstance(load, Force) or part not in ("force", "torque"):
        raise TaskError(f"there is no {part} number {number}.")
    given: FloatArray = vector(arrow, f"a {part}")
    if load.axes == "site":
        given = to_matrix(posture.figure.pose_of(load.site, posture).rotation).T @ given
    return with_changed_load(scene, number, **{part: given})


def supports_of(scene: Scene) -> list[Support]:
    """What carries the figure."""
    return [load for load in scene.forces if isinstance(load, Support)]


def stood_on(scene: Scene) -> list[str]:
    """Sites that tasks about balance stand on and that are no supports yet."""
    known = {support.site for support in supports_of(scene)}
    sites = [site for task in scene.tasks if isinstance(task, CenterOfMass) for site in task.supports]
    return [site for site in dict.fromkeys(sites) if site not in known]


def reactions_of(posture: Posture, forces: Iterable[Load]) -> Reactions | None:
    """What the ground does to the supports; None where there is none, or nothing to carry."""
    figure = posture.figure
    loads = [_touching(figure, load) if isinstance(load, Support) else load for load in forces]
    if figure.mass <= 0.0 or not any(isinstance(load, Support) for load in loads):
        return None
    return find_reactions(figure, posture, loads)


@lru_cache(maxsize=64)
def _touching(figure: Figure, support: Support) -> Support:
    """The support with its contacts, which are slow to find."""
    return replace(support, contacts=contact_points(figure, support).tolist())


def with_open_supports(scene: Scene) -> Scene:
    """The scene in which the ground pushes as it must."""
    return with_parts(
        scene,
        forces=[replace(load, share=None, brace=None) if isinstance(load, Support) else load for load in scene.forces],
    )


def with_found_shares(scene: Scene, posture: Posture) -> Scene:
    """The scene in which supports carry what they carry now, come what may."""
    found = reactions_of(posture, scene.forces)
    if found is None:
        raise TaskError("there are no supports: add one for each foot that carries the figure.")
    up = posture.figure.up_vector
    lifts = {site: float(force @ up) for site, force in found.supports.items()}
    total = sum(lifts.values()) or 1.0
    last = list(lifts)[-1]
    shares = {site: None if site == last else round(lift / total, FINEST) for site, lift in lifts.items()}
    if len(shares) == 1:
        shares = {last: 1.0}
    loads = [replace(load, share=shares[load.site]) if isinstance(load, Support) else load for load in scene.forces]
    return with_parts(scene, forces=loads)


def lift_of(found: Reactions, site: str, figure: Figure) -> float:
    """How much of what all supports carry one of them carries."""
    up = figure.up_vector
    total = float(np.sum([force @ up for force in found.supports.values()])) or 1.0
    return float(found.supports[site] @ up) / total
