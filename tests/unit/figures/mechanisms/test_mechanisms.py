"""Mechanisms with loops: counts, mobility, and that their motors drive them."""

import math

import numpy as np
import pytest

from poise.errors import FigureError
from poise.figure import Figure
from poise.figure.model.builder import ball, revolute
from poise.figure.model.joints import KINDS
from poise.figures import built_in
from poise.figures.mechanisms.mechanism import Mechanism
from poise.figures.mechanisms.walker import CHAINS
from poise.figures.mechanisms.walker import points_of as chain_points
from poise.figures.parts import bar
from tests.unit.figures.loops import closure_jacobian, driven_to, mobility

COUNTS = {
    # bodies, joints, motors, loops, mobility
    "four_bar": (4, 4, 1, 1, 1),
    "five_bar": (5, 5, 2, 1, 2),
    "delta": (11, 15, 3, 5, 3),
    "stewart": (14, 18, 6, 5, 6),
    "all_joints": (9, 11, 1, 3, 1),
    "dancer": (12, 12, 8, 1, 6),
    "walker": (31, 36, 12, 6, 12),
}
DRIVES = {
    "four_bar": {"drive": 0.6},
    "five_bar": {"left_motor": 0.5, "right_motor": -0.2},
    "delta": {"a_motor": 0.5, "b_motor": 0.1, "c_motor": -0.2},
    "stewart": {f"leg_{k + 1}_motor": 0.08 * (-1) ** k for k in range(6)},
    "all_joints": {"drive": 1.2},
}


def motors_of(figure: Figure) -> list[str]:
    return [joint.name for joint in (*figure.joints, *figure.loops) if joint.active]


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    figure = built_in(name)
    bodies, joints, motors, loops, _ = COUNTS[name]
    ends = sum(loop.kind == "fixed" for loop in figure.loops)
    assert len(figure.bodies) - ends == bodies
    assert len(figure.joints) + len(figure.loops) - ends == joints
    assert len(figure.loops) == loops
    assert len(motors_of(figure)) == motors
    assert not any(loop.active for loop in figure.loops), "motors stay in the tree"


@pytest.mark.parametrize("name", COUNTS)
def test_mobility(name: str) -> None:
    figure = built_in(name)
    assert figure.closure_error(figure.neutral()) <= 1e-12
    assert mobility(figure, figure.neutral()) == COUNTS[name][-1]


@pytest.mark.parametrize("name", COUNTS)
def test_the_motors_decide_the_posture(name: str) -> None:
    """With all motors held, nothing else can move."""
    figure = built_in(name)
    passive = [j for j in figure.joints if not j.active and j.nv]
    columns = np.concatenate([np.arange(figure.nv)[figure.v_slice(joint.name)] for joint in passive])
    jacobian = closure_jacobian(figure, figure.neutral())[:, columns]
    assert np.linalg.svd(jacobian, compute_uv=False)[len(columns) - 1] > 1e-3


@pytest.mark.parametrize("name", DRIVES)
def test_turning_the_motors_moves_the_tip_and_keeps_the_mobility(name: str) -> None:
    figure = built_in(name)
    end = driven_to(figure, DRIVES[name], steps=6)[-1]
    assert end is not None
    assert figure.closure_error(end) <= 1e-12
    assert figure.violations(end) == []
    assert mobility(figure, end) == COUNTS[name][-1]
    start = figure.pose_of("tip", figure.neutral()).position
    moved = np.linalg.norm(figure.pose_of("tip", end).position - start)
    turned = figure.pose_of("tip", end).matrix
    assert moved > 0.01 or not np.allclose(turned, np.eye(3), atol=0.05)


def test_the_four_bar_cannot_turn_all_the_way() -> None:
    figure = built_in("four_bar")
    path = driven_to(figure, {"drive": math.radians(100.0)}, steps=20)
    assert path[-1] is None and len(path) > 5


def test_all_joints_contains_every_kind_and_its_motor_turns_all_the_way() -> None:
    figure = built_in("all_joints")
    kinds = {joint.kind for joint in (*figure.joints, *figure.loops)}
    assert kinds == set(KINDS) - {"free"}
    for way in (-1.0, 1.0):
        path = driven_to(figure, {"drive": way * math.radians(179.0)}, steps=12)
        assert len(path) == 13
        for posture in path:
            assert posture is not None and figure.violations(posture) == []
    # Every joint takes part.
    assert posture is not None
    halfway = path[6]
    assert halfway is not None
    for joint in figure.joints:
        if joint.nv:
            assert np.abs(halfway.q - path[0].q)[figure.q_slice(joint.name)].max() > 1e-3  # type: ignore[union-attr]


def test_the_delta_platform_never_turns() -> None:
    figure = built_in("delta")
    for posture in driven_to(figure, DRIVES["delta"], steps=4):
        assert posture is not None
        assert figure.pose_of("platform", posture).matrix == pytest.approx(np.eye(3), abs=1e-9)


def test_the_stewart_platform_rises_with_all_its_legs() -> None:
    figure = built_in("stewart")
    end = driven_to(figure, {f"leg_{k + 1}_motor": 0.1 for k in range(6)}, steps=4)[-1]
    assert end is not None
    tip = figure.pose_of("tip", end)
    assert tip.position[1] > 0.7 and tip.position[[0, 2]] == pytest.approx([0, 0], abs=1e-9)


