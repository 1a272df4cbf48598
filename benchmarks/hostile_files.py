"""What hostile files cost: time and memory of reading each, in a process of its own, and the sentence that refuses it.

python benchmarks/hostile_files.py
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

READ = """
import resource, sys, time
import poise
lamp, began = poise.load("adelino"), time.perf_counter()
try:
    said = repr(poise.load_clip(sys.argv[1], lamp) if sys.argv[1].endswith("npz") else poise.load(sys.argv[1]))
except poise.PoiseError as problem:
    said = str(problem)
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
print(f"{time.perf_counter() - began:6.2f} s {used:5.0f} MB  {said[:110]}")
"""
BODY = "<worldbody><body><geom size='1'/></body></worldbody>"
PATIENCE = 300.0
"""Time after which reading a file is given up [s]."""


def lying_header(path: Path) -> None:
    """An array that is said to have 40 TB."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 5), }".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("q", "rate"):
            file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)


def replicated(path: Path) -> None:
    """Sixty thousand copies of a body."""
    path.write_text(f"<mujoco><worldbody><replicate count='60000'>{BODY[11:-12]}</replicate></worldbody></mujoco>")


def including(path: Path) -> None:
    """A file that includes them."""
    replicated(path.with_name("copies.xml"))
    path.write_text("<mujoco><include file='copies.xml'/></mujoco>")


def attaching(path: Path) -> None:
    """A file that attaches them as a model."""
    replicated(path.with_name("copies.xml"))
    attached = "<worldbody><attach model='m' body='b' prefix='a'/></worldbody>"
    path.write_text(f"<mujoco><asset><model name='m' file='copies.xml'/></asset>{attached}</mujoco>")


def cube_texture(path: Path) -> None:
    """A texture of 200 bytes and 3.6 GB."""
    texture = "<texture name='t' type='cube' builtin='flat' width='20000' height='20000'/>"
    path.write_text(f"<mujoco><asset>{texture}</asset>{BODY}</mujoco>")


def dotted_key(path: Path) -> None:
    """A key of fifty thousand parts."""
    path.write_text("a" + ".a" * 50_000 + " = 1\n")


def long_name(path: Path) -> None:
    """A name of five million letters."""
    path.write_text(f'name = "{"x" * 5_000_000}"\n')


def many_brackets(path: Path) -> None:
    """Arrays inside arrays."""
    path.write_text("a = " + "[" * 100_000 + "]" * 100_000 + "\n")


def long_chain(path: Path) -> None:
    """Five thousand hinges, one after the other, among which legs and arms could be anywhere."""
    joints = "".join(
        f"<link name='l{i}'/><joint name='j{i}' type='continuous'><parent link='l{i - 1}'/><child link='l{i}'/></joint>"
        for i in range(1, 5000)
    )
    path.write_text(f"<robot name='r'><link name='l0'/>{joints}</robot>")


FILES: dict[str, Callable[[Path], None]] = {
    "lying.npz": lying_header,
    "copies.xml": replicated,
    "including.xml": including,
    "attaching.xml": attaching,
    "cube.xml": cube_texture,
    "dotted.figure.toml": dotted_key,
    "name.figure.toml": long_name,
    "brackets.figure.toml": many_brackets,
    "chain.urdf": long_chain,
}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="poise-hostile-") as folder:
        for name, write in FILES.items():
            write(Path(folder) / name)
            command = [sys.executable, "-c", READ, name]
            try:
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
                said = done.stdout.rstrip() or f"FAILED: {done.stderr.strip().splitlines()[-1:]}"
            except subprocess.TimeoutExpired:
                said = f"FAILED: took more than {PATIENCE:g} s"
            print(f"{name:22}{said}", flush=True)


if __name__ == "__main__":
    main()
