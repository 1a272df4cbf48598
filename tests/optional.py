"""Tests that need what `make setup` does not install: by marker, they are left out where it is missing."""

import os
import shutil
from pathlib import Path

from tests import real_data

AXE = Path(os.environ.get("POISE_AXE", ""))
"""The script axe.min.js of the package axe-core, which looks for what hinders people with disabilities."""


def chromium() -> str | None:
    """The Chromium of this machine."""
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


OPTIONAL = {
    "real_data": (real_data.IS_HERE, f"there are no files of others in {real_data.FOLDER}"),
    "browser": (chromium() is not None, "there is no Chromium on this machine: install the package chromium"),
    "node": (shutil.which("node") is not None, "there is no Node.js on this machine: install the package nodejs"),
    "axe": (AXE.is_file(), "POISE_AXE does not name axe.min.js of axe-core"),
}
"""By marker: whether its tests can run here, and why they cannot if not."""
