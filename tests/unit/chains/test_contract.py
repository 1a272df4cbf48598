"""The contract of all chain solvers, tested with one suite."""

import inspect
import math

import numpy as np
import pytest

import poise
from poise import chains
from poise.figure.model.builder import Builder, ball, prismatic, revolute

POSITION = {
    "ccd": chains.ccd,
    "fabrik": chains.fabrik,
    "circles": chains.circles,
    "jacobian_transpose": chains.jacobian_transpose,
    "pseudoinverse": chains.pseudoinverse,
    "dls": chains.dls,
    "sdls": chains.sdls,
}
FACING = {name: POSITION[name] for name in ("ccd", "jacobian_transpose", "pseudoinverse", "dls", "sdls")}
CHAINS_ONLY = {"bwcd": chains.bwcd, "two_priority_dls": chains.two_priority_dls}
FACING |= CHAINS_ONLY
SOLVERS = POSITION | FACING


def solvers_but(*left_out):
    """All solvers but some, by name."""
    return pytest.mark.parametrize(
        "solver", [pytest.param(solver, id=name) for name, solver in SOLVERS.items() if name not in left_out]
    )


every_solver = solvers_but()
position_solvers = pytest.mark.parametrize("solver", POSITION.values(), ids=POSITION)
facing_solvers = pytest.mark.parametrize("solver", FACING.values(), ids=FACING)

ARM = poise.load("arm")
LAMP = poise.chain("YXXZY", lengths=[0.1, 0.3, 0.3, 0.3, 0.1], limits=90)


def targets_of(solver, count=20):
    """Positions or directions that the arm or the lamp can take, with postures to begin in."""
    figure = ARM if solver in POSITION.values() else LAMP
    rng = np.random.default_rng(5)
    for _ in range(count):
        there, start = figure.random(rng), figure.random(rng)
        frame = figure.pose_of("tip", there)
        target = frame.position if figure is ARM else poise.facing(frame.matrix[:, 1], roll=None)
        yield figure, target, start


def reevaluated(figure, posture, target):
    frame = figure.pose_of("tip", posture)
    if isinstance(target, np.ndarray):
        return float(np.linalg.norm(frame.position - target))
    y, d = frame.matrix[:, 1], target.direction
    return math.atan2(float(np.linalg.norm(np.cross(y, d))), float(y @ d))


@every_solver
def test_it_takes_a_figure_a_target_and_the_same_options_by_name(solver):
    parameters = list(inspect.signature(solver).parameters.values())
    assert [p.name for p in parameters[:2]] == ["figure", "target"]
    assert all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in parameters[2:])
    with pytest.raises(TypeError, match=r"no option 'tolerence'\. Did you mean 'tolerance'\?"):
        solver(ARM, (0.3, 0.5, 0.4) if solver in POSITION.values() else poise.facing("x", roll=None), tolerence=1.0)


@every_solver
def test_the_error_is_that_of_the_posture_which_is_legal(solver):
    for figure, target, start in targets_of(solver):
        result = solver(figure, target, start=start)
        assert figure.violations(result.posture) == []
        assert result.error == pytest.approx(reevaluated(figure, result.posture, target), abs=1e-12)
        assert (result.status == "solved") == (result.error <= 1e-6)


@solvers_but(
    "two_priority_dls"
)  # Clamping lets its second goal cost the first: see test_two_priorities_pay_for_limits.
def test_most_targets_within_reach_are_met(solver):
    met = [solver(figure, target, start=start).status == "solved" for figure, target, start in targets_of(solver, 60)]
    assert np.mean(met) > 0.6


@every_solver
def test_without_limits_nearly_all_targets_are_met(solver):
    questions = list(targets_of(solver, 60))
    met = [solver(figure, target, start=start, limits=False).status == "solved" for figure, target, start in questions]
    assert np.mean(met) > (0.65 if solver is chains.jacobian_transpose else 0.9)


@every_solver
def test_where_the_tip_is_already_nothing_moves(solver):
    for figure, _, start in targets_of(solver, 5):
        frame = figure.pose_of("tip", start)
        here = frame.position if figure is ARM else poise.facing(frame.matrix[:, 1], roll=None)
        options = {"keep": "directions"} if solver is chains.circles else {}
        result = solver(figure, here, start=start, **options)
        assert result.status == "solved"
        assert np.abs(result.posture.q - start.q).max() < 1e-7
        assert result.iterations == (2 if solver is chains.circles else 0)


@every_solver
def test_the_same_question_has_the_same_bytes_for_an_answer(solver):
    for figure, target, start in targets_of(solver, 5):
        first, second = solver(figure, target, start=start), solver(figure, target, start=start)
        assert first.posture.q.tobytes() == second.posture.q.tobytes()
        assert (first.error, first.iterations, first.status) == (second.error, second.iterations, second.status)


