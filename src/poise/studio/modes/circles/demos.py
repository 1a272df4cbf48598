"""The demos of the circles mode: arms, a cyclist, a hand [Ramachandran & John 2013]."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from poise.chains.circles import circle_zones, circles
from poise.figure.model.figure import Figure
from poise.figure.model.pose import FloatArray, Pose
from poise.figure.model.posture import Posture
from poise.figure.model.shapes import Sphere
from poise.figures import built_in
from poise.figures.robots.chains import chain
from poise.studio.modes.circles.demo import (
    EXACT_DISTANCE,
    SIDE_VIEW_AXES,
    Demo,
    Placed,
    Spot,
    joint_circles,
    rounded,
    side_view_points,
)
from poise.studio.session.outcome import Light
from poise.tasks.obstacles import Obstacle

HAND_EASING = 0.25
"""Share of the remaining movement that the hand makes in one step."""
HAND_RESTING_CHANGE = 1e-5
"""Largest difference from its goal posture at which the hand rests [rad]."""
FINGER_NAMES = ("index", "middle", "ring", "little")
BALL_RADIUS = 0.036
"""Radius of the ball [m]."""
TOUCH_ANGLE = math.radians(35.0)
"""Angle from the top of the ball to the point that a fingertip touches, towards the front [rad]."""


class Arm(Demo):
    """A robot arm on a turntable; its end-point is dragged."""

    name, first = "arm", (0.6, 0.6)
    start: str | None = "ready"
    description = "Drag the end-point: it stays inside the safe zone"
    floor: float | None = 0.0
    held_joints: tuple[str, ...] = ("turn",)
    """Joints that the solver does not move."""
    box = (-1.15, -0.85, 1.15, 1.35)
    parts: tuple[str, ...] = ("upper_arm", "forearm", "hand", "tip")

    def _base(self) -> FloatArray:
        base: FloatArray = side_view_points(self.figure.neutral(), self.parts)[0]
        return base

    def kept(self, at: Spot, posture: Posture) -> Spot:
        """The nearest point between the inner and outer radius of the safe zone, and above the floor."""
        least, most = circle_zones(self.figure)
        base = self._base()
        away = np.array(at) - base
        far = float(np.linalg.norm(away))
        along = away / far if far > 0.0 else np.array([0.0, 1.0])
        forward, up = base + along * min(max(far, least), most)
        return float(forward), float(up) if self.floor is None else max(float(up), self.floor)

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """Solve the three links in the plane of the turntable."""
        flat = np.array([math.sin(turn) * at[0], at[1], math.cos(turn) * at[0]])
        start = self._turned(posture, turn)
        result = circles(self.figure, flat, start=start, keep="directions", hold=self.held_joints)
        exact = result.error <= EXACT_DISTANCE
        status: tuple[Light, str] = (
            ("green", "Every joint is at an intersection of two circles; the end-point is exactly on the target.")
            if exact
            else ("orange", f"Joint limits keep the end-point {1e3 * result.error:.0f} mm away.")
        )
        return Placed(result.posture, status, result.iterations, result.error, more=False)

    def _turned(self, posture: Posture, turn: float) -> Posture:
        """The posture with the turntable at an angle [rad]."""
        return posture.changed({"turn": turn})

    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """The arm with its turntable turned back to zero, so that the view is always from its side."""
        links = side_view_points(self._turned(posture, 0.0), self.parts)
        least, most = circle_zones(self.figure)
        zone = {"center": rounded(links[0]), "least": least, "most": most}
        floor = {} if self.floor is None else {"floor": self.floor}
        return self._drawn([links], at, zones=[zone], **floor)


class UnevenArm(Arm):
    """An arm whose first link is longer than the others together, so that it cannot reach points near its base."""

    name, first = "uneven arm", (0.5, 0.4)
    start = None
    description = "The first link is longer than the others together: the end-point cannot come near the base"
    box = (-1.05, -1.02, 1.05, 1.02)
    parts = ("segment_1", "segment_2", "segment_3", "tip")
    floor = None
    held_joints = ()

    @property
    def figure(self) -> Figure:
        """A chain of three parallel hinges."""
        return _uneven()

    def _turned(self, posture: Posture, turn: float) -> Posture:
        """The posture itself: this arm has no turntable."""
        del turn
        return posture

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """Solve the three links in one plane."""
        return super().placed(posture, at, turn=0.0, advance=advance)


@cache
def _uneven() -> Figure:
    return chain("XXX", lengths=[0.6, 0.22, 0.16], limits=180)


class Cyclist(Demo):
    """A cyclist; the crank turns by itself, or the left pedal is dragged."""

    name, start, first = "cyclist", "riding", (0.0, 0.0)
    description = "Drag a pedal, or let it turn: both feet stay on the pedals"
    sides = ("left", "right")

    @property
    def box(self) -> tuple[float, float, float, float]:  # type: ignore[override]
        """The region around hips and pedals; both wheels would be too wide."""
        crank, hip = self._crank(self.figure.neutral()), self._leg(self.figure.posture("riding"), "left")[0]
        middle = 0.5 * (crank + hip)
        return (middle[0] - 0.92, middle[1] - 0.85, middle[0] + 0.92, middle[1] + 1.12)

    def _crank(self, posture: Posture) -> FloatArray:
        center: FloatArray = side_view_points(posture, ("crank",))[0]
        return center

    def _leg(self, posture: Posture, side: str) -> FloatArray:
        """(4, 2) positions of hip, knee, ankle and ball of the foot, where each foot has its site."""
        hip, knee, ball = side_view_points(posture, (f"{side}_thigh", f"{side}_shank", f"{side}_foot"))
        row = self.figure.bodies.index(f"{side}_foot")
        ankle = self.figure.frames(posture).position[row][SIDE_VIEW_AXES]
        return np.array([hip, knee, ankle, ball])

    def kept(self, at: Spot, posture: Posture) -> Spot:
        """The nearest point on the circle of the left pedal."""
        crank = self._crank(posture)
        radius = float(np.linalg.norm(side_view_points(posture, ("left_pedal",))[0] - crank))
        away = np.array(at) - crank
        far = float(np.linalg.norm(away))
        forward, up = crank + (away / far if far > 0.0 else np.array([1.0, 0.0])) * radius
        return float(forward), float(up)

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """Turn the crank, then solve both legs so that the feet are on the pedals."""
        angle = float(np.sum(posture["crank"])) + (advance or self._turn_to(posture, at))
        turned = posture.changed({"crank": angle})
        frames = self.figure.frames(turned)
        pedals = {f"{side}_foot": frames[f"{side}_pedal"].position for side in self.sides}
        result = circles(self.figure, pedals, start=turned, keep="directions")
        error = max(result.errors.values())
        status: tuple[Light, str] = (
            ("green", "Both feet are exactly on the pedals.")
            if error <= EXACT_DISTANCE
            else ("red", f"A foot is {1e3 * error:.1f} mm off its pedal.")
        )
        return Placed(self._with_level_pedals(result.posture), status, result.iterations, error, more=False)

    def _turn_to(self, posture: Posture, at: Spot) -> float:
        """Angle by which the crank has to turn to bring the left pedal to a point; 0 before the first drag [rad]."""
        if at == self.first:
            return 0.0
        forward, up = np.array(at) - self._crank(posture)
        return math.remainder(math.atan2(-up, forward) - float(np.sum(posture["crank"])), 2.0 * math.pi)

    def _with_level_pedals(self, posture: Posture) -> Posture:
        """The posture with the pedals turned parallel to the soles."""
        slopes = {}
        for side in self.sides:
            foot = -(float(np.sum(posture[f"{side}_hip"])) + float(np.sum(posture[f"{side}_ankle"])))
            slope = foot + float(np.sum(posture[f"{side}_knee"]))
            slopes[f"{side}_pedal"] = slope - float(np.sum(posture["crank"]))
        return posture.changed(slopes)

    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """Both legs, the circle of the pedals, and the circles of the near leg."""
        legs = [self._leg(posture, side) for side in self.sides]
        crank, pedal = self._crank(posture), side_view_points(posture, ("left_pedal",))[0]
        ring = {"center": rounded(crank), "radius": float(np.linalg.norm(pedal - crank))}
        drawn = self._drawn(legs, (float(pedal[0]), float(pedal[1])), rings=[ring])
        drawn["circles"] = drawn["circles"][: len(drawn["circles"]) // 2]  # of the near leg
        return drawn


class Hand(Demo):
    """A hand; a ball is dragged."""

    name, start, first = "hand", "open", (0.18, 0.17)
    description = "Drag the ball to the fingers: the hand closes on it when all fingers reach it"
    box = (-0.12, -0.03, 0.25, 0.235)
    has_ball = True

    @property
    def figure(self) -> Figure:
        """The hand without the couplings of its finger joints, because the solver places every joint separately."""
        return _loose_hand()

    def obstacles(self, at: Spot) -> list[Obstacle]:
        """The ball."""
        return [Obstacle(Sphere(BALL_RADIUS), Pose(np.array([0.0, at[1], at[0]])), name="ball")]

    def kept(self, at: Spot, posture: Posture) -> Spot:
        """The nearest point in front of the palm and inside the view."""
        _, bottom, right, top = self.box
        return min(max(at[0], BALL_RADIUS), right - BALL_RADIUS), min(
            max(at[1], bottom + BALL_RADIUS), top - BALL_RADIUS
        )

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """Move one step towards holding the ball if all four fingers reach it, else towards the open hand."""
        ball = np.array([0.0, at[1], at[0]])
        opened = self.figure.posture("open")
        targets = {f"{finger}_tip": self._touch_point(finger, ball) for finger in FINGER_NAMES}
        result = circles(self.figure, targets, hold=["wrist"])
        held = [tip for tip, error in result.errors.items() if error <= EXACT_DISTANCE]
        in_range = len(held) == len(FINGER_NAMES)
        goal = result.posture if in_range else opened
        way = goal._q - posture._q
        there = float(np.abs(way).max()) < HAND_RESTING_CHANGE
        now = goal if there else Posture(self.figure, posture._q + HAND_EASING * way)
        status: tuple[Light, str] = (
            ("green", "All fingers reach the ball: the hand holds it.")
            if in_range
            else ("orange", f"Only {len(held)} of {len(FINGER_NAMES)} fingers reach the ball: the hand stays open.")
        )
        return Placed(now, status, result.iterations, max(result.errors.values()), more=not there)

    def _touch_point(self, finger: str, ball: FloatArray) -> FloatArray:
        """(3,) the point at which a finger touches the ball, on the circle in which the finger's plane cuts it [m]."""
        x = self.figure.pose_of(f"{finger}_proximal", self.figure.neutral()).position[0]
        radius = math.sqrt(BALL_RADIUS**2 - (x - ball[0]) ** 2)
        return np.array([x, ball[1] + radius * math.cos(TOUCH_ANGLE), ball[2] + radius * math.sin(TOUCH_ANGLE)])

    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """Four fingers, the ball, and the circles and zones of the middle finger."""
        chains = [
            side_view_points(posture, tuple(f"{f}_{part}" for part in ("proximal", "middle", "distal", "tip")))
            for f in FINGER_NAMES
        ]
        least, most = circle_zones(self.figure, "middle_tip", posture, hold=("wrist",))
        zone = {"center": rounded(chains[1][0]), "least": least, "most": most}
        drawn = self._drawn(chains, at, zones=[zone], ball=BALL_RADIUS)
        drawn["circles"] = joint_circles(chains[1])
        return drawn


@cache
def _loose_hand() -> Figure:
    return built_in("hand").replaced(couplings=())


DEMOS: dict[str, Demo] = {demo.name: demo for demo in (Arm(), UnevenArm(), Cyclist(), Hand())}
"""The demos by name."""
