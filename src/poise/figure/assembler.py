"""Assembling a mechanism: its motors at given values, its passive joints where the loops want them.

Motors move along a straight line from where they are, in small steps that passive joints follow, so that the mechanism
stays on its branch. From an open start the loops are closed first. Where values are impossible, motors that were named
come as close to them as loops and limits let them; motors that were not named give way to those that were.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import FigureError
from poise.figure.assembly import Assembly, Status
from poise.figure.assembly_reasons import fighting_motors, widest_loop
from poise.figure.closing import compile_closures
from poise.figure.driven_loops import is_driven, with_driven_loops
from poise.figure.joints import Joint
from poise.figure.loop_values import loop_value, unwound
from poise.figure.pose import FloatArray
from poise.figure.posture import Posture
from poise.kernels.assemble import CLOSED, close_loops, follow, follow_frames, linearize, make_assembling, outside
from poise.kernels.assemble_closest import approach, make_closest
from poise.kernels.assemble_far import close_from_afar, make_normal
from poise.kernels.closure import closure_residual
from poise.kernels.closure_factor import free_directions
from poise.kernels.tree import difference, forward, integrate

if TYPE_CHECKING:
    from poise.figure.figure import Figure

Mask = NDArray[np.int64]
"""(nv,) 1 where a velocity is meant."""

SHUT = 1e-9
"""Residual up to which a posture counts as assembled [m]."""
REACHED = 1e-9
"""Distance from what was asked up to which a motor is there [rad or m]."""
NUDGES = 6
"""Starts that are tried where loops are open, all but the first a little beside it."""
SLIGHT = 1e-2
"""Residual up to which Newton's method may close a start that is open [m]."""


