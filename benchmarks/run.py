"""Run benchmarks and store what they find: `make bench`.

    python benchmarks/run.py                    # all that have no results of this commit
    python benchmarks/run.py kinematics reach   # these
    python benchmarks/run.py --again            # all, once more
    python benchmarks/run.py --list             # what there is, when it was measured, and how long it took

A run that was stopped goes on where it was: results of the same commit on the same machine count. Benchmarks that need
captured clips, robots of other packages or other libraries say so, and leave out what is not there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from machine import describe
from results import Results, duration, loaded, parts_of, update_pages

HERE = Path(__file__).resolve().parent
BENCHMARKS: dict[str, str] = {
    "kinematics": "kinematics",
    "human": "human",
    "levels": "levels",
    "construction": "construction",
    "reach": "reach",
    "collisions": "collisions",
    "serve": "serve",
    "whole_body": "whole_body",
    "standing": "standing",
    "loops": "loops",
    "loops_engine": "loops_engine",
    "loops_peers": "loops_peers",
    "chains": "chains",
    "filter": "filter",
    "character": "character",
    "expressive": "expressive --grid 20000 --skeletons ABCDEFG",
    "expressive_pairs": "expressive --count 150 --skeletons CE",
    "expressive_rest": "expressive_rest --count 2000",
    "expressive_bound": "expressive_bound --hold gaze",
    "expressive_wanders": "expressive_wanders --minutes 0.5 --seeds 11",
    "retarget": "retarget",
    "retarget_mink": "retarget_mink",
    "retarget_gmr": "retarget_gmr",
    "self_contacts": "self_contacts",
    "self_contacts_all": "self_contacts --all",
    "naturalness": "naturalness 180",
    "pulls": "pulls 1000",
    "jumps": "jumps",
    "reports": "reports",
    "priorities": "priorities 2000 100 0",
    "local_optima": "local_optima 500",
    "hostile_files": "hostile_files",
    "studio": "studio --browser",
    "wheels": "wheels",
    "first_start": "first_start",
    "baseline": "baseline",
}
"""The script and the arguments of each benchmark, the quick ones first."""


def main() -> int:
    """Run what is asked for; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="benchmarks; all if none is named")
    parser.add_argument("--again", action="store_true", help="also those that have results of this commit")
    parser.add_argument("--list", action="store_true", help="list them, and run none")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}.")
    if asked.list:
        return listed()
    failed = []
    for name in asked.names or BENCHMARKS:
        known = loaded(name)
        if known is not None and known.commit == commit() and known.machine.startswith(describe()) and not asked.again:
            print(f"{name}: measured at this commit already ({known.measured}); --again measures it once more")
        elif not run(name):
            failed.append(name)
    update_pages()
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


def run(name: str) -> bool:
    """Run a benchmark, show what it prints, and store it; returns whether it ended well."""
    script, *arguments = BENCHMARKS[name].split()
    words = [f"benchmarks/{script}.py", *arguments]
    print(f"== python {' '.join(words)}", flush=True)
    begun, load, printed = time.monotonic(), os.getloadavg()[0], []
    with subprocess.Popen([sys.executable, *words], cwd=HERE.parent, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            printed.append(line)
    if process.returncode != 0:
        print(f"{name} ended with status {process.returncode}; its earlier results stay.")
        return False
    machine = describe()
    if printed and printed[0].startswith(machine):
        machine = printed.pop(0).strip().rstrip(",")
    Results(
        benchmark=name,
        command=f"python {' '.join(words)}",
        measured=f"{datetime.now(UTC):%Y-%m-%d}",
        machine=machine.rstrip(", "),
        note=f"other programs kept {load:.1f} processors busy when it began" if load > 0.5 else "",
        seconds=round(time.monotonic() - begun, 1),
        commit=commit(),
        parts=list(parts_of(printed)),
    ).save()
    return True


def commit() -> str:
    """The commit of the source; empty outside a repository."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    found = subprocess.run(asked, cwd=HERE, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def listed() -> int:
    """List all benchmarks, with the time that each took."""
    whole = 0.0
    for name in BENCHMARKS:
        known = loaded(name)
        took = "" if known is None or known.seconds is None else duration(known.seconds)
        whole += 0.0 if known is None else known.seconds or 0.0
        print(f"{name:20} {'' if known is None else known.measured:12} {took}")
    print(f"those whose time is known take {duration(whole)} together")
    return 0


if __name__ == "__main__":
    sys.exit(main())
