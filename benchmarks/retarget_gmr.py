"""Retargeting to the Unitree G1, by poise and by the method of GMR with its published settings (`peers_gmr.py`).

python benchmarks/retarget_gmr.py [CLIP …]

GMR gets a person like those of LAFAN1, for whom its settings were made: the CMU skeleton with bones turned as LAFAN1
has them, as large as its people, facing along x. Its motion is put on the floor afterwards, by the height of its lowest
standing soles, since its targets float. Both motions are measured alike: feet in the frames in which they stand in the
clip; tracking as the mean angle between the bones of the robot and those of the person (thighs, shanks, upper arms,
forearms), which depends on nobody's targets. Our time is that of the whole call, GMR's that of its solver after the
first frame; both in processor time of one core.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from machine import describe, peers_python
from peers_retarget_model import mjcf_of, ours_from_mujoco, start_of
from retarget_mink import CLIPS, ONE_THREAD, timed
from scipy.spatial.transform import Rotation

import poise
from poise.motion.clip.clip import Source
from poise.motion.clip.motion import Motion
from poise.motion.mapping.mapping import clip_roles
from poise.motion.report import measure
from poise.motion.retarget.build import Build
from poise.motion.retarget.plan import Plan

USUAL = ("cmu/02_01", "animated_drawings/dab", "cmu30/137_14", "cmu30/05_18", "cmu30/88_11", "cmu30/14_13")
LAFAN_LEG = 0.859
"""Length of thigh and shank of the person of LAFAN1 [m]."""
HEAD = (
    "clip, by", "frames/s", "bones, mean angle °", "skate mean, max mm", "into the ground mm",
    "deeper than 1 cm in itself", "limits broken", "spikes", "mean jerk rad/s³", "fastest rad/s",
)  # fmt: skip
UP, FORWARD, LEFT = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
ROLES = {
    "Hips": "pelvis", "Spine2": "chest", **{
        f"{side}{bone}": f"{side.lower()}_{part}" for side in ("Left", "Right")
        for bone, part in (("UpLeg", "hip"), ("Leg", "knee"), ("Foot", "ankle"), ("Arm", "shoulder"),
                           ("ForeArm", "elbow"), ("Hand", "wrist"))
    },
}  # fmt: skip
BONES = [(f"{side}_{a}", f"{side}_{b}") for side in ("left", "right")
         for a, b in (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))]  # fmt: skip


def lafan_frame(bone):
    """(3, 3) the axes of a bone of LAFAN1 as columns, when the person stands with arms to the sides."""
    if bone in ("Hips", "Spine2"):
        x, y = UP, FORWARD
    elif bone.endswith("Foot"):
        x, y = FORWARD, UP  # of its toes
    elif bone.endswith("Leg"):
        x, y = -UP, FORWARD
    else:
        x, y = (LEFT if bone.startswith("Left") else -LEFT), -FORWARD
    return np.stack([x, y, np.cross(x, y)], axis=1)


def person(clip, motion):
    """Bones, and their places (frames, bones, 3) and rotations (frames, bones, 4) in a world with z up."""
    source, roles = Source(clip), {role: found.part for role, found in clip_roles(clip).items()}
    plan = Plan.of(source, motion.track.mapping, Build.of(motion.figure, motion.track.mapping))
    turn = np.asarray(plan.build.axes.T @ plan.calibration.turn)
    places, turns = [], []
    paths = {role: source.path_of(part) @ turn.T for role, part in roles.items()}
    legs = [np.median(np.linalg.norm(paths[a] - paths[b], axis=1)) for a, b in BONES[:2]]
    size = LAFAN_LEG / sum(legs)
    ankles = np.minimum(paths["left_ankle"][:, 2], paths["right_ankle"][:, 2])
    low = np.array([0.0, 0.0, np.percentile(ankles, 5.0) - 0.09 / size])
    for bone, role in ROLES.items():
        part = roles[role.replace("ankle", "toe")] if bone.endswith("Foot") else roles[role]
        rest = Rotation.from_matrix(lafan_frame(bone))
        turned = Rotation.from_matrix(turn) * source.rotation_of(part) * rest
        places.append(size * (paths[role] - low))
        turns.append(turned.as_quat(scalar_first=True))
    return list(ROLES), np.stack(places, axis=1), np.stack(turns, axis=1)


def by_gmr(clip, motion):
    """The motion by GMR's method, and the seconds it takes."""
    bones, places, turns = person(clip, motion)
    figure = motion.figure
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder) / "question.npz", Path(folder) / "answer.npz"
        np.savez(
            question, model=mjcf_of(figure, {}), start=start_of(figure, places), bones=bones, places=places,
            turns=turns,
        )  # fmt: skip
        run = [peers_python(), Path(__file__).with_name("peers_gmr.py"), question, answer]
        subprocess.run(run, check=True, env=os.environ | ONE_THREAD)
        given = np.load(answer)
        q, seconds = ours_from_mujoco(figure, given["q"]), float(given["seconds"])
    made = Motion(figure, q, motion.rate, motion.name, track=motion.track)
    return on_the_floor(made), seconds


