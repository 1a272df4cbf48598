"""The demos of the circles: arms, a cyclist, a hand [Ramachandran & John 2013]."""

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
from poise.studio.modes.circles.demo import EXACT, SIDE, Demo, Placed, Spot, joint_circles, rounded, seen
from poise.studio.session.outcome import Light
from poise.tasks.obstacles import Obstacle

EASE = 0.25
"""Share of its way that a hand closes in one step."""
STILL = 1e-5
"""A hand nearer than this to its goal is there [rad]."""
FINGERS = ("index", "middle", "ring", "little")
BALL = 0.036
"""Radius of the ball [m]."""
TOUCH = math.radians(35.0)
"""How far in front of its top a finger touches the ball."""


class Arm(Demo):
    """A robot arm; its end-point is dragged."""

    name, first = "arm", (0.6, 0.6)
    start: str | None = "ready"
    description = "Drag the end-point: it stays between the safe zones"
    floor: float | None = 0.0
    hinges: tuple[str, ...] = ("turn",)
    """Joints that the circles leave alone."""
    box = (-1.15, -0.85, 1.15, 1.35)
    parts: tuple[str, ...] = ("upper_arm", "forearm", "hand", "tip")

    def _base(self) -> FloatArray:
        base: FloatArray = seen(self.figure.neutral(), self.parts)[0]
        return base

    def kept(self, at: Spot, posture: Posture) -> Spot:
        """Inside the greatest safe zone and outside the least."""
        least, most = circle_zones(self.figure)
        base = self._base()
        away = np.array(at) - base
        far = float(np.linalg.norm(away))
        along = away / far if far > 0.0 else np.array([0.0, 1.0])
        forward, up = base + along * min(max(far, least), most)
        return float(forward), float(up) if self.floor is None else max(float(up), self.floor)

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """Three links in the plane of the turntable."""
        flat = np.array([math.sin(turn) * at[0], at[1], math.cos(turn) * at[0]])
        start = self._turned(posture, turn)
        result = circles(self.figure, flat, start=start, keep="directions", hold=self.hinges)
        exact = result.error <= EXACT
        said: tuple[Light, str] = (
            ("green", "Every joint is where two circles meet; the end-point is exactly there.")
            if exact
            else ("orange", f"Joint limits keep the end-point {1e3 * result.error:.0f} mm away.")
        )
        return Placed(result.posture, said, result.iterations, result.error, more=False)

    def _turned(self, posture: Posture, turn: float) -> Posture:
        """The posture with the turntable at an angle [rad]."""
        return posture.changed({"turn": turn})

    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """The arm with its turntable taken back, so that the view is always from its side."""
        links = seen(self._turned(posture, 0.0), self.parts)
        least, most = circle_zones(self.figure)
        zone = {"center": rounded(links[0]), "least": least, "most": most}
        floor = {} if self.floor is None else {"floor": self.floor}
        return self._drawn([links], at, zones=[zone], **floor)


class UnevenArm(Arm):
    """An arm whose first link is longer than the others together: there are places too near for it."""

    name, first = "uneven arm", (0.5, 0.4)
    start = None
    description = "The first link is longest: the end-point cannot come near the base"
    box = (-1.05, -1.02, 1.05, 1.02)
    parts = ("segment_1", "segment_2", "segment_3", "tip")
    floor = None
    hinges = ()

    @property
    def figure(self) -> Figure:
        """Three parallel hinges."""
        return _uneven()

    def _turned(self, posture: Posture, turn: float) -> Posture:
        """There is no turntable."""
        del turn
        return posture

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """Three links in one plane."""
        return super().placed(posture, at, turn=0.0, advance=advance)


@cache
def _uneven() -> Figure:
    return chain("XXX", lengths=[0.6, 0.22, 0.16], limits=180)