class Assembler:
    """Assembles one figure; holds the workspace, one caller at a time."""

    def __init__(self, figure: Figure) -> None:
        """Lay out the loops."""
        self.figure = figure
        self.driven = with_driven_loops(figure)
        """The figure with motors of loop joints as coordinates, after all others."""
        tree, self.nq = self.driven.compiled.tree, self.driven.nq
        self.closures, self.far = compile_closures(self.driven), compile_closures(self.driven, far=True)
        self.work = make_assembling(tree, self.nq, self.closures)
        self.far_work = make_assembling(tree, self.nq, self.far)
        self.normal = make_normal(self.driven.nv)
        self.closest = make_closest(self.nq, self.driven.nv, self.closures.turns.shape[0])
        self.lower, self.upper = _velocity_limits(self.driven)
        self.motors = [joint.name for joint in self.driven.joints if joint.active and joint.nv and joint.kind != "free"]
        self._stopped: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def assemble(
        self, values: Mapping[str, ArrayLike], near: Posture, *, restarts: int = 0, motors: Iterable[str] | None = None
    ) -> Assembly:
        """The assembled posture with motors at `values`; see `Figure.assemble`.

        `motors` are the joints that keep their values when they are not named: all that are active, by default.
        """
        start = self._start(near, values)
        named, kept = self._mask(values), self._mask({*values, *(self.motors if motors is None else motors)})
        with self._lock:
            self._set_limits(start)
            self._stopped = ()
            q = start.copy()
            shut = self._close_start(q, kept, named)
            # Motors of an open start that gave way are not asked to go back.
            target = self._target(q, values)
            if shut and self._go(q, target, kept, named):
                return self._result(q, target, values)
            best = q if shut else None
            for seed in range(restarts):
                again = self._restart(seed, target, named)
                if again is not None and (best is None or self._is_nearer(again, best, target, start)):
                    best = again
            return self._result(q if best is None else best, target, values)

    def frames(self, values: Mapping[str, ArrayLike], near: Posture) -> tuple[FloatArray, FloatArray]:
        """Postures (f, nq) for motors at `values`, (f,) each, and the share (f,) of each step that was possible."""
        start = self._start(near, {name: np.atleast_1d(value)[:1] for name, value in values.items()})
        count = {np.shape(value)[0] if np.ndim(value) else 0 for value in values.values()}
        if len(count) != 1 or 0 in count:
            raise FigureError("frames are lists of motor values, all of the same length.")
        frames = np.tile(start, (count.pop(), 1))
        for name, value in values.items():
            frames[:, self._slice(name)] = np.array(value, dtype=np.float64).reshape(frames.shape[0], -1)
        shares = np.zeros(frames.shape[0])
        with self._lock:
            self._set_limits(start)
            kept = self._mask({*values, *self.motors})
            self._close_start(start, kept, self._mask(values))
            self.work.held[:] = kept
            follow_frames(self.driven.compiled.tree, self.closures, self.work, start, frames, shares)
        return frames[:, : self.figure.nq].copy(), shares

    def close(self, near: Posture) -> Assembly:
        """The closed posture nearest to `near`, motors kept where they are if they can be."""
        return self.assemble({}, near)

    # Steps, on arrays of the driven figure

    def _close_start(self, q: FloatArray, kept: Mask, named: Mask) -> bool:
        """Close the loops of `q` with as many motors as possible where they are; False when that fails."""
        for held in (kept, named, np.zeros_like(named)):
            trial = q.copy()
            if self._gap(trial) <= SLIGHT and self._shut(trial, held):
                q[:] = trial
                return True
        for nudge in range(NUDGES):
            for held in (kept, named, np.zeros_like(named)):
                trial = self._nudged(q, held, nudge)
                if self._shut_from_afar(trial, held):
                    q[:] = trial
                    return True
        q[:] = trial
        return False

    def _nudged(self, q: FloatArray, held: Mask, seed: int) -> FloatArray:
        """`q` with what is not held moved a little at random, by more each time; seed 0 leaves it as it is.

        A loop that is open by exactly half a turn knows no way to turn, and a descent may end in a dent.
        """
        out = np.empty_like(q)
        step = np.random.default_rng(seed).uniform(-0.2 * seed, 0.2 * seed, held.shape[0]) * (1 - held)
        integrate(self.driven.compiled.tree, q, step, out)
        return out

    def _shut(self, q: FloatArray, held: Mask) -> bool:
        tree = self.driven.compiled.tree
        self.work.held[:] = held
        close_loops(tree, self.closures, self.work, CLOSED, q)
        return self._gap(q) <= SHUT and outside(tree, self.work.lower, self.work.upper, q) <= REACHED

    def _shut_from_afar(self, q: FloatArray, held: Mask) -> bool:
        self.far_work.held[:] = held
        close_from_afar(self.driven.compiled.tree, self.far, self.far_work, self.normal, q)
        return self._shut(q, held)

    def _opening(self, q: FloatArray) -> float:
        """Largest residual of any row, directions in radians."""
        if self._gap(q) > SLIGHT:
            return self.figure.closure_error(Posture(self.figure, q[: self.figure.nq].copy()))
        closure_residual(self.closures, self.far_work.position, self.far_work.rotation, self.work.lacking)
        return float(np.abs(self.work.lacking / self.closures.length).max(initial=0.0))

    def _gap(self, q: FloatArray) -> float:
        """Largest residual of the far rows, which know axes turned the wrong way round."""
        work = self.far_work
        forward(self.driven.compiled.tree, q, work.position, work.rotation)
        return closure_residual(self.far, work.position, work.rotation, work.lacking)

    def _go(self, q: FloatArray, target: FloatArray, kept: Mask, named: Mask) -> bool:
        """Move the closed posture `q` to the target, or as close as it gets; True when all that was named is there."""
        tree, start = self.driven.compiled.tree, q.copy()
        self.work.held[:] = kept
        if follow(tree, self.closures, self.work, target, q) == 1.0:
            return True
        q[:] = start
        self.work.held[:] = named
        there = follow(tree, self.closures, self.work, target, q) == 1.0
        self.closest.fixed[:] = named if there else 0
        self.closest.driven[:] = kept - named if there else named
        left = approach(tree, self.closures, self.work, self.closest, target, q)
        self._stopped = self._names((self.work.held == 1) & (self.closest.fixed == 0))
        return there or left <= REACHED

    def _restart(self, seed: int, target: FloatArray, named: Mask) -> FloatArray | None:
        """A closed posture from a random start with the named motors at the target, if there is one."""
        rng = np.random.default_rng(seed)
        q = self._start(self.figure.random(rng), {})
        for joint in self.driven.joints:
            if joint.nv and named[self.driven.v_slice(joint.name).start]:
                place = self.driven.q_slice(joint.name)
                q[place] = target[place]
        return q if self._shut_from_afar(q, named) else None

    def _is_nearer(self, a: FloatArray, b: FloatArray, target: FloatArray, start: FloatArray) -> bool:
        """Whether motors are nearer to the target, then all joints to the start."""
        return self._distances(a, target, start) < self._distances(b, target, start)

    def _distances(self, q: FloatArray, target: FloatArray, start: FloatArray) -> tuple[float, float]:
        tree, out = self.driven.compiled.tree, np.zeros(self.driven.nv)
        difference(tree, target, q, out)
        motors = [k for name in self.motors for k in range(*self.driven.v_slice(name).indices(self.driven.nv))]
        missed = float(np.abs(out[motors]).max(initial=0.0))
        difference(tree, start, q, out)
        return (0.0 if missed <= REACHED else missed), float(np.linalg.norm(out))

    # Between people and arrays

    def _start(self, near: Posture, values: Mapping[str, ArrayLike]) -> FloatArray:
        """`near` with the motors of loop joints read off, angles within half a turn of where they are to go."""
        parts = [near.q]
        for loop in self.figure.loops:
            if is_driven(loop):
                wanted = self._numbers(loop, values[loop.name]) if loop.name in values else None
                parts.append(loop_value(self.figure, loop, near, wanted))
        return np.concatenate(parts)

    def _numbers(self, joint: Joint, value: ArrayLike) -> FloatArray:
        """The values of a joint that people gave."""
        try:
            return np.array(value, dtype=np.float64).reshape(joint.nq)
        except (TypeError, ValueError):
            raise FigureError(f"joint {joint.name!r} takes {joint.nq} numbers, not {value!r}.") from None

    def _slice(self, name: str) -> slice:
        """Where a motor is, tree or loop joint."""
        if name in self.figure.loops and name not in self.driven.joints:
            loop = self.figure.loops[name]
            if loop.nv == 0:
                raise FigureError(f"joint {name!r} is fixed and cannot be driven.")
            raise FigureError(
                f"loop joint {name!r} of figure {self.figure.name!r} has no motor: make it active to drive it."
            )
        place = self.driven.q_slice(name)
        if place.start == place.stop:
            raise FigureError(f"joint {name!r} is fixed and cannot be driven.")
        return place

    def _target(self, start: FloatArray, values: Mapping[str, ArrayLike]) -> FloatArray:
        """`start` with motors at their values; unknown names, fixed joints and odd numbers are refused."""
        q = start.copy()
        for name, value in values.items():
            place, joint = self._slice(name), self.driven.joints[name]
            numbers = self._numbers(joint, value)
            q[place] = unwound(joint, numbers, start[place]) if joint.kind in ("ball", "free") else numbers
        return self.driven._checked_q(q)

    def _mask(self, names: Iterable[str]) -> Mask:
        mask = np.zeros(self.driven.nv, dtype=np.int64)
        for name in names:
            self._slice(name)
            mask[self.driven.v_slice(name)] = 1
        return mask

    def _set_limits(self, start: FloatArray) -> None:
        """Limits, widened where the start is outside of them."""
        tree = self.driven.compiled.tree
        single = tree.v_count[tree.dof_node] == 1
        value = np.where(single, start[tree.q_start[tree.dof_node]], 0.0)
        for work in (self.work, self.far_work):
            work.lower[:] = np.minimum(self.lower, np.where(single, value, -np.inf))
            work.upper[:] = np.maximum(self.upper, np.where(single, value, np.inf))

    def _result(self, q: FloatArray, target: FloatArray, values: Mapping[str, ArrayLike]) -> Assembly:
        missed = np.zeros(self.driven.nv)
        difference(self.driven.compiled.tree, q, target, missed)
        off = {name: float(np.abs(missed[self.driven.v_slice(name)]).max()) for name in values}
        off = {name: value for name, value in off.items() if value > REACHED}
        gap, whole = self._opening(q), Posture(self.driven, q)
        status: Status = "open" if gap > SHUT else "closest" if off else "assembled"
        motors = {name: whole[name] for name in self.motors}
        posture = Posture(self.figure, q[: self.figure.nq].copy())
        if status == "open":
            return Assembly(posture, status, motors, off, gap, widest=widest_loop(self.figure, posture))
        if status == "assembled":
            return Assembly(posture, status, motors, off, gap)
        places = {name: self.driven.v_slice(name) for name in off}
        fighting = fighting_motors(self._ways(q), missed * self._mask(values), places)
        return Assembly(posture, status, motors, off, gap, fighting=fighting, stopped=() if fighting else self._stopped)

    def _ways(self, q: FloatArray) -> FloatArray:
        """(k, nv) motions that keep the loops closed, limits left aside."""
        self.work.held[:] = 0
        linearize(self.driven.compiled.tree, self.closures, self.work, q)
        count = free_directions(self.work.factors, self.work.held, self.closest.basis)
        return self.closest.basis[:count]

    def _names(self, mask: NDArray[np.bool_]) -> tuple[str, ...]:
        """Joints that have a velocity of the mask."""
        return tuple(joint.name for joint in self.driven.joints if mask[self.driven.v_slice(joint.name)].any())


def _velocity_limits(figure: Figure) -> tuple[FloatArray, FloatArray]:
    """Limits of every turn and slide, none for other velocities."""
    lower, upper = np.full(figure.nv, -np.inf), np.full(figure.nv, np.inf)
    for joint in figure.joints:
        if joint.scalars:
            lower[figure.v_slice(joint.name)], upper[figure.v_slice(joint.name)] = joint.lower, joint.upper
    return lower, upper
