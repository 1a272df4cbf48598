"""Fuzz the readers: every target, or one, for some seconds each, in processes of their own.

    python tests/fuzz/run.py                                   # one minute per target
    python tests/fuzz/run.py --target bvh --seconds 600 --seed 1
    python tests/fuzz/run.py --target bvh --replay crashers/bvh-0123456789ab

A target fails when it raises anything but FormatError, warns, takes more than 5 s, runs out of memory, or dies. The
same seed tries the same inputs in the same order. With `--atheris`, where it is installed, its coverage decides.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fuzz.corpus import seeds
from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import Report, failure_of, name_of, serve

SLICE = 20.0
"""Seconds between progress lines."""


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; returns 1 when anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="default: all, one after another")
    parser.add_argument("--seconds", type=float, default=60.0, help="per target (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--crashers", type=Path, default=Path("crashers"), help="folder for inputs that failed")
    parser.add_argument("--replay", type=Path, help="try one saved input instead")
    parser.add_argument("--atheris", action="store_true", help="use atheris, which must be installed")
    given = parser.parse_args(arguments)
    targets: list[str] = given.target or list(TARGETS)
    if given.replay is not None:
        return replay(targets[0], given.replay)
    if given.atheris:
        return run_atheris(targets[0])
    failed = sum(run(target, given.seconds, given.seed, given.crashers) for target in targets)
    print(f"{failed} failures" if failed else "no failures")
    return 1 if failed else 0


def replay(target: str, path: Path) -> int:
    """Try one saved input in this process."""
    failure = failure_of(target, path.read_bytes())
    print(f"{path}: {failure or 'fine'}")
    return 1 if failure else 0


def run(target: str, seconds: float, seed: int, crashers: Path) -> int:
    """Fuzz one target; returns how many different failures it has."""
    failures: dict[str, bytes] = {}
    runs, said = 0, set[str]()
    end = time.monotonic() + seconds
    piece = 0
    while (left := end - time.monotonic()) > 0.0:
        report = run_slice(target, min(SLICE, left), seed + 1000 * piece)
        piece += 1
        runs += report.runs
        said |= report.refusals
        for kind, data in report.failures.items():
            if kind not in failures:
                failures[kind] = data
                save(target, kind, data, crashers)
        print(f"{target}: {runs} inputs, {len(said)} kinds of answers, {len(failures)} failures", flush=True)
    return len(failures)


def run_slice(target: str, seconds: float, seed: int) -> Report:
    """Fuzz in a child process, so that a crash of the interpreter is only one more finding."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="poise-fuzz-") as folder:
        current = Path(folder) / "current"
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=serve, args=(target, seconds, seed, current, sender))
        child.start()
        sender.close()
        try:
            report: Report = receiver.recv()
        except EOFError:
            child.join()
            report = Report(failures={f"died with exit code {child.exitcode}": current.read_bytes()})
        child.join()
    return report


def save(target: str, kind: str, data: bytes, crashers: Path) -> None:
    """Keep an input that failed, and say how to try it again."""
    crashers.mkdir(parents=True, exist_ok=True)
    path = crashers / name_of(target, data)
    path.write_bytes(data)
    print(f"{target}: {kind}\n    python tests/fuzz/run.py --target {target} --replay {path}", flush=True)


def run_atheris(target: str) -> int:
    """Let atheris choose the inputs of one target, until it finds something or is stopped."""
    try:
        import atheris  # type: ignore[import-not-found]
    except ImportError:
        print("atheris is not installed; run without --atheris.", file=sys.stderr)
        return 2
    atheris.instrument_all()
    with tempfile.TemporaryDirectory(prefix="poise-fuzz-") as folder:
        for name, data in seeds(target).items():
            (Path(folder) / name).write_bytes(data)
        atheris.Setup([sys.argv[0], folder], TARGETS[target])
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
