"""A motion filter that keeps position, velocity, acceleration and jerk inside their limits for any input.

The state (x, v, a) of each joint is integrated exactly under piecewise constant jerk; nothing is clamped afterwards.

**Stop profile.** The time-optimal jerk-limited stop of (v, a) turns towards s = sign(v + a|a| / 2J), the side on which
the joint would coast. In that direction, with v' = s v and a' = s a, it brakes up to

    p = min(A, √(J v' + a'² / 2))

with jerk −J for (a' + p)/J, stays at −p for (v' + (a'² − 2p²) / 2J)/p, and releases the brake with jerk +J for p/J.

**Certificate.** A state is certified when its stop profile stays inside the position and velocity limits. The profile's
extremes are closed forms: it ends at its farthest point, it may first turn back once (where v = 0 under −J), and its
speed peaks where a = 0.

**Frame.** The style of the motion wants a certain jerk; the first `dt` of the stop profile is the safe alternative.
Both start at the same state, and the new trajectory is stop + λ (wanted − stop). Bisection finds the largest λ in
[0, 1] for which the extremes of the trajectory obey the limits and its end is certified: a line search in one variable.

Why this holds for any input and any sequence of frame lengths: limits are convex, so a blend of two trajectories within
the jerk and acceleration limits is within them; λ = 0 continues a stop already certified, because the remainder of a
stop profile is the stop profile of the later state; and a joint at rest inside its limits is certified.

**No overshoot.** The certificate uses the set-point, plus an allowed bounce, in place of the position limit beyond it.
If no λ satisfies that, λ = 0 brakes as fast as the limits allow.

After [Ribeiro & Paiva 2019, eq. 23], with the same style parameters σ (smoothness), ρ (responsiveness) and β.
"""

import math
from typing import NamedTuple

import numpy as np

from poise.kernels.jit.compile import kernel

Array = np.ndarray

FAST_APPROACH = 0.05
"""Time constant of the approach far from the set-point [s]."""
BISECTIONS = 15
"""Bisection steps for λ."""
LIMIT_ROUNDING = 1e-12
"""Relative violation of a limit that counts as rounding."""


class Limits(NamedTuple):
    """Limits of the joints; (n,) each."""

    lower: Array
    """Least position [rad or m]."""
    upper: Array
    """Greatest position [rad or m]."""
    velocity: Array
    """V, greatest speed [rad/s or m/s]."""
    acceleration: Array
    """A, greatest acceleration [rad/s² or m/s²]."""
    jerk: Array
    """J, greatest jerk [rad/s³ or m/s³]."""


class Style(NamedTuple):
    """Style of the joints' motion within their limits; (n,) each."""

    smoothness: Array
    """σ in 0 … 1: the larger, the more gradually a motion ends."""
    responsiveness: Array
    """ρ in 0 … 1, 1 excluded: the larger, the nearer to the set-point the slowing starts."""
    beta: Array
    """β: the larger, the nearer to a position limit the slowing starts; inf for no slowing."""
    bounce: Array
    """κ: allowed overshoot, as a share of the distance travelled."""
    slowest: Array
    """Time constant of the approach for σ = 1 [s]."""


class Motion(NamedTuple):
    """State and set-points of the joints; (n,) each."""

    position: Array
    """[rad or m]"""
    velocity: Array
    """[rad/s or m/s]"""
    acceleration: Array
    """[rad/s² or m/s²]"""
    setpoint: Array
    """Last finite set-point inside the limits."""
    farthest: Array
    """Largest error since the set-point changed or was passed, with the sign of the error."""


class State(NamedTuple):
    """Position, velocity and acceleration of one joint."""

    x: float
    v: float
    a: float


class Stop(NamedTuple):
    """A stop profile: jerk −sJ, 0 and +sJ for three durations."""

    sign: float
    """s."""
    brake: float
    """Duration of the first piece, with jerk −sJ, in which the deceleration grows [s]."""
    hold: float
    """Duration of jerk 0 [s]."""
    release: float
    """Duration of jerk +sJ [s]."""
    peak: float
    """p, the strongest deceleration."""


class Extent(NamedTuple):
    """Extremes of a trajectory, or bounds on them."""

    low: float
    """Least position."""
    high: float
    """Greatest position."""
    speed: float
    """Greatest speed."""


@kernel
def stop_profile(v: float, a: float, A: float, J: float) -> Stop:
    """The fastest stop from velocity v and acceleration a (see the module)."""
    sign = 1.0 if v + a * abs(a) / (2.0 * J) >= 0.0 else -1.0
    v1, a1 = sign * v, sign * a
    peak = math.sqrt(max(J * v1 + 0.5 * a1 * a1, 0.0))
    hold = 0.0
    if peak > A:
        peak = A
        hold = max((v1 + (a1 * a1 - 2.0 * A * A) / (2.0 * J)) / A, 0.0)
    return Stop(sign, max((a1 + peak) / J, 0.0), hold, peak / J, peak)


