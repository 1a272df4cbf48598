"""Build a wheel that carries compiled kernels, so that whoever installs it never waits for the compiler.

    python3.12 scripts/build_wheel.py

builds dist/poise-…-cp312-cp312-manylinux_2_28_x86_64.whl for the Python that runs the script and the system that it
runs on. For another Python, run it with that one: `make wheel PYTHON=python3.13`. For Windows or a Mac with an Intel
processor, run it there. Other processors need a baseline of their own in `poise.kernels.jit.shipped`.

The kernels are compiled for a baseline processor into a folder of their own. Numba copies the code of a callee into its
caller, so only kernels that Python calls, or that are called by address, are needed: those are the files that a second
process loads when it runs the whole warm-up again. They are packed with xz, one by one. The environment and the
compiled code are kept in build/, so a second build compiles only what was edited.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from poise.kernels.jit.code_file import unpack  # noqa: E402
from poise.kernels.jit.shipped import BASELINE_CPU, BASELINE_FEATURES, MANIFEST  # noqa: E402

PYTHON_TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}"
LIST_LOADED = """
import json, sys
from poise import warmup
for step in warmup.steps():
    step.run()
from poise.kernels.jit import cache, machine_code, shipped
from numba.core.registry import cpu_target
json.dump({
    "versions": shipped.versions(),
    "target": cpu_target.target_context.codegen().magic_tuple(),
    "digest": cache.whole_digest(),
    "loaded": [str(file) for file in machine_code.used_files],
}, open(sys.argv[1], "w"))
"""


def main() -> None:
    """Compile, choose, pack and build."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--work", type=Path, default=ROOT / "build" / f"wheel-{PYTHON_TAG}", help="kept between builds"
    )
    options.add_argument("--output", type=Path, default=ROOT / "dist", help="folder of the wheel")
    chosen = options.parse_args()
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        sys.exit(f"no baseline has been chosen for {platform.machine()}: see poise.kernels.jit.shipped")
    build(chosen.work.resolve(), chosen.output.resolve())


def build(work: Path, output: Path) -> None:
    """Build the wheel in `output`, with everything made on the way in `work`."""
    python = environment(work / "venv")
    cache, packed = work / "cache", work / "machine_code"
    target = {
        "NUMBA_CPU_NAME": BASELINE_CPU,
        "NUMBA_CPU_FEATURES": BASELINE_FEATURES,
        "POISE_CACHE_DIR": str(cache),
        "POISE_QUIET": "1",
    }
    started = time.monotonic()
    run(python, "-m", "poise", "compile", **target)
    run(python, "-c", LIST_LOADED, str(work / MANIFEST), **target)
    print(f"compiled for {BASELINE_CPU} in {time.monotonic() - started:.0f} s")
    pack(work / MANIFEST, cache, packed)
    run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", str(output), POISE_MACHINE_CODE=str(packed))


def environment(folder: Path) -> str:
    """The Python of a virtual environment with poise as it is now, all its extras and what builds it."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        run(sys.executable, "-m", "venv", str(folder))
        run(str(python), "-m", "pip", "install", "--quiet", f"{ROOT}[all]", "hatchling")
    run(
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--force-reinstall",
        "--no-build-isolation",
        str(ROOT),
    )
    return str(python)


def pack(manifest: Path, cache: Path, target: Path) -> None:
    """Compress what the manifest lists into `target`, and print what that saves."""
    about = json.loads(manifest.read_text())
    loaded = [Path(file) for file in dict.fromkeys(about.pop("loaded"))]
    shutil.rmtree(target, ignore_errors=True)
    with Pool() as pool:
        pool.starmap(compress, [(file, target / file.parent.name / file.name) for file in loaded])
    shutil.copy(cache / "sources.json", target)
    about["tag"] = f"{PYTHON_TAG}-{PYTHON_TAG}-{platform_tag()}"
    (target / MANIFEST).write_text(json.dumps(about))
    compiled = list(cache.glob("kernels-*/*.code"))
    for what, files in (
        ("compiled", compiled),
        ("called from Python", loaded),
        ("packed", list(target.glob("*/*.xz"))),
    ):
        print(f"{what}: {len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")


def compress(source: Path, target: Path) -> None:
    """Write an xz file of the machine code, and beside it one of the bitcode, which is seldom needed."""
    code, bitcode = unpack(source.read_bytes())
    target.parent.mkdir(parents=True, exist_ok=True)
    (target.parent / f"{target.name}.xz").write_bytes(lzma.compress(code, preset=9))
    (target.parent / f"{target.name}.bitcode.xz").write_bytes(lzma.compress(bitcode, preset=9))


def platform_tag() -> str:
    """The platform in the name of the wheel; the machine code itself needs no library but numba's."""
    if platform.system() == "Linux":
        return "manylinux_2_28_x86_64"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def run(*command: str, **variables: str) -> None:
    """Run a command outside the source folder, where `import poise` finds the installed copy; stop if it fails."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    where = ROOT if "hatchling" in command else ROOT / "scripts"
    subprocess.run(command, cwd=where, env=clean | variables, check=True)


if __name__ == "__main__":
    main()
