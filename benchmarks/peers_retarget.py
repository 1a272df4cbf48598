"""Weighted retargeting as GMR does it, with mink: one quadratic program per step, up to ten steps a frame.

Reads an NPZ with a model and the targets of every frame, writes one with what mink made of them. Runs on the
interpreter that has mink; see retarget_mink.py, which knows what it means.

GMR [Araujo et al. 2025] gives each mapped body a frame task with a cost of its own and a Levenberg-Marquardt damping of
1, damps all joints by 0.5, keeps the limits of hinges, takes a step, and up to ten more while each lowers the error by
0.001. Feet cost five times as much here as the rest. Nothing says that a foot stands. The first frame is solved with
all the steps it takes before anything is timed.
"""

import sys
import time

import mink
import mujoco
import numpy as np

DAMPING, FEET, COST = 0.5, 50.0, 10.0
STEPS, WORTH, FIRST_STEPS = 11, 1e-3, 300


def error_of(tasks, configuration):
    return float(np.linalg.norm(np.concatenate([task.compute_error(configuration) for task in tasks])))


def follow(configuration, tasks, limits, steps, worth=WORTH):
    """Step until too little is gained."""
    dt = configuration.model.opt.timestep
    before = error_of(tasks, configuration)
    for _ in range(steps):
        velocity = mink.solve_ik(configuration, tasks, dt, solver="daqp", damping=DAMPING, limits=limits)
        configuration.integrate_inplace(velocity, dt)
        after = error_of(tasks, configuration)
        if before - after <= worth:
            return
        before = after


def aim(tasks, targets):
    for task, target in zip(tasks, targets, strict=True):
        task.set_target(mink.SE3.from_translation(target))


def turn(tasks, places, given, frame):
    """Give the pelvis, if it has a task, its direction of a frame."""
    for task in tasks[len(places) :]:
        task.set_target(mink.SE3.from_rotation(mink.SO3(given["turns"][frame])))


def pelvis_task(given):
    """How the pelvis is turned, where that is asked for."""
    return mink.FrameTask(str(given["pelvis"]), "body", 0.0, COST * np.sqrt(float(given["turn"])), lm_damping=1.0)


def main(question, answer):
    given = np.load(question, allow_pickle=False)
    model = mujoco.MjModel.from_xml_string(str(given["model"]))
    configuration = mink.Configuration(model, given["start"])
    names = [str(name) for name in given["sites"]]
    costs = [
        FEET if foot else COST * np.sqrt(weight) for foot, weight in zip(given["feet"], given["weights"], strict=True)
    ]
    tasks = [mink.FrameTask(name, "site", cost, 0.0, lm_damping=1.0) for name, cost in zip(names, costs, strict=True)]
    limits = [mink.ConfigurationLimit(model)]
    places = tasks
    if "turns" in given:
        tasks = [*places, pelvis_task(given)]
    turn(tasks, places, given, 0)
    aim(places, given["targets"][0])
    follow(configuration, tasks, limits, FIRST_STEPS, worth=-np.inf)
    q, sites = [], []
    begin = time.process_time()
    for frame, targets in enumerate(given["targets"]):
        turn(tasks, places, given, frame)
        aim(places, targets)
        follow(configuration, tasks, limits, STEPS)
        q.append(configuration.q.copy())
    seconds = time.process_time() - begin
    for values in q:
        configuration.update(values)
        sites.append(
            [configuration.get_transform_frame_to_world(name, "site").translation() for name in given["sites"]]
        )
    np.savez(answer, q=np.array(q), sites=np.array(sites), seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
