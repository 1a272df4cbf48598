"""A full pose inside the limits: poise.reach against roboticstoolbox's compiled ik_LM, judged by Pinocchio.

500 random reachable poses each of a Panda and a UR5, with the same chain, limits and poses on both sides, in one run. A
pose counts as reached when Pinocchio finds the tip within 1e-4 m and 1e-3 rad and every joint inside its limits. poise
runs with its own, tighter tolerance; roboticstoolbox with the loosest one that meets the criterion, with two dampings
of which the faster counts. Times are processor times of the thread, so that other programs do not count. Then sets of
our own: limits narrowed to a fifth, the edge of the workspace, a human.

roboticstoolbox-python is not a dependency of poise. If it is installed elsewhere, name that Python:
POISE_PEER_PYTHON=/somewhere/bin/python python benchmarks/reach.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pinocchio as pin
from machine import describe
from results import Table

import poise
from poise.figure.model.pose import to_matrix

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
PANDA = ("Panda", ROBOTS / "panda_description/urdf/panda.urdf", "panda_link8")
UR5 = ("UR5", ROBOTS / "ur_description/urdf/ur5_robot.urdf", "tool0")
POSES, ROUNDS = 500, 5
NEAR, TURNED = 1e-4, 1e-3
PEER_TOLERANCE = 0.5 * NEAR**2
"""roboticstoolbox stops at half the squared error, metres and radians alike."""


class Judge:
    """Pinocchio's model of a robot, which checks the tip."""

    def __init__(self, figure: poise.Figure, urdf: Path, tip: str) -> None:
        """Load the robot a second time."""
        self.figure, self.model = figure, pin.buildModelFromUrdf(str(urdf))
        self.data, self.frame = self.model.createData(), self.model.getFrameId(tip)
        joint, self.joints = self.model.frames[self.frame].parentJoint, []
        while joint > 0:
            self.joints.insert(0, joint)
            joint = self.model.parents[joint]
        self.ours = [figure.q_slice(self.model.names[joint]).start for joint in self.joints]

    def reached(self, values: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> bool:
        """Whether joint values along the chain put the tip there, inside the limits."""
        q = pin.neutral(self.model)
        places = [self.model.joints[joint].idx_q for joint in self.joints]
        q[places] = values
        pin.framesForwardKinematics(self.model, self.data, q)
        tip = self.data.oMf[self.frame]
        turned = np.linalg.norm(pin.log3(tip.rotation.T @ to_matrix(rotation)))
        low, high = self.model.lowerPositionLimit[places], self.model.upperPositionLimit[places]
        legal = bool(((values >= low - 1e-9) & (values <= high + 1e-9)).all())
        return legal and np.linalg.norm(tip.translation - position) <= NEAR and turned <= TURNED

    def chain(self) -> dict[str, object]:
        """The same chain as constant transforms and axes."""
        joints = []
        for joint in self.joints:
            place = self.model.joints[joint].idx_q
            joints.append({
                "before": self.model.jointPlacements[joint].homogeneous.tolist(),
                "axis": self.model.joints[joint].shortname()[-1].lower(),
                "lower": float(self.model.lowerPositionLimit[place]),
                "upper": float(self.model.upperPositionLimit[place]),
            })  # fmt: skip
        return {"joints": joints, "after": self.model.frames[self.frame].placement.homogeneous.tolist()}


def poses_of(figure: poise.Figure, site: str, postures: list[poise.Posture]) -> list[tuple[np.ndarray, np.ndarray]]:
    frames = [figure.pose_of(site, posture) for posture in postures]
    return [(np.array(frame.position), np.array(frame.rotation)) for frame in frames]


def timed(figure: poise.Figure, site: str, goals: list, **options: object) -> tuple[list[float], list]:
    """Seconds and results of one reach per goal."""
    times, results = [], []
    for position, rotation in goals:
        start = time.thread_time()
        result = poise.reach(figure, site, position, rotation, **options)
        times.append(time.thread_time() - start)
        results.append(result)
    return times, results


def row(name: str, success: float, times: list[float]) -> tuple[str, str, float, float, float]:
    ms = np.array(times) * 1e3
    return name, f"{100.0 * success:.1f} %", np.median(ms), ms.mean(), np.percentile(ms, 99)


def quietest(rounds: list[list[float]]) -> list[float]:
    return min(rounds, key=sum)


def peer(question: dict[str, object]) -> dict | None:
    """The results of roboticstoolbox, or None if it is not installed."""
    python = os.environ.get("POISE_PEER_PYTHON") or (sys.executable if find_spec("roboticstoolbox") else None)
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "question.json"
        file.write_text(json.dumps(question))
        script = Path(__file__).with_name("reach_peer.py")
        done = subprocess.run([python, str(script), str(file)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(table: Table, name: str, urdf: Path, tip: str) -> None:
    figure = poise.load(urdf)
    rng = np.random.default_rng(20)
    goals = poses_of(figure, tip, [figure.random(rng) for _ in range(POSES)])
    judge = Judge(figure, urdf, tip)
    timed(figure, tip, goals[:1])
    rounds = [timed(figure, tip, goals) for _ in range(ROUNDS)]
    matrices = [pin.SE3(to_matrix(rotation), position).homogeneous.tolist() for position, rotation in goals]
    answer = peer({**judge.chain(), "poses": matrices, "tolerance": PEER_TOLERANCE, "rounds": ROUNDS})
    # Before and after the peer, since a busy machine is faster at one time than at another.
    rounds += [timed(figure, tip, goals) for _ in range(ROUNDS)]
    success = np.mean([
        judge.reached(result.posture.q[judge.ours], *goal) for result, goal in zip(rounds[0][1], goals, strict=True)
    ])  # fmt: skip
    ours = quietest([times for times, _ in rounds])
    table.row(*row(f"{name}, poise.reach", float(success), ours))
    if answer is None:
        table.row(f"{name}, roboticstoolbox", "not installed", "", "", "")
        return
    best = float("inf")
    for damping, found in answer["damping"].items():
        times = quietest(found["times"])
        success = np.mean([judge.reached(np.array(q), *goal) for q, goal in zip(found["q"], goals, strict=True)])
        table.row(*row(f"{name}, roboticstoolbox {answer['version']} ik_LM, k={damping}", float(success), times))
        best = min(best, float(np.mean(times)))
    table.row(f"{name}, mean of ik_LM / mean of poise", "", "", best / np.mean(ours), "")


def narrowed(figure: poise.Figure, around: poise.Posture, share: float) -> poise.Figure:
    """`figure` with every interval cut to a share of itself around a posture."""
    joints = []
    for joint in figure.joints:
        values = around.q[figure.q_slice(joint.name)]
        lower, upper = np.array(joint.lower), np.array(joint.upper)
        if joint.scalars and np.isfinite(upper - lower).all():
            half = 0.5 * share * (upper - lower)
            joint = replace(
                joint, lower=tuple(np.maximum(lower, values - half)), upper=tuple(np.minimum(upper, values + half))
            )
        joints.append(joint)
    return figure.replaced(joints=joints)


def at_the_edge(figure: poise.Figure, rng: np.random.Generator) -> poise.Posture:
    """A posture with about half of its joints within a fiftieth of a limit, and the rest anywhere or stretched."""
    q = figure.random(rng).q.copy()
    lower, upper = figure.compiled.bounds.lower, figure.compiled.bounds.upper
    near = rng.uniform(size=q.shape) < 0.5
    share = rng.uniform(0.0, 0.02, size=q.shape)
    edge = np.where(rng.uniform(size=q.shape) < 0.5, lower + share * (upper - lower), upper - share * (upper - lower))
    q = np.where(near, edge, q)
    stretched = rng.uniform(size=q.shape) < 0.3
    q = np.where(stretched, np.clip(rng.normal(0.0, 0.01, size=q.shape), lower, upper), q)
    return figure.posture(q)


def hard(table: Table, name: str, urdf: Path, tip: str) -> None:
    figure, rng = poise.load(urdf), np.random.default_rng(2)
    times, results = [], []
    for _ in range(50):
        tight = narrowed(figure, figure.random(rng), 0.2)
        goals = poses_of(tight, tip, [tight.random(rng) for _ in range(10)])
        timed(tight, tip, goals[:1])
        more, found = timed(tight, tip, goals)
        times, results = times + more, results + found
    solved = np.mean([r.status == "solved" for r in results])
    table.row(*row(f"{name}, limits narrowed to a fifth", solved, times))
    goals = poses_of(figure, tip, [at_the_edge(figure, rng) for _ in range(POSES)])
    times, results = timed(figure, tip, goals)
    table.row(*row(f"{name}, at the edge", np.mean([r.status == "solved" for r in results]), times))


def human_hand(table: Table) -> None:
    human, rng = poise.load("human"), np.random.default_rng(3)
    still = {"base": human.neutral()["base"]}
    goals = poses_of(human, "right_hand", [human.random(rng).changed(still) for _ in range(200)])
    timed(human, "right_hand", goals[:1], hold=["base"])
    times, results = timed(human, "right_hand", goals, hold=["base"])
    solved = np.mean([r.status == "solved" for r in results])
    table.row(*row("human, right hand, pelvis held: full pose", solved, times))
    times, results = timed(human, "right_hand", [(p, None) for p, _ in goals], hold=["base"])
    solved = np.mean([r.status == "solved" for r in results])
    table.row(*row("human, right hand, pelvis held: position", solved, times))


def main() -> None:
    print(describe("numba", "numpy", "pin", "roboticstoolbox-python"))
    table = Table("", "", "reached", "median ms", "mean ms", "99 % ms")
    for robot in (PANDA, UR5):
        compare(table, *robot)
    for robot in (PANDA, UR5):
        hard(table, *robot)
    human_hand(table)


if __name__ == "__main__":
    main()
