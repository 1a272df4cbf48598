"""Recruitment: the joints that a task may move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.errors import TaskError
from poise.figure.model.pose import FloatArray
from poise.tasks.task import NEAREST_BRANCH, Task, name_list

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure


def recruited(figure: Figure, task: Task) -> FloatArray | None:
    """(nv,) recruitment mask: 1 for the velocities that a task may use, else 0; None for all."""
    if task.joints is None or not task.masks_joints:
        return None
    if task.joints == NEAREST_BRANCH:
        site = getattr(task, "site", None)
        if site is None:
            raise TaskError(
                f"{task.label}: joints={NEAREST_BRANCH!r} is only for tasks with a site; name joints instead."
            )
        names = nearest_branch(figure, site)
    else:
        names = name_list(task.joints)
    mask = np.zeros(figure.nv)
    for name in names:
        mask[figure.v_slice(name)] = 1.0
    return mask


def nearest_branch(figure: Figure, site: str) -> list[str]:
    """Names of the joints from a site or body towards the root, up to the first body with several limbs."""
    joint_above = dict(figure.tree_order)
    limbs: dict[str, int] = {}
    for _, joint in figure.tree_order:
        if joint is not None and joint.parent is not None:
            limbs[joint.parent] = limbs.get(joint.parent, 0) + 1
    body = figure.sites[site].body if site in figure.sites.names else figure.bodies[site].name
    names: list[str] = []
    while (joint := joint_above[body]) is not None:
        if joint.nv and joint.kind != "free":
            names.append(joint.name)
        if joint.parent is None or limbs[joint.parent] > 1:
            break
        body = joint.parent
    return names
