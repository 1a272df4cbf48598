"""Where the centre of mass goes so that nothing falls, if one moves slowly enough.

Over the one foot that stands; along the line from one to the other while both do, so that it has arrived before the
first one lifts [Schumacher et al. 2021, V.4]; smooth in between, and through the air where nothing stands.
"""

from __future__ import annotations

import numpy as np

from poise.errors import TaskError
from poise.figure.figure import Figure
from poise.figure.pose import FloatArray
from poise.motion.contacts import segments
from poise.motion.plan import Plan


def center_schedule(figure: Figure, plan: Plan) -> FloatArray:
    """(frames, 3) places for the centre of mass, in the world of the figure; heights mean nothing."""
    if figure.mass <= 0.0:
        raise TaskError(f"figure {figure.name!r} has no mass to balance; leave balance out.")
    if len(plan.feet) != 2:
        raise TaskError(f"balance needs a left and a right foot that the mapping knows, not {len(plan.feet)}.")
    left, right = plan.feet["left"].place, plan.feet["right"].place
    share = _share(plan.contacts.standing("left"), plan.contacts.standing("right"))[:, None]
    path = (1.0 - share) * left + share * right
    path[:, 1] = 0.0
    return plan.build.world(path)


def _share(left: np.ndarray, right: np.ndarray) -> FloatArray:
    """(frames,) of the right foot: 0 or 1 where one foot stands alone, eased between, half where none ever does."""
    alone = left != right
    if not alone.any():
        return np.full(len(left), 0.5)
    share = right.astype(np.float64)
    for first, last in segments(~alone):
        before = share[first - 1] if first > 0 else 0.5
        after = share[last] if last < len(left) else 0.5
        part = np.arange(1, last - first + 1) / (last - first)
        eased = part**3 * (10.0 - 15.0 * part + 6.0 * part * part)
        share[first:last] = before + (after - before) * eased
    return share
