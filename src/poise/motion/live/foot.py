"""A foot of a live retargeting: whether it stands, and where its sole should be.

Nothing is known of the frames to come, so a foot stands as soon as the person's is low and slow. It then stops within a
few hundredths of a second where its speed carries it, and stays there exactly, until the person's foot rises or moves
fast. In the air it follows the person's, from the place where it left the ground: the difference fades.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import ContactSettings
from poise.motion.live.follower import Point, Turn
from poise.motion.live.turning import Rotated
from poise.motion.retarget.build import Foot
from poise.motion.retarget.feet import GROUND_CLEARANCE, RIGID_FOOT_PITCH, STEEPEST_FOOT_PITCH, smootherstep

LANDING_LAG = 0.015
"""τ of a foot that has landed [s]."""
SPEED_LAG = 0.03
"""Time over which the speed of the person's foot is averaged [s]."""
FADE_TIME = 0.4
"""Time in the air over which a foot goes from its own place to the person's [s]."""
CLEARANCE_TIME = 0.08
"""Time in the air after which a foot keeps clear of the ground [s]."""
FLAT_HEIGHT = 0.08
"""Height of the person's ankle above a standing one up to which a foot in the air is still partly level [legs]."""
FARTHEST_SLIDE = 0.03
"""Distance that a foot that has landed may slide towards the person's [m]."""
FARTHEST_STANCE = 0.2
"""Distance from the person's foot at which a foot that stands makes a step to it, as after a gap [legs]."""
STEP_HEIGHT = 0.06
"""Height of such a step [legs]."""
STANDING_TOLERANCE = 5e-4
"""Distance from its place on the ground from which a foot that has landed stands there exactly [m]."""
TURN_TOLERANCE = 2e-3
"""Such an angle [rad]."""
ROLLING_PITCH = np.radians(4.0)
"""Pitch up to which a standing foot with toes stays flat [rad]."""


class FootFrame(NamedTuple):
    """A foot of the person in a frame, on the scale of the figure and in standing axes."""

    ankle: FloatArray
    """(3,) the ankle [m]."""
    toe: FloatArray
    """(3,) the base of the toes; its height is 0 when it is on the ground [m]."""
    yaw: float
    """Heading of the foot [rad]."""
    pitch: float
    """Pitch of the foot, 0 when flat and positive with the heel up [rad]."""