@position_solvers
def test_joints_off_the_way_to_the_tip_stay_to_the_last_bit(solver):
    cyclist = poise.load("cyclist").replaced(couplings=())
    hold = [joint.name for joint in cyclist.joints if joint.nq and not joint.name.startswith("left")]
    target = cyclist.pose_of("left_pedal", "left_foot_down").position
    result = solver(cyclist, target, tip="left_foot", hold=hold)
    still = [name for name in result.posture if name not in ("left_hip", "left_knee", "left_ankle")]
    assert all(np.array_equal(result.posture[name], cyclist.neutral()[name]) for name in still)
    assert result.status == "solved"


@position_solvers
def test_out_of_reach_is_a_result_at_the_border(solver):
    for target in ((2.0, 3.0, 0.5), (0.0, -4.0, 0.1)):
        result = solver(ARM, target, limits=False, max_iterations=3000)
        shoulder = np.array([0.0, 0.25, 0.0])
        gap = float(np.linalg.norm(np.array(target) - shoulder)) - 1.05
        assert result.status == "unreachable"
        assert result.error == pytest.approx(gap, rel=0.02)


@every_solver
def test_a_trace_has_the_posture_after_each_iteration(solver):
    for figure, target, start in targets_of(solver, 5):
        result = solver(figure, target, start=start, trace=True)
        assert result.trace is not None
        assert result.trace.shape[1] == figure.nq
        assert solver is chains.circles or len(result.trace) == result.iterations
        assert solver(figure, target, start=start).trace is None
        if len(result.trace) and solver not in (chains.pseudoinverse, chains.dls, chains.sdls, chains.two_priority_dls):
            error = reevaluated(figure, figure.posture(result.trace[-1]), target)
            assert error == pytest.approx(result.error, abs=1e-9)


@solvers_but("circles")  # It does not iterate.
def test_no_iterations_leave_the_start(solver):
    for figure, target, start in targets_of(solver, 3):
        result = solver(figure, target, start=start, max_iterations=0)
        assert (result.iterations, result.posture) == (0, start)


@every_solver
def test_a_start_beyond_the_limits_is_moved_inside(solver):
    figure, target, start = next(targets_of(solver, 1))
    far = figure.posture(start.q + 40.0)
    result = solver(figure, target, start=far)
    assert figure.violations(result.posture) == []


@facing_solvers
def test_an_orientation_can_be_faced(solver):
    rng = np.random.default_rng(3)
    met = 0
    for _ in range(40):
        wanted = LAMP.pose_of("tip", LAMP.random(rng)).rotation
        result = solver(LAMP, wanted, start=LAMP.random(rng))
        got = LAMP.pose_of("tip", result.posture).rotation
        angle = 2.0 * math.acos(min(1.0, abs(float(got @ wanted))))
        assert result.error == pytest.approx(angle, abs=1e-7)
        met += result.status == "solved"
    assert met >= (20 if solver is not chains.two_priority_dls else 8)


@facing_solvers
def test_without_limits_nearly_all_orientations_are_faced(solver):
    rng = np.random.default_rng(4)
    questions = [(LAMP.pose_of("tip", LAMP.random(rng)).rotation, LAMP.random(rng)) for _ in range(40)]
    met = [solver(LAMP, wanted, start=start, limits=False).status == "solved" for wanted, start in questions]
    assert np.mean(met) > 0.9


@facing_solvers
def test_a_point_can_be_looked_at_or_the_solver_says_that_it_cannot(solver):
    point = np.array([0.8, 0.7, 0.4])
    if solver in CHAINS_ONLY.values():
        with pytest.raises(poise.TaskError, match=r"takes a direction or an orientation.*is a point to look at"):
            solver(LAMP, poise.at(point, roll=None))
        return
    frame = LAMP.pose_of("tip", solver(LAMP, poise.at(point, roll=None), start={"joint_2": 0.3}).posture)
    sight = (point - frame.position) / np.linalg.norm(point - frame.position)
    assert float(sight @ frame.matrix[:, 1]) > 1.0 - 1e-11


@every_solver
@pytest.mark.parametrize(
    ("target", "says"),
    [
        ((math.nan, 0.0, 0.0), "three finite numbers"),
        ((math.inf, 0.0, 0.0), "three finite numbers"),
        ((1.0, 0.0), "a target is a position"),
        ("over there", "a target is a position"),
        (None, "a target is a position"),
        ((2.0, 0.0, 0.0, 0.0), "unit quaternion"),
        ((math.nan, 0.0, 0.0, 1.0), "finite numbers"),
        (poise.Pose(), "not both"),
    ],
)
def test_nonsense_is_one_sentence(solver, target, says):
    with pytest.raises(poise.TaskError, match=says) as caught:
        solver(ARM, target)
    assert str(caught.value).count(". ") == 0


@every_solver
def test_what_a_solver_cannot_face_or_reach_it_says(solver):
    if solver not in FACING.values():
        with pytest.raises(poise.TaskError, match="takes a position, and the target is an orientation"):
            solver(LAMP, (1.0, 0.0, 0.0, 0.0))
    if solver not in POSITION.values():
        with pytest.raises(poise.TaskError, match="and the target is a position"):
            solver(LAMP, (0.1, 0.2, 0.3))
    if solver not in (chains.fabrik, chains.circles, *CHAINS_ONLY.values()):
        with pytest.raises(poise.TaskError, match="moves one end-point"):
            solver(ARM, {"tip": (0.1, 0.2, 0.3)})


