"""The warm-up: calls that make numba compile every kernel, on a figure so small that only compilation takes time.

Each part of poise that calls kernels from Python has a step here. Steps belong to stages in the order of need: first
what the studio's page shows, then what pulling a figure needs, then the rest. `poise compile` and `poise studio` run
the steps in worker processes (`poise.cli.preparation`); `python -m poise.warmup` is such a worker.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.errors import MissingPackageError
from poise.figure.collision.soles import support_polygon
from poise.figure.model.builder import (
    Builder,
    ball,
    cartesian,
    cylindrical,
    elbow,
    fixed,
    free,
    planar,
    prismatic,
    revolute,
    universal,
)
from poise.figure.model.curves import Curve
from poise.figure.model.figure import Figure
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist, TwistTable
from poise.figure.model.pose import Pose, from_matrix, from_to, turn, vector
from poise.figure.model.posture import reached_limits
from poise.figure.model.shapes import Sphere
from poise.kernels.jit import machine_code
from poise.kernels.jit.cache import save_sources

if TYPE_CHECKING:
    from poise.kernels.engine.engine import Engine

LOOP_FRAME = Pose(vector((0.1, 0.0, 0.0)))
"""Frame of the loop joints on the base."""


PURPOSES = ("to look at", "to pull", "for everything")
"""What the studio is ready for once the steps of a stage, and of the stages before it, are done."""
LOOK, PULL, ALL = range(len(PURPOSES))
"""The stages of the warm-up, in order: kernels to show a figure, to pull it, and all others."""


NICENESS = 10
"""By how much a worker's priority is lower than that of the process that started it."""


class Step(NamedTuple):
    """One part of the warm-up."""

    stage: int
    """The first stage that needs it."""
    what: str
    """Name for progress messages."""
    effort: float
    """About how long it takes on one core once the steps before it are done, for progress bars [s]."""
    run: Callable[[], object]
    """Calls the kernels."""


def steps() -> tuple[Step, ...]:
    """All steps, in the order in which workers take them; neighbours share few kernels, so that workers rarely wait."""
    return (
        Step(PULL, "priority levels", 17, _levels),
        Step(LOOK, "the first page", 19, _first_page),
        Step(LOOK, "joint limits", 2, _limits),
        Step(ALL, "rotations", 1, _rotations),
        Step(ALL, "kinematics", 1, _kinematics),
        Step(ALL, "masses", 2, _masses),
        Step(PULL, "goals", 11, _goals),
        Step(PULL, "collisions", 6, _collisions),
        Step(ALL, "pictures", 2, _pictures),
        Step(PULL, "the engine's model", 10, _model),
        Step(PULL, "the engine's curvature", 15, _curvature),
        Step(PULL, "the engine's steps", 11, _pulling),
        Step(ALL, "reach", 10, _reach),
        Step(PULL, "verdicts", 4, _verdicts),
        Step(ALL, "gaze", 31, _expression),
        Step(ALL, "the solver", 5, _solving),
        Step(ALL, "loops", 22, _loops),
        Step(ALL, "figures", 1, _figures),
        Step(ALL, "retargeting", 8, _retargeting),
        Step(ALL, "gaze as published", 10, _erik),
        Step(ALL, "chains", 17, _chains),
        Step(ALL, "evaluation", 3, _evaluation),
        Step(ALL, "the motion filter", 2, _filter),
        Step(ALL, "forces", 8, _forces),
    )


def work() -> None:
    """Run the steps whose names arrive on standard input; print a line about each when it is done.

    The line has the step's name, the memory used [MB] and the files of machine code that the process has used so far,
    relative to the user's cache, separated by tabs.

    The process ends as soon as standard input is closed, even during a step: nobody needs it any longer. A step that
    needs a package that is not installed is skipped: without it, nobody can call the step's kernels.
    """
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    known, names = {step.what: step for step in steps()}, SimpleQueue[str]()
    threading.Thread(target=_read, args=[names], daemon=True).start()
    while True:
        name = names.get()
        with suppress(MissingPackageError):
            known[name].run()
        save_sources()
        print(name, f"{_peak_memory():.0f}", *_used_files(), sep="\t", flush=True)