class LiveFoot:
    """State of a foot from frame to frame."""

    def __init__(self, foot: Foot, leg: float, lag: float, settings: ContactSettings) -> None:
        """A foot of a figure that has not been seen yet.

        Args:
            foot: The figure's foot.
            leg: Length of a leg [m].
            lag: τ of the figure's posture, for the foot in the air [s].
            settings: When a foot stands.
        """
        self.foot, self._leg, self._lag, self._settings = foot, leg, lag, settings
        self.lands, self.stands, self.steps = False, False, False
        self._offset, self._off_yaw, self._aloft = np.zeros(3), 0.0, FADE_TIME
        self._speed = np.zeros(2)
        self._anchor, self._yaw = np.zeros(3), 0.0
        self._ends: tuple[FloatArray, FloatArray] | None = None

    def start(self, frame: FootFrame) -> None:
        """Begin at a frame: on the ground if the person's foot is low."""
        self.lands = self.stands = min(self._heights(frame)) < self._settings.low * self._leg
        place, turn = self._aim(frame)
        if self.stands:
            self._yaw, turn = frame.yaw, Rotated.by_yaw_and_pitch(frame.yaw, 0.0)
            place = frame.ankle - turn.apply(self.foot.ankle)
            place[1] = 0.0
            self._anchor = place.copy()
        self.point, self.turning = Point(place, self._lag), Turn(turn, self._lag)
        self._ends = self._points(frame)

    def step(self, frame: FootFrame, actual: tuple[FloatArray, FloatArray, Rotated], dt: float, since: float) -> None:
        """Go on by a frame.

        Args:
            frame: The person's foot.
            actual: Where the sole of the figure is, how fast it moves [m/s], and how it is turned.
            dt: Length of the frame [s].
            since: Time since the person was seen before [s].
        """
        touches = self._touches(frame, since)
        if touches and not self.lands and not self.steps:
            self._land(frame, actual)
        elif self.lands and not touches:
            self.release(frame)
        self._aloft += dt
        self.steps = self.steps and self._aloft < FADE_TIME
        self.settle(frame, dt)

    def offset(self, frame: FootFrame) -> FloatArray:
        """(3,) how far the foot, on the ground, is from the person's, along the ground [m]."""
        way: FloatArray = (self.shift - frame.ankle) * [1.0, 0.0, 1.0]
        return way

    def meets(self, frame: FootFrame) -> bool:
        """Whether the foot is on the ground, and the person's too."""
        return self.lands and min(self._heights(frame)) < self._settings.high * self._leg

    def strays(self, frame: FootFrame) -> bool:
        """Whether the foot stands too far from the person's."""
        way = self.offset(frame)
        return self.lands and float(way @ way) > (FARTHEST_STANCE * self._leg) ** 2

    def step_over(self, frame: FootFrame) -> None:
        """Lift the foot and put it down where the person's is."""
        self.release(frame)
        self.steps = True

    def settle(self, frame: FootFrame, dt: float) -> None:
        """Move the sole for a frame: towards its place on the ground, or after the person's foot."""
        if not self.lands:
            place, turn = self._aim(frame)
            self.point.step(place, dt)
            self.turning.step(turn, dt)
            return
        turn = self._stance(frame)
        self.turning.step(turn, dt)
        near = (turn * self.turning.turn.inv()).magnitude() < TURN_TOLERANCE
        if near:
            self.turning.turn, self.turning.velocity = turn, np.zeros(3)
        place = self._on_ground(self.turning.turn)
        self.point.step(place, dt)
        if self.stands or (near and float(np.abs(self.point.place - place).max()) < STANDING_TOLERANCE):
            self.stands = True
            self.point.place, self.point.velocity = place, np.zeros(3)

    def release(self, frame: FootFrame) -> None:
        """Lift the foot; it goes on from where it is."""
        self.lands = self.stands = False
        self.point.lag = self.turning.lag = self._lag
        self._aloft = 0.0
        self._offset, self._off_yaw = np.zeros(3), 0.0
        place, _ = self._aim(frame)
        self._offset = self.point.place - place
        self._offset[1] = 0.0
        self._off_yaw = math.remainder(self._yaw - frame.yaw, 2.0 * math.pi)

    def rejoin(self, frame: FootFrame) -> None:
        """After a gap in the stream: a foot in the air goes on from where it is."""
        self._ends = self._points(frame)
        self._speed[:] = 0.0
        if not self.lands:
            self._yaw = self.turning.turn.yaw
            self.release(frame)

    @property
    def shift(self) -> FloatArray:
        """(3,) how far the ankle of a foot on the ground is from the person's; its height does not count [m]."""
        return self._anchor + self.turning.turn.apply(self.foot.ankle)

    @property
    def firmness(self) -> float:
        """1 on the ground, falling to 0 in the air."""
        return 1.0 if self.lands else math.exp(-self._aloft / CLEARANCE_TIME)

    def _land(self, frame: FootFrame, actual: tuple[FloatArray, FloatArray, Rotated]) -> None:
        place, velocity, turn = actual
        self.lands, self.stands = True, False
        self.point.place, self.point.velocity = place.copy(), velocity.copy()
        self.turning.turn = turn
        self.point.lag = self.turning.lag = LANDING_LAG
        wanted, aimed = self._aim(frame)
        ahead = place + LANDING_LAG * velocity
        way = wanted - ahead
        way[1] = 0.0
        self._anchor = ahead + way * min(1.0, FARTHEST_SLIDE / max(float(np.linalg.norm(way)), 1e-9))
        self._anchor[1] = 0.0
        self._yaw = aimed.yaw

    def _stance(self, frame: FootFrame) -> Rotated:
        """Rotated of the sole on the ground: flat, but that a foot with toes rolls over its ball or its heel."""
        pitch = 0.0
        if self.foot.tip:
            pitch = math.copysign(max(abs(frame.pitch) - ROLLING_PITCH, 0.0), frame.pitch)
        return Rotated.by_yaw_and_pitch(self._yaw, min(max(pitch, -STEEPEST_FOOT_PITCH), STEEPEST_FOOT_PITCH))

    def _on_ground(self, turn: Rotated) -> FloatArray:
        """(3,) centre of the sole, turned like this, whose lower end is where it is when the foot stands flat."""
        ends = np.array([self.foot.ball, self.foot.heel])
        turned, flat = turn.apply(ends), Rotated.by_yaw_and_pitch(self._yaw, 0.0).apply(ends)
        low = int(turned[1, 1] < turned[0, 1])
        place: FloatArray = self._anchor + flat[low] - turned[low]
        return place

    def _aim(self, frame: FootFrame) -> tuple[FloatArray, Rotated]:
        """Place and rotation of the sole in the air."""
        share = _eased(1.0 - self._aloft / FADE_TIME)
        rise = max(frame.ankle[1] - self.foot.ankle[1], 0.0) / (FLAT_HEIGHT * self._leg)
        steepest = RIGID_FOOT_PITCH if self.foot.lifts_flat else STEEPEST_FOOT_PITCH
        pitch = min(max(frame.pitch, -steepest), steepest) * _eased(rise)
        turn = Rotated.by_yaw_and_pitch(frame.yaw + share * self._off_yaw, pitch)
        place = frame.ankle + share * self._offset - turn.apply(self.foot.ankle)
        low = place[1] + min(turn.apply(self.foot.ball)[1], turn.apply(self.foot.heel)[1])
        soft = GROUND_CLEARANCE * self._leg * min(self._aloft / CLEARANCE_TIME, 1.0)
        place[1] += 0.5 * (low + math.hypot(low, soft)) - low
        if self.steps:
            gone = min(self._aloft / FADE_TIME, 1.0)
            place[1] += STEP_HEIGHT * self._leg * 16.0 * (gone * (1.0 - gone)) ** 2
        return place, turn

    def _points(self, frame: FootFrame) -> tuple[FloatArray, FloatArray]:
        return frame.ankle - np.array([0.0, self.foot.ankle[1], 0.0]), frame.toe

    def _heights(self, frame: FootFrame) -> tuple[float, float]:
        heel, ball = self._points(frame)
        return float(heel[1]), float(ball[1])

    def _touches(self, frame: FootFrame, dt: float) -> bool:
        """Whether the person's heel or ball is on the ground: low and slow, until it is high or fast."""
        ends, limits = self._points(frame), self._settings
        before = ends if self._ends is None else self._ends
        share = 1.0 - math.exp(-dt / SPEED_LAG)
        for k in range(2):
            speed = float(np.linalg.norm(ends[k] - before[k])) / dt
            self._speed[k] += share * (speed - self._speed[k])
        self._ends = ends
        most_height, most_speed = (limits.high, limits.fast) if self.lands else (limits.low, limits.slow)
        return any(
            end[1] < most_height * self._leg and speed < most_speed * self._leg
            for end, speed in zip(ends, self._speed.tolist(), strict=True)
        )


def _eased(share: float) -> float:
    return float(smootherstep(np.array(min(max(share, 0.0), 1.0))))
