"""roboticstoolbox's compiled `ik_LM` on the chain and poses of a file, for benchmarks/reach.py.

The chain comes as constant transforms and axes, so that it is exactly the one that poise solves.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main(file: Path | None) -> None:
    if file is None:
        print("benchmarks/reach.py runs this")
        return
    import numpy as np
    import roboticstoolbox as rtb

    question = json.loads(file.read_text())
    turns = {"x": rtb.ET.Rx, "y": rtb.ET.Ry, "z": rtb.ET.Rz}
    chain = rtb.ETS()
    for joint in question["joints"]:
        limits = np.array([joint["lower"], joint["upper"]])
        chain = chain * rtb.ET.SE3(np.array(joint["before"])) * turns[joint["axis"]](qlim=limits)
    chain = chain * rtb.ET.SE3(np.array(question["after"]))
    poses = [np.array(pose) for pose in question["poses"]]
    answer = {"version": rtb.__version__, "damping": {}}
    for damping in (1.0, 0.1):
        rounds = []
        for _ in range(question["rounds"]):
            times, values = [], []
            for pose in poses:
                start = time.thread_time()
                found = chain.ik_LM(pose, tol=question["tolerance"], k=damping)
                times.append(time.thread_time() - start)
                values.append(np.asarray(found[0]).tolist())
            rounds.append(times)
        answer["damping"][damping] = {"times": rounds, "q": values}
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
