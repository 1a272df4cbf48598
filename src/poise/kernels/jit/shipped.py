"""The machine code that comes inside a platform wheel, for a baseline processor that most computers include.

`make wheel` compiles every kernel for `BASELINE_CPU` and packs what Python calls into `SHIPPED_FOLDER`: one xz file per
kernel and list of argument types, a table of the parsed sources, and a manifest. The code is used only if this process
runs the same Python, numba and llvmlite on a processor with all features of the baseline, and if the sources are those
that were compiled.
"""

from __future__ import annotations

import json
import lzma
import sys
from functools import cache
from pathlib import Path
from typing import Any

from poise.kernels.jit.cache import SHIPPED_FOLDER, whole_digest

BASELINE_CPU = "x86-64-v3"
"""Intel since Haswell (2013), AMD since Excavator (2015)."""
BASELINE_FEATURES = (
    "+64bit,+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,+sse"
    ",+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave"
)
"""The processor features of the baseline, as `NUMBA_CPU_FEATURES` takes them."""
MANIFEST = "manifest.json"


@cache
def versions() -> dict[str, str]:
    """The versions that decide whether machine code can be loaded."""
    import llvmlite  # type: ignore[import-untyped]
    import numba

    return {
        "Python": f"{sys.version_info[0]}.{sys.version_info[1]}{getattr(sys, 'abiflags', '')}",
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
    }


@cache
def manifest() -> dict[str, Any]:
    """Processor and library versions that the shipped machine code needs; empty if none was shipped."""
    try:
        found: dict[str, Any] = json.loads((SHIPPED_FOLDER / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


@cache
def why_unusable() -> str:
    """Why the shipped machine code cannot be used here, as the end of a sentence; "" if it can, or none was shipped."""
    if not manifest():
        return ""
    here = versions()
    for what, built in manifest()["versions"].items():
        if built != here[what]:
            return f"it is for {what} {built}, and {here[what]} is installed"
    needed = [name[1:] for name in manifest()["target"][2].split(",") if name.startswith("+")]
    if missing := [name for name in needed if not _host_features().get(name)]:
        return f"this processor lacks {', '.join(missing)}"
    if manifest()["digest"] != whole_digest():
        return "it is for other kernels than those installed, or NUMBA_BOUNDSCHECK is set"
    return ""


def _host_features() -> dict[str, bool]:
    import llvmlite.binding  # type: ignore[import-untyped]

    found: dict[str, bool] = llvmlite.binding.get_host_cpu_features()
    return found


def is_usable() -> bool:
    """Whether machine code was shipped and can be used here."""
    return bool(manifest()) and not why_unusable()


def read(folder: str, name: str) -> bytes:
    """The content of a shipped file, given by the names of its folder and its file; empty if it is not there."""
    try:
        return lzma.decompress((SHIPPED_FOLDER / folder / name).read_bytes())
    except (OSError, lzma.LZMAError):
        return b""


def files() -> list[Path]:
    """All shipped files of machine code."""
    return sorted(SHIPPED_FOLDER.glob("*/*.xz"))
