"""Chooses on which side of the body a limb passes, where it is kept out of the body.

A draft follows the clip forwards in time. A hand whose targets go through the body is stopped by it, and then stays on
the near side, caught for as long as its targets are on the far side. The free draft, which keeps no parts apart, is not
caught. Where the two differ, single frames are fitted from the free posture. If that is cheaper, the clip is followed
once more from there, both backwards and forwards in time. Each of these *tracks* is continuous; dynamic programming
finds the cheapest sequence of their frames, in which a change from one to another has a cost too. Most often there is
no change but where both agree: the new track passes on the other side from the beginning. Any other change is spread
over time.
"""

from __future__ import annotations

import math

import numpy as np

from poise.figure.model.compiled import IntArray
from poise.figure.model.pose import FloatArray
from poise.kernels.motion.posture_curves import interpolate_clip
from poise.motion.clip.contacts import BoolArray, segments
from poise.motion.retarget.feet import smootherstep
from poise.motion.retarget.frame_fits import AGREE, FrameFits, in_turn

CAUGHT_GAP, FREE_GAP = 0.3, 0.1
"""Differences of a coordinate from which a limb counts as caught, and up to which it is free again [rad or m]."""
FREE_START_STEPS = 30
"""Largest number of steps of a fit from the free posture."""
TRIAL_TIME = 0.25
"""Time between frames that are fitted from the free posture [s]."""
LEAST_TRACK_GAIN = 1e-3
"""Such a fit starts a new track if it lowers the cost by this much [m²], as 3 cm less at a point do; it is not tried
where even the free posture costs no less than that."""
MOST_TRACKS = 4
"""Largest number of tracks, with the first draft."""
LEAST_SAVING = 0.2
"""Share of the cost of the draft that the other tracks must save."""
LEAST_CHANGE_COST, CHANGE_COST = 1e-4, 0.003
"""Cost of any change between tracks, and for each square of their differences, against a squared error [m² s]."""
CHANGE_TIME = 0.1
"""Least time before and after a change over which it is spread [s]."""
CHANGE_SHARE = 0.7
"""Share of the greatest change of a joint between frames at which it is spread."""
STEEPEST_EASING = 1.875
"""Greatest slope of `smootherstep`."""


def choose_sides(  # noqa: PLR0917
    held: FrameFits, unheld: FrameFits, rate: float, free: FloatArray, solved: BoolArray, draft: FloatArray
) -> None:
    """Replace the frames of a draft in which a limb is caught on the wrong side of the body.

    Args:
        held: The fits of the draft, which keep parts apart.
        unheld: Fits that do not.
        rate: Frames per second.
        free: (frames, nq) the free draft.
        solved: (frames,) the frames to look at.
        draft: (frames, nq) the draft, which is changed.
    """
    if not solved.any():
        return
    gap = np.zeros(len(draft))
    gap[solved] = held.differences(draft[solved], free[solved]).max(axis=1)
    for span in _caught(gap):
        _choose(held, unheld, rate, free, span, draft)


def _caught(gap: FloatArray) -> list[tuple[int, int]]:
    """Segments of frames around those in which a limb is caught, to where it is free again on both sides."""
    return [(first, last) for first, last in segments(gap > FREE_GAP) if gap[first:last].max() > CAUGHT_GAP]


def _choose(  # noqa: PLR0917
    held: FrameFits, unheld: FrameFits, rate: float, free: FloatArray, span: tuple[int, int], draft: FloatArray
) -> None:
    """Replace frames of a span by those of other tracks, where that is cheaper."""
    first, last = span
    trials = np.arange(first, last, max(round(TRIAL_TIME * rate), 1))
    trials = trials[held.costs(trials, draft[trials]) - unheld.costs(trials, free[trials]) > LEAST_TRACK_GAIN]
    if not len(trials):
        return
    fitted = free[trials]
    for frame, q in zip(trials, fitted, strict=True):
        held.start(int(frame), q, FREE_START_STEPS)
    trial_costs = held.costs(trials, fitted)
    tracks, costs = [draft[first:last]], [held.costs(np.arange(first, last), draft[first:last])]
    while len(tracks) < MOST_TRACKS:
        gain = np.min(costs, axis=0)[trials - first] - trial_costs
        best = int(np.argmax(gain))
        if gain[best] < LEAST_TRACK_GAIN:
            break
        track = draft.copy()
        for end in (last, first - 1):
            held.follow((int(trials[best]), end), fitted[best].copy(), track)
        trial_costs[best] = np.inf
        tracks.append(track[first:last])
        costs.append(held.costs(np.arange(first, last), track[first:last]))
    if len(tracks) > 1:
        seconds, loose = np.stack(costs, axis=1) / rate, (first == 0, last == len(draft))
        draft[first:last] = _joined(held, np.array(tracks), seconds, rate, loose)


