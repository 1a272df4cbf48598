"""Small figures to draw."""

from poise.figure.model.builder import Builder, revolute
from poise.figure.model.figure import Figure
from poise.figure.model.pose import Pose, vector
from poise.figure.model.shapes import Box, Mesh, Sphere


def post(up: str = "y", turned: Pose | None = None) -> Figure:
    """A box with a red ball on an arm; asymmetric, so that no two views of it are alike."""
    made = Builder("post", up=up, placement=turned or Pose())
    made.body("block", shapes=[Box((0.2, 0.6, 0.1), pose=Pose(vector((0.0, 0.3, 0.0))))])
    ball = Sphere(0.08, pose=Pose(vector((0.3, 0.0, 0.1))), color=(0.9, 0.1, 0.1))
    made.body("arm", parent="block", joint=revolute("lift", "z"), at=(0.0, 0.6, 0.0), shapes=[ball])
    made.posture("raised", {"lift": 1.0})
    made.site("tip", "arm", at=(0.3, 0.0, 0.1))
    return made.build()


def stick(*, active: bool = True) -> Figure:
    """Two bodies without shapes."""
    made = Builder("stick")
    made.body("lower")
    made.body("upper", parent="lower", joint=revolute("bend", "z", active=active), at=(0.0, 0.4, 0.0))
    made.site("tip", "upper", at=(0.0, 0.3, 0.0))
    return made.build()


def four_bar(gap: float = 0.0) -> Figure:
    """A square of four bars whose last corner misses by `gap` [m]."""
    made = Builder("square")
    made.body("ground")
    made.body("crank", parent="ground", joint=revolute("motor", "z"))
    made.body("rocker", parent="ground", joint=revolute("follower", "z", active=False), at=(0.3, 0.0, 0.0))
    made.body("coupler", parent="crank", joint=revolute("corner", "z", active=False), at=(0.0, 0.3, 0.0))
    near, far = Pose(vector((0.3, 0.0, 0.0))), Pose(vector((0.0, 0.3 + gap, 0.0)))
    made.loop(revolute("close", "z", active=False), "coupler", "rocker", parent_frame=near, child_frame=far)
    return made.build()


def with_mesh(path: str) -> Figure:
    """One body drawn from a file."""
    made = Builder("meshed")
    made.body("thing", shapes=[Mesh(path)])
    made.site("tip", "thing", at=(0.0, 0.5, 0.0))
    return made.build()