class Cyclist(Demo):
    """A rider; the crank turns by itself, or a pedal is dragged."""

    name, start, first = "cyclist", "riding", (0.0, 0.0)
    description = "Pedals: both feet stay on the pedals all around"
    sides = ("left", "right")

    @property
    def box(self) -> tuple[float, float, float, float]:  # type: ignore[override]
        """Both wheels would be too wide: hips and pedals with room around."""
        crank, hip = self._crank(self.figure.neutral()), self._leg(self.figure.posture("riding"), "left")[0]
        middle = 0.5 * (crank + hip)
        return (middle[0] - 0.92, middle[1] - 0.85, middle[0] + 0.92, middle[1] + 1.12)

    def _crank(self, posture: Posture) -> FloatArray:
        center: FloatArray = seen(posture, ("crank",))[0]
        return center

    def _leg(self, posture: Posture, side: str) -> FloatArray:
        """(4, 2) hip, knee, ankle and ball of the foot; the site of a foot has its body's name."""
        hip, knee, ball = seen(posture, (f"{side}_thigh", f"{side}_shank", f"{side}_foot"))
        row = self.figure.bodies.index(f"{side}_foot")
        ankle = self.figure.frames(posture).position[row][SIDE]
        return np.array([hip, knee, ankle, ball])

    def kept(self, at: Spot, posture: Posture) -> Spot:
        """On the circle of the left pedal."""
        crank = self._crank(posture)
        radius = float(np.linalg.norm(seen(posture, ("left_pedal",))[0] - crank))
        away = np.array(at) - crank
        far = float(np.linalg.norm(away))
        forward, up = crank + (away / far if far > 0.0 else np.array([1.0, 0.0])) * radius
        return float(forward), float(up)

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """The crank where it goes, feet where their pedals are."""
        angle = float(np.sum(posture["crank"])) + (advance or self._towards(posture, at))
        turned = posture.changed({"crank": angle})
        frames = self.figure.frames(turned)
        pedals = {f"{side}_foot": frames[f"{side}_pedal"].position for side in self.sides}
        result = circles(self.figure, pedals, start=turned, keep="directions")
        error = max(result.errors.values())
        said: tuple[Light, str] = (
            ("green", "Both feet are exactly on the pedals.")
            if error <= EXACT
            else ("red", f"A foot is {1e3 * error:.1f} mm off its pedal.")
        )
        return Placed(self._soles(result.posture), said, result.iterations, error, more=False)

    def _towards(self, posture: Posture, at: Spot) -> float:
        """How far the crank has to turn for the left pedal to be at a place [rad]; 0 where nobody said one."""
        if at == self.first:
            return 0.0
        forward, up = np.array(at) - self._crank(posture)
        return math.remainder(math.atan2(-up, forward) - float(np.sum(posture["crank"])), 2.0 * math.pi)

    def _soles(self, posture: Posture) -> Posture:
        """Pedals turned to lie under the soles."""
        slopes = {}
        for side in self.sides:
            foot = -(float(np.sum(posture[f"{side}_hip"])) + float(np.sum(posture[f"{side}_ankle"])))
            slope = foot + float(np.sum(posture[f"{side}_knee"]))
            slopes[f"{side}_pedal"] = slope - float(np.sum(posture["crank"]))
        return posture.changed(slopes)

    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """Both legs, and the circle of the pedals."""
        legs = [self._leg(posture, side) for side in self.sides]
        crank, pedal = self._crank(posture), seen(posture, ("left_pedal",))[0]
        ring = {"center": rounded(crank), "radius": float(np.linalg.norm(pedal - crank))}
        drawn = self._drawn(legs, (float(pedal[0]), float(pedal[1])), rings=[ring])
        drawn["circles"] = drawn["circles"][: len(drawn["circles"]) // 2]  # of the near leg
        return drawn


class Hand(Demo):
    """A hand; the ball is dragged."""

    name, start, first = "hand", "open", (0.18, 0.17)
    description = "Bring the ball to the fingers: in range, the hand closes on it"
    box = (-0.12, -0.03, 0.25, 0.235)
    has_ball = True

    @property
    def figure(self) -> Figure:
        """The hand, its last two hinges not tied together: circles place every hinge by itself."""
        return _loose_hand()

    def obstacles(self, at: Spot) -> list[Obstacle]:
        """The ball."""
        return [Obstacle(Sphere(BALL), Pose(np.array([0.0, at[1], at[0]])), name="ball")]

    def kept(self, at: Spot, posture: Posture) -> Spot:
        """In the view, in front of the palm."""
        _, bottom, right, top = self.box
        return min(max(at[0], BALL), right - BALL), min(max(at[1], bottom + BALL), top - BALL)

    def placed(self, posture: Posture, at: Spot, *, turn: float, advance: float) -> Placed:
        """Closed on the ball when all four fingers reach it, open otherwise; on the way there in between."""
        ball = np.array([0.0, at[1], at[0]])
        opened = self.figure.posture("open")
        targets = {f"{finger}_tip": self._touch(finger, ball) for finger in FINGERS}
        result = circles(self.figure, targets, hold=["wrist"])
        held = [tip for tip, error in result.errors.items() if error <= EXACT]
        in_range = len(held) == len(FINGERS)
        goal = result.posture if in_range else opened
        way = goal._q - posture._q
        there = float(np.abs(way).max()) < STILL
        now = goal if there else Posture(self.figure, posture._q + EASE * way)
        said: tuple[Light, str] = (
            ("green", "The ball is in range: the hand holds it.")
            if in_range
            else ("orange", f"The ball is out of range: {len(held)} of {len(FINGERS)} fingers would reach it.")
        )
        return Placed(now, said, result.iterations, max(result.errors.values()), more=not there)

    def _touch(self, finger: str, ball: FloatArray) -> FloatArray:
        """Where a finger touches the ball: on the circle that the ball has in common with the finger's plane."""
        x = self.figure.pose_of(f"{finger}_proximal", self.figure.neutral()).position[0]
        radius = math.sqrt(BALL**2 - (x - ball[0]) ** 2)
        return np.array([x, ball[1] + radius * math.cos(TOUCH), ball[2] + radius * math.sin(TOUCH)])

    def drawn(self, posture: Posture, at: Spot) -> dict[str, Any]:
        """Four fingers, the ball, and the circles and zones of the middle finger."""
        chains = [
            seen(posture, tuple(f"{f}_{part}" for part in ("proximal", "middle", "distal", "tip"))) for f in FINGERS
        ]
        least, most = circle_zones(self.figure, "middle_tip", posture, hold=("wrist",))
        zone = {"center": rounded(chains[1][0]), "least": least, "most": most}
        drawn = self._drawn(chains, at, zones=[zone], ball=BALL)
        drawn["circles"] = joint_circles(chains[1])
        return drawn


@cache
def _loose_hand() -> Figure:
    return built_in("hand").replaced(couplings=())


DEMOS: dict[str, Demo] = {demo.name: demo for demo in (Arm(), UnevenArm(), Cyclist(), Hand())}
"""By name, which is that of their figure where it is built in."""
