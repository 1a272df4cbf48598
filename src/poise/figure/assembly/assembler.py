"""Forward kinematics of a closed mechanism: motors at given values, passive joints so that all loops close.

The motors move from their start values along a straight line in small substeps, which the passive joints follow, so
that the mechanism stays on its solution branch. If the start posture is open, its loops are closed first. If the wanted
values are impossible, the named motors come as near to them as loops and limits allow, and motors that were not named
give way. Couplings and ball joint limits are inequalities (see `kernels.loops.assemble_inequalities`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import FigureError
from poise.figure.assembly.closure_arrays import compile_with_spans
from poise.figure.assembly.inequalities import find_inequalities, make_inequalities
from poise.figure.assembly.motor_values import Mask, MotorValues, velocity_limits, with_driven_loops
from poise.figure.assembly.result import Assembly, Status, fighting_motors, widest_gap
from poise.figure.model.pose import FloatArray
from poise.figure.model.posture import Posture
from poise.kernels.body.tree import difference, integrate
from poise.kernels.loops.assemble import (
    CLOSING_TOLERANCE,
    FINAL_GAP,
    close_loops,
    follow,
    follow_frames,
    largest_violation,
    linearize,
    make_assembling,
    residual,
)
from poise.kernels.loops.assemble_closest import approach, make_closest
from poise.kernels.loops.assemble_from_open import close_from_afar, make_normal
from poise.kernels.loops.assemble_inequalities import (
    INACTIVE,
    Inequalities,
    activate_equalities,
    inequality_residual,
    inequality_value,
)
from poise.kernels.loops.closure import closure_residual
from poise.kernels.loops.closure_factor import free_directions

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure

MOTOR_TOLERANCE = 1e-9
"""A motor has reached its value if it is nearer than this [rad or m]."""
PERTURBED_STARTS = 6
"""Number of starts for an open posture: the posture itself, then randomly perturbed ones."""
NEWTON_START_GAP = 1e-2
"""Largest residual of an open start from which Newton's method is tried [m]."""