@kernel
def moved(state: State, j: float, t: float) -> State:
    """The state after time t under constant jerk."""
    x, v, a = state
    return State(x + t * (v + t * (0.5 * a + t * j / 6.0)), v + t * (a + 0.5 * t * j), a + t * j)


@kernel
def stop_extent(state: State, A: float, J: float) -> Extent:
    """Extremes of the whole stop profile of a state."""
    x, v, a = state
    stop = stop_profile(v, a, A, J)
    s, peak = stop.sign, stop.peak
    braked = moved(state, -s * J, stop.brake)
    end = braked.x + stop.hold * (braked.v - 0.5 * s * stop.hold * peak) + s * peak * peak * peak / (6.0 * J * J)
    first, speed = x, abs(v)
    if s * a > 0.0:
        speed = max(speed, abs(v + a * abs(a) / (2.0 * J)))
        if s * v < 0.0:
            back = (s * a - math.sqrt(max(a * a + 2.0 * J * s * v, 0.0))) / J
            first = moved(state, -s * J, back).x
    return Extent(min(x, first, end), max(x, first, end), speed)


@kernel
def piece_extent(state: State, j: float, t: float) -> Extent:
    """Extremes of position and speed from now to time t under constant jerk."""
    x, v, a = state
    end = moved(state, j, t)
    low, high, speed = min(x, end.x), max(x, end.x), max(abs(v), abs(end.v))
    if a * end.a < 0.0:
        speed = max(speed, abs(moved(state, j, -a / j).v))
    if min(v, end.v) <= 0.0 <= max(v, end.v) or a * end.a < 0.0:
        under = a * a - 2.0 * j * v
        if under >= 0.0:
            root = math.sqrt(under)
            # Both roots of v + a t + j t²/2 without cancellation.
            q = -(a + root) if a >= 0.0 else -(a - root)
            if j != 0.0 and 0.0 < q / j < t:
                turn = moved(state, j, q / j).x
                low, high = min(low, turn), max(high, turn)
            if q != 0.0 and 0.0 < 2.0 * v / q < t:
                turn = moved(state, j, 2.0 * v / q).x
                low, high = min(low, turn), max(high, turn)
    return Extent(low, high, speed)


@kernel
def blended(state: State, stop: Stop, J: float, asked: float, share: float, dt: float) -> tuple[State, Extent]:
    """State at the end of a frame, and its extremes, for a jerk at `share` of the way from `stop` to `asked`."""
    low, high, speed = state.x, state.x, abs(state.v)
    left = dt
    for phase in range(4):
        length, jerk = left, 0.0
        if phase == 0:
            length, jerk = min(stop.brake, left), -stop.sign * J
        elif phase == 1:
            length = min(stop.hold, left)
        elif phase == 2:
            length, jerk = min(stop.release, left), stop.sign * J
        if length > 0.0:
            j = jerk + share * (asked - jerk)
            piece = piece_extent(state, j, length)
            low, high, speed = min(low, piece.low), max(high, piece.high), max(speed, piece.speed)
            state = moved(state, j, length)
            left -= length
    return state, Extent(low, high, speed)


@kernel
def is_legal(state: State, path: Extent, bounds: Extent, A: float, J: float) -> bool:
    """Whether a frame's extremes and the stop profile of its end are within (low, high, speed)."""
    if path.low < bounds.low or path.high > bounds.high or path.speed > bounds.speed:
        return False
    rest = stop_extent(state, A, J)
    return rest.low >= bounds.low and rest.high <= bounds.high and rest.speed <= bounds.speed


@kernel
def next_state(state: State, bounds: Extent, asked: float, A: float, J: float, dt: float) -> State:
    """End of the frame with the jerk nearest to `asked` from which the joint can still stop inside the bounds."""
    stop = stop_profile(state.v, state.a, A, J)
    end, path = blended(state, stop, J, asked, 1.0, dt)
    if is_legal(end, path, bounds, A, J):
        return end
    best, path = blended(state, stop, J, asked, 0.0, dt)
    if not is_legal(best, path, bounds, A, J):
        return best
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        share = 0.5 * (low + high)
        end, path = blended(state, stop, J, asked, share, dt)
        if is_legal(end, path, bounds, A, J):
            low, best = share, end
        else:
            high = share
    return best