def on_the_floor(motion):
    """The motion, raised or lowered as a whole so that standing soles are on the floor in their median."""
    track, up = motion.track, motion.figure.up_vector
    low = []
    for side, (site, points) in zip(track.contacts.heel, track.soles.items(), strict=True):
        stands = np.flatnonzero(track.contacts.standing(side))
        poses = [motion.figure.frames(motion[int(i)])[site] for i in stands]
        low += [min(float(pose.apply(point) @ up) for point in points) for pose in poses]
    q, base = motion.q.copy(), next(j.name for j in motion.figure.joints if j.kind == "free")
    q[:, motion.figure.q_slice(base).start + 2] += track.ground - float(np.median(low))
    return Motion(motion.figure, q, motion.rate, motion.name, track=track)


def bone_angles(clip, motion):
    """(frames, bones) angles between the bones of the robot and those of the person [rad]."""
    source, roles, figure = Source(clip), clip_roles(clip), motion.figure
    build = Build.of(figure, motion.track.mapping)
    turn = build.axes.T @ Plan.of(source, motion.track.mapping, build).calibration.turn
    frames = [figure.frames(posture) for posture in motion]

    def ours(role):
        found = figure.roles[role]
        point = np.zeros(3) if found.point is None else found.point
        return np.array([frame[found.part].apply(point) for frame in frames])

    out = []
    for a, b in BONES:
        theirs = (source.path_of(roles[b].part) - source.path_of(roles[a].part)) @ turn.T
        mine = ours(b) - ours(a)
        cosine = np.sum(theirs * mine, axis=1) / np.linalg.norm(theirs, axis=1) / np.linalg.norm(mine, axis=1)
        out.append(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return np.stack(out, axis=1)


def row(name, clip, motion, seconds):
    q = measure(motion)
    return (
        f"| {name} | {len(motion) / seconds:.0f} | {np.degrees(bone_angles(clip, motion)).mean():.1f} "
        f"| {1e3 * q.skate.mean():.2f}, {1e3 * q.skate.max(initial=0.0):.2f} | {1e3 * q.penetration.max():.1f} "
        f"| {int((q.training.self_depth > 0.01).sum())} of {len(motion)} | {q.violations} | {len(q.spikes)} "
        f"| {q.training.jerk:.0f} | {np.abs(motion.velocity[:, 6:]).max(initial=0.0):.0f} |"
    )


def main(*names):
    figure = poise.load("g1").with_floating_base()
    print(describe("poise", "numba", "numpy"))
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for name in names or USUAL:
        path = Path(name) if Path(name).is_file() else CLIPS / f"{name}.bvh"
        clip = poise.load_clip(path)[1 if "cmu30" in str(path) else 0 :]
        motion, seconds = timed(clip, figure)
        print(row(f"{path.stem}, poise", clip, motion, seconds), flush=True)
        print(row(f"{path.stem}, GMR", clip, *by_gmr(clip, motion)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
