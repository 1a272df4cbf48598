"""PlaCo and Drake on a mechanism from a file, for benchmarks/loops_peers.py, which runs this.

PlaCo solves one or several quadratic programs per frame, with the closure of every loop joint as hard
equalities. Drake solves one nonlinear program per frame with SNOPT, started at the previous frame, with loop closures
and site targets as constraints. Only the solving is timed, not the construction of the program.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np


def main(file: Path | None) -> None:
    if file is None:
        print("benchmarks/loops_peers.py runs this")
        return
    question = json.loads(file.read_text())
    targets = [{site: np.array(pose) for site, pose in frame.items()} for frame in question["targets"]]
    peer = {"placo": with_placo, "drake": with_drake}[question["peer"]]
    timed, _ = peer(question, targets[0])
    seconds = timed(targets)
    solve, judge = peer(question, targets[0])
    errors, gaps = [], []
    for frame in targets:
        solve([frame])
        reached, gap = judge(frame)
        off = [np.linalg.norm((reached[site] - pose)[:3, 3][question["axes"]]) for site, pose in frame.items()]
        errors.append(float(max(off)))
        gaps.append(float(gap))
    print(json.dumps({"seconds": seconds, "errors": errors, "gaps": gaps}))


def with_placo(question: dict, first: dict):
    robot, solver, tasks = placo_solver(question, first)
    whole, programs = question["whole"], range(question["programs"])

    def solve(frames):
        wanted = [[(tasks[s], pose if whole else pose[:3, 3]) for s, pose in frame.items()] for frame in frames]
        begin = time.thread_time()
        for frame in wanted:
            for task, value in frame:
                if whole:
                    task.T_world_frame = value
                else:
                    task.target_world = value
            for _ in programs:
                robot.update_kinematics()
                solver.solve(True)
        return time.thread_time() - begin

    def judge(frame):
        robot.update_kinematics()
        return {site: robot.get_T_world_frame(site) for site in frame}, max(map(gap, question["loops"]))

    def gap(loop):
        inner, outer = (robot.get_T_world_frame(f"{loop['name']}.{side}") for side in ("inner", "outer"))
        return np.linalg.norm((inner - outer)[:3, 3])

    return solve, judge


def placo_solver(question: dict, first: dict):
    import placo

    robot = placo.RobotWrapper(question["urdf"], placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    solver.enable_joint_limits(False)
    for loop in question["loops"]:
        task = solver.add_relative_position_task(f"{loop['name']}.inner", f"{loop['name']}.outer", np.zeros(3))
        task.mask.set_axises(loop["axes"])
        task.configure(loop["name"], "hard", 1.0)
    whole = question["whole"]
    add = solver.add_frame_task if whole else solver.add_position_task
    tasks = {site: add(site, pose if whole else pose[:3, 3]) for site, pose in first.items()}
    for site, task in tasks.items():
        task.configure(site, "soft", *([1.0, 1.0] if whole else [1.0]))
        if not whole:
            task.mask.set_axises("".join("xyz"[i] for i in question["axes"]))
    solver.add_regularization_task(1e-8)
    for joint, value in question["start"].items():
        robot.set_joint(joint, value)
    robot.update_kinematics()
    return robot, solver, tasks


def with_drake(question: dict, _first: dict):
    from pydrake.math import RigidTransform
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.solvers import SnoptSolver

    plant = MultibodyPlant(0.0)
    (model,) = Parser(plant).AddModels(question["urdf"])
    if not question["floating"]:
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(question["root"], model))
    plant.Finalize()
    context, solver = plant.CreateDefaultContext(), SnoptSolver()
    if question["floating"]:
        base = RigidTransform(np.array(question["base"]))
        plant.SetFreeBodyPose(context, plant.GetBodyByName(question["root"]), base)
    q = plant.GetPositions(context)
    for joint, value in question["start"].items():
        q[plant.GetJointByName(joint).position_start()] = value
    state = {"q": q}
    frames = {name: plant.GetFrameByName(name) for name in question["frames"]}

    def solve(frames):
        return sum(map(solve_one, frames))

    def solve_one(frame):
        ik = drake_program(question, plant, context, frames, frame)
        program = ik.prog()
        program.AddQuadraticErrorCost(np.eye(plant.num_positions()), state["q"], ik.q())
        begin = time.thread_time()
        found = solver.Solve(program, state["q"])
        taken = time.thread_time() - begin
        state["q"] = found.GetSolution(ik.q())
        return taken

    def judge(frame):
        plant.SetPositions(context, state["q"])
        world = {name: at.CalcPoseInWorld(context).GetAsMatrix4() for name, at in frames.items()}
        names = [loop["name"] for loop in question["loops"]]
        gap = max(np.linalg.norm((world[f"{n}.inner"] - world[f"{n}.outer"])[:3, 3]) for n in names)
        return {site: world[site] for site in frame}, gap

    return solve, judge


def drake_program(question: dict, plant, context, frames: dict, wanted: dict):
    from pydrake.math import RotationMatrix
    from pydrake.multibody.inverse_kinematics import InverseKinematics

    ik = InverseKinematics(plant, context, with_joint_limits=False)
    for loop in question["loops"]:
        inner, outer = frames[f"{loop['name']}.inner"], frames[f"{loop['name']}.outer"]
        for point in loop["points"]:
            ik.AddPositionConstraint(inner, point, outer, point, point)
    for site, pose in wanted.items():
        reach = np.full(3, np.inf)
        reach[question["axes"]] = 0.0
        ik.AddPositionConstraint(
            frames[site], np.zeros(3), plant.world_frame(), pose[:3, 3] - reach, pose[:3, 3] + reach
        )
        if question["whole"]:
            turn = RotationMatrix(pose[:3, :3])
            ik.AddOrientationConstraint(frames[site], RotationMatrix(), plant.world_frame(), turn, 1e-6)
    return ik


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