@kernel
def slowed(v: float, x: float, lower: float, upper: float, beta: float) -> float:
    """Ω: the velocity v, reduced where it points towards a near position limit.

    Ω = v (1 − |(x − m)/α|^(2β)) beyond the middle m of the range 2α, and v elsewhere [Ribeiro & Paiva 2019, eq. 23].
    """
    if beta == math.inf or upper - lower == math.inf or upper <= lower:
        return v
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    if (x - middle) * v <= 0.0:
        return v
    return v * max(1.0 - (abs(x - middle) / half) ** (2.0 * beta), 0.0)


@kernel
def braking_time(distance: float, V: float, A: float, J: float) -> float:
    """distance / v, with v ≤ V the constant speed from which the fastest stop covers that distance.

    The stop from v covers v √(v/J), or v (v/A + A/J)/2 when it reaches the deceleration A.
    """
    if distance <= A * A * A / (J * J):
        v = (distance * distance * J) ** (1.0 / 3.0)
    else:
        reach = A * A / (2.0 * J)
        v = -reach + math.sqrt(reach * reach + 2.0 * A * distance)
    return distance / min(v, V)


@kernel
def wished_velocity(error: float, soft: float, h: float, V: float) -> float:
    """e/τ clamped to ±V, with τ = `soft` near the set-point (h = 0) and τ = `FAST_APPROACH` far from it (h = 1)."""
    return min(max(error / (FAST_APPROACH**h * soft ** (1.0 - h)), -V), V)


@kernel
def nearness(distance: float, V: float, sigma: float, rho: float) -> float:
    """h = (1 + tanh((|e| / (FAST_APPROACH V (1−ρ)))^(1−σ) − π)) / 2, part of H [Ribeiro & Paiva 2019, eq. 23]."""
    return 0.5 * (1.0 + math.tanh((distance / (FAST_APPROACH * V * (1.0 - rho))) ** (1.0 - sigma) - math.pi))


@kernel
def wished_jerk(state: State, wished: float, A: float, J: float, dt: float) -> float:
    """Jerk of this frame on the fastest way to the velocity `wished` that ends with acceleration 0.

    At the end of the frame the velocity still differs by r − a₁ dt/2, with r = wished − v − a dt/2, and reducing the
    acceleration a₁ to 0 adds a₁²/2J. The two are equal for

        a₁ = sign(r) J (−dt/2 + √(dt²/4 + 2|r|/J)).

    Near the end |a₁| ≤ |r|/dt, so that difference and acceleration both vanish two frames later.
    """
    lacking = wished - state.v - 0.5 * state.a * dt
    release = J * (math.sqrt(0.25 * dt * dt + 2.0 * abs(lacking) / J) - 0.5 * dt)
    a = math.copysign(min(A, release, abs(lacking) / dt), lacking)
    return min(max((a - state.a) / dt, -J), J)


@kernel
def filter_step(
    limits: Limits,
    style: Style,
    wanted: Array,
    dt: float,
    # outputs
    motion: Motion,
) -> None:
    """Move every joint by one frame towards its set-point.

    Args:
        limits: Limits of the joints.
        style: Style of their motion.
        wanted: (n,) set-points [rad or m]; a value that is not finite keeps the last set-point.
        dt: Length of the frame [s].
        motion: State of the joints, advanced by one frame.
    """
    lower, upper, velocity, acceleration, jerk = limits
    smoothness, responsiveness, beta, bounce, slowest = style
    position, speed, change, setpoint, farthest = motion
    for i in range(position.shape[0]):
        V, A, J = velocity[i], acceleration[i], jerk[i]
        state = State(position[i], speed[i], change[i])
        goal = setpoint[i]
        if math.isfinite(wanted[i]):
            goal = min(max(wanted[i], lower[i]), upper[i])
        error = goal - state.x
        if goal != setpoint[i] or error * farthest[i] <= 0.0 or abs(error) > abs(farthest[i]):
            farthest[i] = error
        setpoint[i] = goal
        room = bounce[i] * abs(farthest[i])
        # A bounce shorter than a few frames would look like chatter.
        if room < min(J * dt, A) * dt * dt:
            room = 0.0
        grain = LIMIT_ROUNDING * (1.0 + abs(state.x))
        low = max(lower[i], goal - room) if error < 0.0 else lower[i]
        high = min(upper[i], goal + room) if error > 0.0 else upper[i]
        bounds = Extent(low - grain, high + grain, V * (1.0 + LIMIT_ROUNDING))
        wished = 0.0
        if error != 0.0:
            soft = braking_time(abs(error), V, A, J) ** (1.0 - smoothness[i]) * slowest[i] ** smoothness[i]
            h = nearness(abs(error), V, smoothness[i], responsiveness[i])
            wished = slowed(wished_velocity(error, soft, h, V), state.x, lower[i], upper[i], beta[i])
        asked = wished_jerk(state, wished, A, J, dt)
        after = next_state(state, bounds, asked, A, J, dt)
        position[i], speed[i], change[i] = after
