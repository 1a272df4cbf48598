"""Functions that change the forces, torques and supports of a scene."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.engine.scene import Scene
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, to_matrix, vector
from poise.figure.model.posture import Posture
from poise.forces.acting import contact_points
from poise.forces.loads import Force, Load, Support
from poise.forces.reactions import Reactions, find_reactions
from poise.pictures.force_marks import weight_of
from poise.studio.session.edits.scene import with_parts

NEW_FORCE_SHARE = 0.1
"""Size of a new force, as a share of the figure's weight."""
NEW_TORQUE_LEVER = 0.02
"""Lever on which the figure's weight makes a new torque, as a share of the figure's size."""
SHARE_DECIMALS = 4
"""Decimals to which computed shares are rounded."""


def new_force(figure: Figure, site: str, kind: str, extent: float) -> Force:
    """A new force that pushes a site down, or a new torque (kind "torque") about the vertical."""
    weight = weight_of(figure)
    if kind == "torque":
        return Force(site, torque=NEW_TORQUE_LEVER * extent * weight * figure.up_vector)
    return Force(site, force=-NEW_FORCE_SHARE * weight * figure.up_vector)


def with_load(scene: Scene, load: Load) -> Scene:
    """The scene with a force or support added."""
    if isinstance(load, Support) and any(load.site == other.site for other in supports_of(scene)):
        raise TaskError(f"{load.site!r} is a support already.")
    return with_parts(scene, forces=[*scene.forces, load])


def without_load(scene: Scene, number: int) -> Scene:
    """The scene without one of its forces and supports."""
    return with_parts(scene, forces=[load for k, load in enumerate(scene.forces) if k != number])


def with_changed_load(scene: Scene, number: int, **fields: Any) -> Scene:
    """The scene with some fields of one force or support changed."""
    return with_parts(
        scene, forces=[replace(load, **fields) if k == number else load for k, load in enumerate(scene.forces)]
    )


def with_share(scene: Scene, number: int, share: float) -> Scene:
    """The scene with one support's share of the weight fixed; if all others are fixed, the last one becomes free."""
    others = [k for k, load in enumerate(scene.forces) if isinstance(load, Support) and k != number]
    given = all(getattr(scene.forces[k], "share", None) is not None for k in others)
    freed = others[-1] if others and given else None
    shares = {number: share if others else 1.0} | ({freed: None} if freed is not None else {})
    loads = [replace(load, share=shares[k]) if k in shares else load for k, load in enumerate(scene.forces)]
    return with_parts(scene, forces=loads)


def with_arrow(scene: Scene, number: int, part: str, arrow: ArrayLike, posture: Posture) -> Scene:
    """The scene with a new force [N] or torque [N m] of one load, given in world axes."""
    load = scene.forces[number] if 0 <= number < len(scene.forces) else None
    if not isinstance(load, Force) or part not in ("force", "torque"):
        raise TaskError(f"there is no {part} number {number}.")
    given: FloatArray = vector(arrow, f"a {part}")
    if load.axes == "site":
        given = to_matrix(posture.figure.pose_of(load.site, posture).rotation).T @ given
    return with_changed_load(scene, number, **{part: given})


def supports_of(scene: Scene) -> list[Support]:
    """The supports of a scene."""
    return [load for load in scene.forces if isinstance(load, Support)]


def balance_sites_without_support(scene: Scene) -> list[str]:
    """Sites that balance tasks stand on and that have no support yet."""
    known = {support.site for support in supports_of(scene)}
    sites = [site for task in scene.tasks for site in task.supports]
    return [site for site in dict.fromkeys(sites) if site not in known]


def reactions_of(posture: Posture, forces: Iterable[Load]) -> Reactions | None:
    """The ground reaction forces on the supports; None without supports or without mass."""
    figure = posture.figure
    loads = [_touching(figure, load) if isinstance(load, Support) else load for load in forces]
    if figure.mass <= 0.0 or not any(isinstance(load, Support) for load in loads):
        return None
    return find_reactions(figure, posture, loads)


@lru_cache(maxsize=64)
def _touching(figure: Figure, support: Support) -> Support:
    """The support with its contact points computed; cached, because finding them is slow."""
    return replace(support, contacts=contact_points(figure, support).tolist())


def with_free_shares(scene: Scene) -> Scene:
    """The scene in which no support has a fixed share of the weight or a fixed brace."""
    return with_parts(
        scene,
        forces=[replace(load, share=None, brace=None) if isinstance(load, Support) else load for load in scene.forces],
    )


def with_present_shares(scene: Scene, posture: Posture) -> Scene:
    """The scene in which every support's share is fixed at its present value, except that the last takes the rest."""
    found = reactions_of(posture, scene.forces)
    if found is None:
        raise TaskError("the scene has no supports: add one for each foot that carries the figure.")
    up = posture.figure.up_vector
    lifts = {site: float(force @ up) for site, force in found.supports.items()}
    total = sum(lifts.values()) or 1.0
    last = list(lifts)[-1]
    shares = {site: None if site == last else round(lift / total, SHARE_DECIMALS) for site, lift in lifts.items()}
    if len(shares) == 1:
        shares = {last: 1.0}
    loads = [replace(load, share=shares[load.site]) if isinstance(load, Support) else load for load in scene.forces]
    return with_parts(scene, forces=loads)


def load_share(found: Reactions, site: str, figure: Figure) -> float:
    """The share of the whole load that one support carries, from 0 to 1."""
    up = figure.up_vector
    total = float(np.sum([force @ up for force in found.supports.values()])) or 1.0
    return float(found.supports[site] @ up) / total