def _joined(
    held: FrameFits, tracks: FloatArray, costs: FloatArray, rate: float, loose: tuple[bool, bool]
) -> FloatArray:
    """(frames, nq) the cheapest sequence of frames of some tracks.

    Args:
        held: The fits of the draft.
        tracks: (tracks, frames, nq) the tracks, the draft first.
        costs: (frames, tracks) costs of their frames.
        rate: Frames per second.
        loose: Whether the frames begin where the clip does, and end where it ends; elsewhere the draft goes on.
    """
    gap = np.array([[held.differences(one, other) for other in tracks] for one in tracks])
    change = LEAST_CHANGE_COST + CHANGE_COST * np.sum(gap**2, axis=3)
    begins, ends = (np.zeros(len(tracks)) if end else change[0, :, k] for end, k in zip(loose, (0, -1), strict=True))
    taken = _cheapest(costs, change, begins, ends)
    if costs[np.arange(len(taken)), taken].sum() > (1.0 - LEAST_SAVING) * costs[:, 0].sum():
        taken[:] = 0
    out: FloatArray = tracks[taken, np.arange(len(taken))]
    sequence = np.concatenate([taken[:1] if loose[0] else [0], taken, taken[-1:] if loose[1] else [0]])
    for at in np.flatnonzero(np.diff(sequence)).tolist():
        before, after = sequence[at], sequence[at + 1]
        way = gap[before, after, min(at, len(taken) - 1)]
        if way.max() > AGREE:
            _spread(held, out, tracks[before], tracks[after], at, _half_time(way, held.most_change, rate))
    return out


def _cheapest(costs: FloatArray, change: FloatArray, begins: FloatArray, ends: FloatArray) -> IntArray:
    """(frames,) the track that each frame is taken from, so that the sum of all costs is least.

    Args:
        costs: (frames, tracks) costs of the frames of all tracks.
        change: (tracks, tracks, frames) cost of a change from one to another before each frame.
        begins: (tracks,) cost of beginning with a track.
        ends: (tracks,) cost of ending with it.
    """
    total, came = begins + costs[0], np.zeros(costs.shape, dtype=np.int64)
    for t in range(1, len(costs)):
        over = total[:, None] + np.where(np.eye(len(total), dtype=np.bool_), 0.0, change[:, :, t])
        came[t] = np.argmin(over, axis=0)
        total = np.min(over, axis=0) + costs[t]
    out = np.zeros(len(costs), dtype=np.int64)
    out[-1] = int(np.argmin(total + ends))
    for t in range(len(costs) - 1, 0, -1):
        out[t - 1] = came[t, out[t]]
    return out


def _half_time(way: FloatArray, most_change: FloatArray, rate: float) -> float:
    """Half of the time over which a change by `way` (nv,) is spread [frames]."""
    return max(CHANGE_TIME * rate, float((0.5 * STEEPEST_EASING * way / (CHANGE_SHARE * most_change)).max()), 1.0)


def _spread(held: FrameFits, out: FloatArray, before: FloatArray, after: FloatArray, at: int, half: float) -> None:  # noqa: PLR0917
    """Spread a change from one track (frames, nq) to another at a frame over the frames around it."""
    count = len(out)
    middle = float(np.clip(at, min(half, 0.5 * count), max(count - half, 0.5 * count)))
    frames = np.arange(max(math.ceil(middle - half), 0), min(math.floor(middle + half) + 1, count))
    share = smootherstep(np.clip(0.5 + (frames - middle) / (2.0 * half), 0.0, 1.0))
    mixed = np.empty((len(frames), out.shape[1]))
    turns = in_turn(before[frames], after[frames])
    interpolate_clip(held.figure.compiled.tree, turns, 2 * np.arange(len(frames)), share, mixed)
    out[frames] = mixed
