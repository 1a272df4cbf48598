# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on in headless Blender: built and installed as an extension, and driven through its operators.

POISE names the poise program, and POISE_PYTHON the Python that has poise; `make test-blender` sets them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
if "bpy" not in sys.modules:  # Blender reads this when it starts: a user's own settings stay as they are
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="poise-blender-")
bpy = pytest.importorskip("bpy", reason="needs Blender as a Python module: pip install bpy")
POISE = os.environ.get("POISE", "")


def extension_command() -> Path:
    """Blender's own command for extensions."""
    return Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"


@pytest.fixture(scope="session")
def package(tmp_path_factory) -> Path:
    """The extension, built by Blender's own command."""
    import subprocess

    folder = tmp_path_factory.mktemp("extension")
    command = [sys.executable, str(extension_command())]
    build = [*command, "build", "--source-dir", str(HERE.parent), "--output-dir", str(folder)]
    subprocess.run(build, check=True, capture_output=True)
    (found,) = folder.glob("*.zip")
    subprocess.run([*command, "validate", str(found)], check=True, capture_output=True)
    return found


@pytest.fixture(scope="session")
def addon(package):
    """The installed extension, with the path of poise in its preferences."""
    bpy.ops.preferences.addon_enable(module="bl_pkg")
    bpy.ops.extensions.package_install_files(filepath=str(package), repo="user_default", enable_on_install=True)
    (name,) = [each.module for each in bpy.context.preferences.addons if each.module.endswith(".poise")]
    bpy.context.preferences.addons[name].preferences.command = POISE
    yield sys.modules[name]
    sys.modules[f"{name}.session"].session.stop()


@pytest.fixture
def scene(addon):
    """An empty scene at 30 frames per second, with poise running."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    bpy.ops.poise.start()
    found = bpy.context.scene
    found.render.fps, found.frame_start, found.frame_end = 30, 1, 30
    return found


@pytest.fixture
def session(addon):
    """The session of the add-on."""
    return sys.modules[f"{addon.__name__}.session"]