def _used_files() -> list[str]:
    """The files of machine code that this process has loaded or written, relative to the user's cache."""
    return [f"{file.parent.name}/{file.name}" for file in machine_code.used_files]


def _peak_memory() -> float:
    """Largest resident memory of this process so far; 0 where the system does not say [MB]."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _read(names: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        names.put(line.strip())
    os._exit(0)


@cache
def every_joint_kind() -> Figure:
    """A small figure with every kind of joint, limit, coupling and loop joint."""
    made = Builder("every_joint_kind")
    made.body("base", joint=free("base"), shapes=[Sphere(0.1)], mass=1.0)
    wide = BallLimits(Ellipse(1.0, 0.5), Twist.between(-1.0, 1.0))
    square = BallLimits(Polygon(((1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1))), Twist.between(-1.0, 1.0))
    kinds = [
        revolute("revolute", "x", limits=(-1.0, 1.0)),
        prismatic("prismatic", "y", limits=(-0.1, 0.1)),
        universal("universal", "x", "y"),
        elbow("elbow", "x", "z"),
        cylindrical("cylindrical", "z"),
        planar("planar", "y"),
        cartesian("cartesian"),
        ball("ball", limits=wide),
        ball("cornered", limits=square),
    ]
    upper = "base"
    for joint in kinds:
        upper = made.body(joint.name, parent=upper, joint=joint, at=(0.0, 0.1, 0.0), mass=0.1)
    made.site("tip", upper, at=(0.0, 0.1, 0.0))
    made.couple("together", {"revolute": 1.0, "elbow.twist": -1.0})
    made.bound("swung", {"revolute": 1.0, "ball.swing_x": 1.0}, lower=-1.5)
    for joint in (ball("ball_loop"), revolute("hinge_loop", "x"), universal("universal_loop", "x", "y")):
        made.loop(joint, "base", "ball", parent_frame=LOOP_FRAME, child_frame=Pose())
    made.loop(fixed("fixed_loop"), "base", "ball", parent_frame=LOOP_FRAME, child_frame=Pose())
    return made.build()


def _first_page() -> None:
    """Do what the studio does to show the human and to move a slider."""
    from poise.figures import built_in
    from poise.studio.session.session import Session
    from poise.studio.wire.rehearsal import rehearse

    rehearse(Session(built_in("human")))


def _rotations() -> None:
    place = Pose(vector("x"), turn("x", 90.0)) @ Pose(vector("y"), from_to("y", "z"))
    place.inverse().apply((0.0, 0.0, 1.0))
    from_matrix(place.matrix)


def _limits() -> None:
    figure = every_joint_kind()
    figure.posture({"revolute": 0.1})
    Curve(polynomial=(0.0, 1.0))(0.5)
    TwistTable((0.0, 1.0), (0.0, 1.0), np.zeros((2, 2)), np.ones((2, 2))).at(0.5, 0.5)  # type: ignore[arg-type]
    far = figure.random(0).changed({"revolute": 3.0, "ball": np.array([0.0, 1.0, 0.0, 0.0])})
    figure.violations(far)
    reached_limits(figure, far)
    figure.clamp(far)
    figure.clamp(far, previous=figure.neutral())


def _kinematics() -> None:
    figure = every_joint_kind()
    posture = figure.random(1)
    figure.jacobian("tip", posture)
    figure.integrate(posture, figure.difference(figure.neutral(), posture))
    figure.adopt(figure.rerooted("cornered").random(1))


def _masses() -> None:
    figure = every_joint_kind()
    posture = figure.random(1)
    figure.center_of_mass_jacobian(posture)
    figure.moment_of_inertia(posture, "y")
    figure.gravity_torques(posture)
    figure.wrench_torques("tip", posture, (0.0, 1.0, 0.0))
    support_polygon(posture, ["base", "tip"])


def _forces() -> None:
    from poise.forces import (
        Force,
        Support,
        TorqueCriterion,
        acting_on,
        balance,
        equilibrium_error,
        joint_torques,
        support_forces,
        torque_slopes,
    )
    from poise.forces.missing_wrench import Balancing
    from poise.forces.support_region import support_region

    figure = every_joint_kind()
    posture = figure.random(1)
    acting = (Force("tip", (0.0, 1.0, 0.0), axes="site"), Support("base"))
    equilibrium_error(figure, posture, acting)
    support_forces(figure, posture, acting)
    joint_torques(figure, posture, acting, reactions=balance(figure, posture, acting).reactions)
    torque_slopes(figure, posture, acting)
    support_region(acting_on(figure, acting), posture, np.zeros(3), 8)
    Balancing(acting_on(figure, acting), posture, 1.0).moment_axes()
    TorqueCriterion(acting).evaluate(figure, posture)


def _loops() -> None:
    from poise.figure.assembly.cleaning import cleaned
    from poise.figures import built_in

    figure = every_joint_kind()
    figure.closure_error(figure.random(1))
    hinge = revolute("pin", "z", active=False)
    made = Builder("parallelogram")
    made.body("ground")
    made.body("left", parent="ground", joint=revolute("motor", "z", limits=(-1.0, 1.0)))
    made.body("top", parent="left", joint=revolute("knuckle", "z", active=False), at=(0.0, 1.0, 0.0))
    made.body("right", parent="ground", joint=revolute("pivot", "z", active=False), at=(1.0, 0.0, 0.0))
    made.loop(hinge, "top", "right", parent_frame=Pose((1.0, 0.0, 0.0)), child_frame=Pose((0.0, 1.0, 0.0)))
    linkage, _ = cleaned(made.build())
    linkage.assemble({"motor": 0.3}, near={"knuckle": 0.5})
    linkage.assemble({"motor": 2.0})
    linkage.assembler.frames({"motor": [0.0, 0.1]}, linkage.neutral())
    built_in("walker").assemble({"left_inner_horn": 0.2})


def _collisions() -> None:
    from poise.engine.avoidance import Avoidance
    from poise.figure.collision.collisions import node_frames
    from poise.figure.model.shapes import Box
    from poise.kernels.distances.all_pairs import add_tipped_rows, tip_frame
    from poise.kernels.goals.contacts import make_contacts
    from poise.tasks.avoid import Avoid
    from poise.tasks.obstacles import Obstacle, Plane
    from poise.tasks.touch import Touch

    made = Builder("block")
    made.body("block", joint=free("base"), shapes=[Box((0.1, 0.1, 0.1))])
    block = made.build()
    avoidance = Avoidance(block, [Avoid([Plane("y"), Obstacle(Box((0.1, 0.1, 0.1)))])])
    avoidance.measure(*node_frames(block, block.neutral()))
    active_sets = [np.zeros((1, avoidance.max_contacts), dtype=np.int64)]
    avoidance.write_contacts(make_contacts(avoidance.max_contacts), np.full(2, -2), active_sets)
    touch = Touch("block", "floor").bound_to(block, {})
    touch.jacobian_at(block.neutral())
    Touch("block", "floor", at=(0, 0, 0), offset=(0, 0, 0)).bound_to(block, {})
    vectors, matrices = np.zeros((4, 3)), np.zeros((4, 3, 3))
    tip_frame(np.zeros(3), np.eye(3), np.zeros(3), np.array([0.0, 1.0, 0.0]), matrices, vectors, matrices.copy())
    points = [np.zeros((8, 3)) for _ in range(3)]
    add_tipped_rows(matrices, vectors, vectors, 0, 0.1, points[0], points[1], points[2], np.zeros(8))


def _reach() -> None:
    from poise.engine.reach import reach

    figure = every_joint_kind().replaced(loops=())
    there = figure.pose_of("tip", figure.random(1))
    reach(figure, "tip", there.position, there.rotation, start=figure.random(2), restarts=1)


def _figures() -> None:
    from poise.figures import BUILT_IN, built_in

    for name in BUILT_IN:
        built_in(name)


def _pictures() -> None:
    from poise.pictures import draw

    draw(every_joint_kind(), size=(32, 32))


def _levels() -> None:
    from poise.kernels.levels.levels import make_solver

    make_solver(1, 1, 1)


def _goals() -> None:
    """Call what every problem of the engine needs before its first step."""
    from poise.kernels.engine.indirect_calls import CLAMP, EVALUATE_CURRENT, EVALUATE_TRIAL, address
    from poise.kernels.maths.ellipsoid import distance_to_ellipsoid
    from poise.kernels.maths.vector import Vector

    distance_to_ellipsoid(Vector(1.0, 0.0, 0.0), Vector(1.0, 1.0, 1.0))
    engine, handle = _engine()
    for index in (CLAMP, EVALUATE_CURRENT, EVALUATE_TRIAL):
        address(index, handle, engine.state.trial_q)


def _model() -> None:
    from poise.kernels.engine.indirect_calls import BUILD_MODEL, address

    engine, handle = _engine()
    address(BUILD_MODEL, handle, engine.state.trial_q)


def _curvature() -> None:
    from poise.kernels.engine.indirect_calls import SOLVE_MODEL, TRY_STEP, address

    engine, handle = _engine()
    for index in (SOLVE_MODEL, TRY_STEP):
        address(index, handle, engine.state.trial_q)


def _engine() -> tuple[Engine, Engine]:
    """The arrays of an engine without tasks, and their handle."""
    from poise.engine.engine_arrays import CriteriaTerms, make_engine
    from poise.engine.problem import StepSize
    from poise.kernels.engine.step import bind

    figure = every_joint_kind()
    engine = make_engine(figure, [], [], CriteriaTerms(figure, None, []).arrays(), StepSize(), dt=None, contacts=0)
    return engine, bind(engine)


def _pulling() -> None:
    """Call every kernel that the studio needs to move the figure of its first page."""
    from poise.figures import built_in
    from poise.studio.session.session import Session

    session = Session(built_in("human"))
    while session.tick():
        pass


def _verdicts() -> None:
    """Call every kernel that the studio needs when a figure is pulled towards a point out of reach."""
    from poise.engine.solver import solve
    from poise.figures import built_in
    from poise.tasks.place import Position

    solve(built_in("arm"), [Position("tip", (5.0, 5.0, 5.0))])


def _solving() -> None:
    from poise.engine.solver import Solver, solve
    from poise.figures import built_in
    from poise.kernels.body.likely_posture import feet_frame
    from poise.tasks.look_at import LookAt
    from poise.tasks.mass import CenterOfMass
    from poise.tasks.obstacles import Plane
    from poise.tasks.place import Position
    from poise.tasks.posture import Hold

    figure = every_joint_kind().replaced(loops=())
    hand, balance = Position("tip", (0.0, 2.0, 0.0)), CenterOfMass(over="base", priority=2)
    tasks = [hand, balance, Hold(figure.neutral(), priority=3)]
    solve(figure, tasks, max_steps=3)
    Solver(figure, tasks, dt=0.01).step(figure.neutral())
    Solver(figure, tasks, obstacles=[Plane("y")]).step(figure.neutral())
    solve(built_in("human"), [Position("right_hand", (-0.4, 1.2, 6.0)), LookAt("eyes", (1.0, 1.0, 1.0), priority=2)])
    feet_frame(np.zeros((2, 3)), np.tile((1.0, 0.0, 0.0, 0.0), (2, 1)))  # as natural motion of humanoids does


def _filter() -> None:
    from poise.motion.filter.filter import MotionFilter

    motion = MotionFilter(velocity=1.0, acceleration=1.0, jerk=1.0)
    motion.reset(0.0)
    motion.step(1.0, 0.01)


def _retargeting() -> None:
    from poise.motion.clip.clip import Clip
    from poise.motion.live.live import LiveRetarget
    from poise.motion.report.report import measure
    from poise.motion.retarget.draft import DRAFT_STEP_SIZE, CachedProblem, at_rate
    from poise.motion.retarget.frame_fits import FrameFits
    from poise.motion.retarget.retarget import retarget
    from poise.motion.retarget.smoothing import Style

    figure = every_joint_kind().replaced(loops=())
    clip = Clip(figure, [figure.random(seed).q for seed in range(6)], 30.0)
    motion = retarget(clip.resampled(20.0), figure, {"base": "tip"}, rate=50.0)
    at_rate(motion, 2.0 * motion.rate)
    measure(motion)
    retarget(clip, figure, {"base": "tip"}, style=Style(acceleration=0.01))
    LiveRetarget(figure, clip, {"base": "tip"}).follow(clip)
    cached = CachedProblem(figure, [], DRAFT_STEP_SIZE)
    fits = FrameFits(cached.problem, cached.course([], len(clip)), 1.0, 0.0, np.full(figure.nv, np.inf), None)
    fits.costs(np.arange(len(clip)), clip.q)  # as where a hand is kept out of the body


def _expression() -> None:
    from poise.chains.targets import at
    from poise.expressive.expressive import Expressive
    from poise.expressive.measures import errors_of
    from poise.figures import chain

    lamp = chain("YXY", lengths=[0.1, 0.1, 0.1])
    solver = Expressive(lamp)
    first = solver.solve(lamp.neutral(), (1.0, 0.0, 0.0, 0.0))
    solver.solve(lamp.neutral(), (1.0, 0.0, 0.0, 0.0), previous=first)
    far = solver.solve(lamp.neutral(), at((1.0, 0.2, 0.3)))
    for point in ((1.0, 0.2, 0.3), (1.0, 0.2, 0.3), (0.1, 0.2, 0.1)):
        far = solver.solve(lamp.neutral(), at(point), previous=far)
    aim = at((1.0, 0.2, 0.3)).aim(solver.limb.up, np.zeros(3))
    errors_of(solver.limb, solver.scoring, aim, far.posture, lamp.neutral())


def _erik() -> None:
    from poise.expressive.erik import Erik, ErikSettings
    from poise.expressive.two_priority import TwoPriorityDls, TwoPrioritySettings
    from poise.figures.robots.chains import chain

    lamp = chain("YXY", lengths=[0.1, 0.1, 0.1])
    upright = (1.0, 0.0, 0.0, 0.0)
    Erik(lamp, settings=ErikSettings(lalut=True))
    dls = TwoPriorityDls(lamp, settings=TwoPrioritySettings(1))
    for solver in (Erik(lamp), Erik(lamp, variant="2017"), dls):
        solver.solve(lamp.neutral(), upright)
        solver.solve_batch(lamp.neutral(), upright)


def _evaluation() -> None:
    from poise.chains.chain import chain_of
    from poise.evaluation.erik.cases import Plan, solve_range
    from poise.evaluation.erik.denavit_hartenberg import parameters_of
    from poise.figures import built_in

    solve_range(Plan(), "A", ("A",), 0, 1)
    parameters_of(chain_of(built_in("erik_a")))


def _chains() -> None:
    from poise import chains
    from poise.chains.targets import at, facing
    from poise.figures.robots.chains import chain

    figure = chain("YXX", lengths=[0.1, 0.1, 0.1])
    for solver in (chains.ccd, chains.dls, chains.fabrik, chains.circles):
        solver(figure, (0.1, 0.2, 0.0), max_iterations=1)
    chains.bwcd(figure, facing("x"), max_iterations=1)
    chains.two_priority_dls(figure, facing("x"), max_iterations=1)
    chains.ccd(figure, facing("x"), max_iterations=1)
    chains.ccd(figure, at((0.1, 0.2, 0.0)), max_iterations=1)
    chains.circle_zones(figure)
    chains.fabrik_points([[0, 0, 0], [0, 1, 0]], [1, 0, 0], max_iterations=1)


if __name__ == "__main__":
    work()