def test_the_dancer_is_overactuated_by_two() -> None:
    figure = built_in("dancer")
    driven = [figure.v_slice(name).start for name in motors_of(figure)]
    null = np.linalg.svd(closure_jacobian(figure, figure.neutral()))[2][-6:]
    assert np.linalg.svd(null[:, driven], compute_uv=False)[-1] > 1e-2
    # The six freedoms are those of the pelvis.
    assert np.linalg.svd(figure.jacobian("pelvis", figure.neutral()) @ null.T, compute_uv=False)[-1] > 1e-2


def test_the_walker_has_the_topology_of_the_hybrid_leg() -> None:
    figure = built_in("walker")
    joints = (*figure.joints, *figure.loops)
    assert all(joint.kind == "revolute" for joint in joints)
    per_leg = [name for name in motors_of(figure) if name.startswith("left")]
    assert sorted(per_leg) == sorted(
        f"left_{n}"
        for n in (
            "inner_hip_roll",
            "inner_hip_pitch",
            "inner_horn",
            "inner_ankle_pitch",
            "outer_hip_pitch",
            "outer_horn",
        )
    )
    # Four planar five-bars, each with three redundant closure rows.
    sizes = np.linalg.svd(closure_jacobian(figure, figure.neutral()), compute_uv=False)
    assert len(sizes) - int((sizes > 1e-6).sum()) == 12


def test_the_walker_squats_straight_down_and_its_legs_mirror_each_other() -> None:
    figure = built_in("walker")
    values = {"inner_hip_pitch": 0.25, "outer_hip_pitch": 0.25, "inner_horn": 0.05, "outer_horn": 0.05}
    both = {f"{side}_{name}": value for side in ("left", "right") for name, value in values.items()}
    end = driven_to(figure, dict.fromkeys(motors_of(figure), 0.0) | both, steps=4)[-1]
    assert end is not None and figure.violations(end) == []
    left, right = figure.pose_of("left_foot", end), figure.pose_of("right_foot", end)
    assert left.position * [-1, 1, 1] == pytest.approx(right.position, abs=1e-9)
    assert np.linalg.norm(left.position - figure.pose_of("left_foot", figure.neutral()).position) > 0.01
    mirror = np.diag([-1.0, 1.0, 1.0])
    assert mirror @ left.matrix @ mirror == pytest.approx(right.matrix, abs=1e-9)


def test_the_walker_walks_with_a_floating_base() -> None:
    figure = built_in("walker").with_floating_base()
    assert mobility(figure, figure.neutral()) == 18


def test_mechanism_refuses_what_cannot_be_built() -> None:
    m = Mechanism("m", "A test.", "ground", [bar((0, 0, 0), (1, 0, 0), 0.1)])
    m.link("a", [], 1.0)
    with pytest.raises(FigureError, match="'b', which has not been added"):
        m.motor(revolute("r", "z"), "a", "b", at=(0, 0, 0))
    with pytest.raises(FigureError, match="is not connected"):
        m.build()
    m.motor(revolute("r", "z"), "ground", "a", at=(0, 0, 0))
    m.motor(ball("s"), "ground", "a", at=(0, 0, 0))
    with pytest.raises(FigureError, match="form a loop at 's'"):
        m.build()


def test_mechanism_sees_joints_from_the_ground_and_keeps_their_signs() -> None:
    m = Mechanism("m", "A test.", "ground", [bar((0, 0, 0), (1, 0, 0), 0.1)])
    m.link("a", [], 1.0)
    m.motor(revolute("r", "z"), "a", "ground", at=(1, 0, 0))
    m.site("end", "a", (2, 0, 0))
    figure = m.build()
    # The ground turns by +90° as seen from `a`, so `a` turns by -90° as seen from the ground.
    assert figure.pose_of("end", {"r": 0.5 * math.pi}).position == pytest.approx([1.0, -1.0, 0.0])


def _bend(first: np.ndarray, second: np.ndarray, angle: float) -> float:
    """Signed angle from `first` to `second` about -x once `second` has turned by `angle` [rad]."""
    a, b = (math.atan2(v[1], v[2]) for v in (first, second))
    return math.remainder(b - a + angle, 2.0 * math.pi)


@pytest.mark.parametrize(
    ("joint", "before", "after", "sign"),
    [
        ("left_inner_knee", ("hip", "knee"), ("knee", "twist"), -1.0),
        ("left_outer_crank_pin", ("horn_end", "crank"), ("crank", "knee"), 1.0),
        ("right_inner_crank_pin", ("horn_end", "crank"), ("crank", "knee"), 1.0),
    ],
)
def test_the_walkers_limits_keep_its_legs_on_their_branch(
    joint: str, before: tuple[str, str], after: tuple[str, str], sign: float
) -> None:
    """Two links that come to lie in line could leave that posture on either side."""
    chain = next(chain for chain in CHAINS if joint.startswith(chain.name))
    points = {name: np.array(point) for name, point in chain_points(chain).items()}
    first, second = (points[end] - points[start] for start, end in (before, after))
    hinge = built_in("walker").joints[joint]
    bends = [_bend(first, second, sign * angle) for angle in (hinge.lower[0], 0.0, hinge.upper[0])]
    assert len({math.copysign(1.0, bend) for bend in bends}) == 1
    assert all(math.radians(3.0) < abs(bend) < math.radians(177.0) for bend in bends)