@every_solver
def test_bad_effort_and_unknown_names_are_refused(solver):
    figure, target, _ = next(targets_of(solver, 1))
    for options in ({"tolerance": -1.0}, {"tolerance": math.nan}, {"max_iterations": -1}):
        with pytest.raises(poise.TaskError, match="must not be negative"):
            solver(figure, target, **options)
    with pytest.raises(poise.FigureError, match=r"no site or body 'tpi'\. Did you mean 'tip'\?"):
        solver(figure, target, tip="tpi")
    with pytest.raises(poise.FigureError, match="no joint 'elbwo'"):
        solver(figure, target, hold=["elbwo"])
    with pytest.raises(poise.FigureError):
        solver(figure, target, start=[1.0])


@every_solver
def test_loops_couplings_and_branches_are_refused_in_one_sentence(solver):
    target = (0.1, 0.2, 0.0) if solver in POSITION.values() else poise.facing("x", roll=None)
    bars = poise.load("five_bar")
    with pytest.raises(poise.PoiseError, match=r"loop"):
        solver(bars, target, tip=bars.sites.names[0])
    with pytest.raises(poise.PoiseError, match="coupl"):
        solver(poise.load("hand"), target, tip="index_tip", hold=() if solver in CHAINS_ONLY.values() else ["wrist"])
    with pytest.raises(poise.FigureError, match="branches: name its end with tip="):
        solver(poise.load("hand"), target)


@every_solver
def test_joints_that_a_solver_cannot_move_are_named(solver):
    made = Builder("crane")
    made.body("base")
    made.body("mast", parent="base", joint=prismatic("lift", "y", limits=(0.0, 1.0)))
    made.body("boom", parent="mast", joint=ball("neck"), at=(0, 1, 0))
    made.body("hook", parent="boom", joint=revolute("hook", "x"), at=(0, 1, 0))
    made.site("tip", "hook", at=(0, 0.5, 0))
    crane = made.build()
    target = (0.4, 1.5, 0.3) if solver in POSITION.values() else poise.facing((1, 1, 0), roll=None)
    if solver is chains.fabrik:
        with pytest.raises(poise.TaskError, match="joint 'lift' of figure 'crane' slides: hold it"):
            solver(crane, target)
        assert solver(crane, target, hold=["lift"]).status == "solved"
    elif solver is chains.circles:
        with pytest.raises(poise.TaskError, match="needs two or more parallel hinges"):
            solver(crane, target)
    elif solver in CHAINS_ONLY.values():
        with pytest.raises(poise.FigureError, match="'lift' is a prismatic joint"):
            solver(crane, target)
    else:
        assert solver(crane, target, start={"hook": 0.3}).status == "solved"


@every_solver
def test_a_tip_that_nothing_moves_is_refused(solver):
    target = (0.1, 0.2, 0.3) if solver in POSITION.values() else poise.facing("x", roll=None)
    with pytest.raises(poise.PoiseError):
        solver(ARM, target, tip="floor")
    if solver not in CHAINS_ONLY.values():
        with pytest.raises(poise.TaskError, match=r"may move|parallel hinges"):
            solver(ARM, target, hold=["turn", "shoulder", "elbow", "wrist"])


def turret():
    """A pan-tilt head with a lens that looks along its own z."""
    made = Builder("turret", up="z")
    made.body("base")
    made.body("neck", parent="base", joint=revolute("pan", "z"))
    made.body("head", parent="neck", joint=revolute("tilt", "y"), at=(0.0, 0.0, 0.1))
    made.body("top", parent="head", joint=revolute("nod", "x"), at=(0.0, 0.0, 0.1))
    made.site("lens", "top", at=(0.0, 0.01, 0.05), facing="z")
    return made.build()


@facing_solvers
@pytest.mark.parametrize("direction", [(0.6, 0.5, 0.6), (-0.3, 0.8, 0.2)])
def test_a_tip_faces_with_the_axis_that_its_figure_states(solver, direction):
    figure = turret()
    start = figure.posture([0.1, 0.2, -0.1])
    found = solver(figure, poise.facing(direction, roll=None), tip="lens", start=start, max_iterations=3000)
    looks = figure.pose_of("lens", found.posture).matrix[:, 2]
    assert looks @ np.array(direction) / np.linalg.norm(direction) > 1.0 - 1e-9


def test_a_quaternion_is_the_frame_of_the_tip_whatever_it_faces():
    figure = turret()
    wanted = figure.pose_of("lens", figure.posture([0.4, 0.5, -0.3])).rotation
    found = chains.dls(figure, wanted, tip="lens", start=figure.posture([0.1, 0.2, -0.1]))
    assert abs(figure.pose_of("lens", found.posture).rotation @ wanted) > 1.0 - 1e-9