class Assembler:
    """Assembles one figure; a lock guards its workspace, so that one thread at a time uses it."""

    def __init__(self, figure: Figure) -> None:
        """Allocate the workspace for the loops of `figure`."""
        self.figure = figure
        self.driven = with_driven_loops(figure)
        """The figure with the motors of loop joints in its tree, as the last coordinates."""
        tree, self.nq = self.driven.compiled.tree, self.driven.nq
        self.inequalities = find_inequalities(self.driven)
        spans = [inequality.span for inequality in self.inequalities]
        self.closures, rows = compile_with_spans(self.driven, spans)
        self.far, far_rows = compile_with_spans(self.driven, spans, far=True)
        self.work = make_assembling(
            tree, self.nq, self.closures, make_inequalities(self.driven, self.inequalities, rows)
        )
        self.far_work = make_assembling(
            tree, self.nq, self.far, make_inequalities(self.driven, self.inequalities, far_rows)
        )
        self.normal = make_normal(self.driven.nv)
        self.closest = make_closest(self.nq, self.driven.nv, self.closures.turns.shape[0])
        self.values = MotorValues(figure, self.driven)
        self.lower, self.upper = velocity_limits(self.driven)
        self.motors = [
            joint.name
            for joint in self.driven.joints
            if joint.active and joint.nv and (joint.kind != "free" or joint.name in figure.loops)
        ]
        self._stopped: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def assemble(
        self, values: Mapping[str, ArrayLike], near: Posture, *, restarts: int = 0, motors: Iterable[str] | None = None
    ) -> Assembly:
        """The assembled posture with motors at `values`; see `Figure.assemble`.

        `motors` are the joints that keep their values if `values` does not name them (default: all active joints).
        """
        start = self.values.start(near, values)
        named, kept = (
            self.values.mask(values),
            self.values.mask({*values, *(self.motors if motors is None else motors)}),
        )
        with self._lock:
            self._set_limits(start)
            self._stopped = ()
            q = start.copy()
            shut = self._close_start(q, kept, named)
            # Motors that moved to close an open start need not return to their old values.
            target = self.values.target(q, values)
            if shut and self._move_motors(q, target, kept, named):
                return self._result(q, target, values)
            best = q if shut else None
            for seed in range(restarts):
                again = self._restart(seed, target, named)
                if again is not None and (best is None or self._is_nearer(again, best, target, start)):
                    best = again
            return self._result(q if best is None else best, target, values)

    def frames(self, values: Mapping[str, ArrayLike], near: Posture) -> tuple[FloatArray, FloatArray]:
        """Postures (f, nq) for motors at `values`, (f,) each, and the fraction (f,) of each step that was possible."""
        start = self.values.start(near, {name: np.atleast_1d(value)[:1] for name, value in values.items()})
        count = {np.shape(value)[0] if np.ndim(value) else 0 for value in values.values()}
        if len(count) != 1 or 0 in count:
            raise FigureError("every motor needs a list of values, one per frame, all of the same length.")
        frames = np.tile(start, (count.pop(), 1))
        for name, value in values.items():
            frames[:, self.values.place(name)] = np.array(value, dtype=np.float64).reshape(frames.shape[0], -1)
        shares = np.zeros(frames.shape[0])
        with self._lock:
            self._set_limits(start)
            kept = self.values.mask({*values, *self.motors})
            self._close_start(start, kept, self.values.mask(values))
            self.work.held[:] = kept
            activate_equalities(self.work.inequalities)
            follow_frames(self.driven.compiled.tree, self.closures, self.work, start, frames, shares)
        return frames[:, : self.figure.nq].copy(), shares

    def close(self, near: Posture) -> Assembly:
        """A closed posture near `near`; motors keep their values if the loops allow it."""
        return self.assemble({}, near)

    # Steps of the solution, on arrays of the driven figure

    def _close_start(self, q: FloatArray, kept: Mask, named: Mask) -> bool:
        """Close the loops of `q` with as many motors as possible at their values; False when that fails."""
        for held in (kept, named, np.zeros_like(named)):
            trial = q.copy()
            if self._gap(trial) <= NEWTON_START_GAP and self._close_near(trial, held):
                q[:] = trial
                return True
        for seed in range(PERTURBED_STARTS):
            for held in (kept, named, np.zeros_like(named)):
                trial = self._perturbed(q, held, seed)
                if self._close_far(trial, held):
                    q[:] = trial
                    return True
        q[:] = trial
        return False

    def _perturbed(self, q: FloatArray, held: Mask, seed: int) -> FloatArray:
        """`q` with the free velocities perturbed at random, more for larger seeds; seed 0 returns `q` itself.

        A loop open by exactly half a turn has a zero gradient, and a descent may end in a local minimum.
        """
        out = np.empty_like(q)
        step = np.random.default_rng(seed).uniform(-0.2 * seed, 0.2 * seed, held.shape[0]) * (1 - held)
        integrate(self.driven.compiled.tree, q, step, out)
        return out

    def _close_near(self, q: FloatArray, held: Mask) -> bool:
        """Close the loops of `q` by Newton's method; False when they stay open or a limit is violated."""
        tree = self.driven.compiled.tree
        self.work.held[:] = held
        activate_equalities(self.work.inequalities)
        close_loops(tree, self.closures, self.work, CLOSING_TOLERANCE, q)
        return self._gap(q) <= FINAL_GAP and largest_violation(tree, self.work, q) <= MOTOR_TOLERANCE

    def _close_far(self, q: FloatArray, held: Mask) -> bool:
        """Close the loops of `q` by the Levenberg–Marquardt method, then by Newton's; False when that fails."""
        self.far_work.held[:] = held
        close_from_afar(self.driven.compiled.tree, self.far, self.far_work, self.normal, q)
        return self._close_near(q, held)

    def _opening(self, q: FloatArray) -> float:
        """Largest gap of any loop or equality coupling [m or rad]."""
        if self._gap(q) > NEWTON_START_GAP:
            loops = self.figure.closure_error(Posture(self.figure, q[: self.figure.nq].copy()))
        else:
            closure_residual(self.closures, self.far_work.position, self.far_work.rotation, self.work.residuals)
            loops = float(np.abs(self.work.residuals / self.closures.length).max(initial=0.0))
        return max(loops, inequality_residual(self.far_work.inequalities, q, self.far_work.residuals))

    def _gap(self, q: FloatArray) -> float:
        """Largest residual of the far rows, which also detect reversed axes, and of the equalities [m]."""
        activate_equalities(self.far_work.inequalities)
        return residual(self.driven.compiled.tree, self.far, self.far_work, q)

    def _move_motors(self, q: FloatArray, target: FloatArray, kept: Mask, named: Mask) -> bool:
        """Move the closed posture `q` to the target or as near as possible; True when all named motors reach it."""
        tree, start = self.driven.compiled.tree, q.copy()
        self.work.held[:] = kept
        activate_equalities(self.work.inequalities)
        if follow(tree, self.closures, self.work, target, q) == 1.0:
            return True
        q[:] = start
        self.work.held[:] = named
        there = follow(tree, self.closures, self.work, target, q) == 1.0
        self.closest.fixed[:] = named if there else 0
        self.closest.driven[:] = kept - named if there else named
        left = approach(tree, self.closures, self.work, self.closest, target, q)
        self._stopped = self._names((self.work.held == 1) & (self.closest.fixed == 0), self.work.inequalities)
        return there or left <= MOTOR_TOLERANCE

    def _restart(self, seed: int, target: FloatArray, named: Mask) -> FloatArray | None:
        """A closed posture from a random start with the named motors at the target, or None if closing fails."""
        rng = np.random.default_rng(seed)
        q = self.values.start(self.figure.random(rng), {})
        for joint in self.driven.joints:
            if joint.nv and named[self.driven.v_slice(joint.name).start]:
                place = self.driven.q_slice(joint.name)
                q[place] = target[place]
        return q if self._close_far(q, named) else None

    def _is_nearer(self, a: FloatArray, b: FloatArray, target: FloatArray, start: FloatArray) -> bool:
        """Whether `a` is better than `b`: motors nearer to the target, then all joints nearer to the start."""
        return self._distances(a, target, start) < self._distances(b, target, start)

    def _distances(self, q: FloatArray, target: FloatArray, start: FloatArray) -> tuple[float, float]:
        """Largest distance of a motor from the target, and the distance of all joints from the start."""
        tree, out = self.driven.compiled.tree, np.zeros(self.driven.nv)
        difference(tree, target, q, out)
        motors = [k for name in self.motors for k in range(*self.driven.v_slice(name).indices(self.driven.nv))]
        missed = float(np.abs(out[motors]).max(initial=0.0))
        difference(tree, start, q, out)
        return (0.0 if missed <= MOTOR_TOLERANCE else missed), float(np.linalg.norm(out))

    # Conversion between the public interface and arrays

    def _set_limits(self, start: FloatArray) -> None:
        """Set the limits of the workspace, widened so that the start is inside them."""
        tree = self.driven.compiled.tree
        single = tree.v_count[tree.dof_node] == 1
        value = np.where(single, start[tree.q_start[tree.dof_node]], 0.0)
        for work in (self.work, self.far_work):
            work.lower[:] = np.minimum(self.lower, np.where(single, value, -np.inf))
            work.upper[:] = np.maximum(self.upper, np.where(single, value, np.inf))
            for i, inequality in enumerate(self.inequalities):
                if inequality.lower < inequality.upper:
                    there = inequality_value(work.inequalities, i, start)
                    work.inequalities.lower[i], work.inequalities.upper[i] = (
                        min(inequality.lower, there),
                        max(inequality.upper, there),
                    )

    def _result(self, q: FloatArray, target: FloatArray, values: Mapping[str, ArrayLike]) -> Assembly:
        """The posture `q` with its status and, if it misses the target, the reasons."""
        missed = np.zeros(self.driven.nv)
        difference(self.driven.compiled.tree, q, target, missed)
        off = {name: float(np.abs(missed[self.driven.v_slice(name)]).max()) for name in values}
        off = {name: value for name, value in off.items() if value > MOTOR_TOLERANCE}
        gap, whole = self._opening(q), Posture(self.driven, q)
        status: Status = "open" if gap > FINAL_GAP else "closest" if off else "assembled"
        motors = {name: whole[name] for name in self.motors}
        posture = Posture(self.figure, q[: self.figure.nq].copy())
        if status == "open":
            return Assembly(posture, status, motors, off, gap, widest=widest_gap(self.figure, posture))
        if status == "assembled":
            return Assembly(posture, status, motors, off, gap)
        places = {name: self.driven.v_slice(name) for name in off}
        fighting = fighting_motors(self._closed_motions(q), missed * self.values.mask(values), places)
        return Assembly(posture, status, motors, off, gap, fighting=fighting, stopped=() if fighting else self._stopped)

    def _closed_motions(self, q: FloatArray) -> FloatArray:
        """(k, nv) basis of the motions that keep the loops closed, without limits."""
        self.work.held[:] = 0
        activate_equalities(self.work.inequalities)
        linearize(self.driven.compiled.tree, self.closures, self.work, q)
        count = free_directions(self.work.factors, self.work.held, self.closest.basis)
        return self.closest.basis[:count]

    def _names(self, mask: NDArray[np.bool_], inequalities: Inequalities) -> tuple[str, ...]:
        """Names of the joints with a velocity in the mask, and of the active inequalities."""
        joints = [joint.name for joint in self.driven.joints if mask[self.driven.v_slice(joint.name)].any()]
        active = (inequalities.side != INACTIVE) & (inequalities.lower < inequalities.upper)
        return tuple(dict.fromkeys([*joints, *(self.inequalities[i].name for i in np.flatnonzero(active))]))
