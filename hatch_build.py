"""Build hook: puts compiled kernels into a wheel if `scripts/build_wheel.py` names their folder in a variable."""

import json
import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCode(BuildHookInterface):
    """Turns the pure wheel into one for a single Python, numba and kind of processor."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder, the tag of the platform, and the exact versions that can load the machine code."""
        folder = os.environ.get("POISE_MACHINE_CODE")
        if folder and version != "editable":
            manifest = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
            build_data["force_include"][folder] = "poise/machine_code"
            build_data["pure_python"] = False
            build_data["tag"] = manifest["tag"]
            build_data["dependencies"] = [f"{name}=={manifest['versions'][name]}" for name in ("numba", "llvmlite")]
