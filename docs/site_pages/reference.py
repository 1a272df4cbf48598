"""Reference pages that are written from the source: the public names and the command line."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import Any

import typer.main
from sphinx.application import Sphinx
from sphinx.ext.napoleon.docstring import GoogleDocstring
from typer.testing import CliRunner

import poise
from poise.cli.app import app

PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "figures": (
        "Figures and postures",
        "The articulated body: load one, build one, measure it, look at it.",
        (
            "load",
            "chain",
            "human",
            "hand",
            "hand_posture",
            "Figure",
            "Posture",
            "Pose",
            "Builder",
            "Body",
            "Site",
            "Joint",
            "Coupling",
            "Curve",
        ),
    ),
    "solving": (
        "Solving",
        "Find the posture that meets tasks by priority, once or step by step.",
        ("solve", "Solver", "Result", "Scene", "reach", "ReachResult"),
    ),
    "tasks": (
        "Tasks",
        "What can be asked of a figure. :doc:`/tasks` explains them by example, and the arguments that all have: "
        "`priority`, `weight`, `joints`, `gain`, `active`, `soft` and `name`.",
        (
            "Position",
            "Orientation",
            "Frame",
            "LookAt",
            "Hold",
            "CenterOfMass",
            "Touch",
            "Distance",
            "OnEllipsoid",
            "MomentOfInertia",
            "Equilibrium",
            "StayStill",
            "MoveSlowly",
            "TurnSlowly",
            "Avoid",
            "Obstacle",
            "Plane",
            "Custom",
        ),
    ),
    "criteria": (
        "Criteria and forces",
        "How the freedom that tasks leave is used, and what pulls at a figure.",
        (
            "Natural",
            "NearPosture",
            "Comfort",
            "Flex",
            "Extend",
            "LeastTorque",
            "Gradient",
            "Force",
            "Gravity",
            "Support",
        ),
    ),
    "expressive": (
        "Expression and gaze",
        "Keep the shape of a posture while the gaze turns elsewhere.",
        ("Expressive", "ExpressiveSettings", "Erik", "ErikSettings", "Weights", "facing", "at", "Gaze"),
    ),
    "motion": (
        "Motion",
        "Clips, retargeting, animation by keys, and characters that move in real time.",
        (
            "load_clip",
            "Clip",
            "Motion",
            "retarget",
            "Key",
            "Animation",
            "animate",
            "watching",
            "MotionFilter",
            "Character",
            "LiveRetarget",
        ),
    ),
    "errors": (
        "Errors",
        "What is raised where a question makes no sense; a goal that cannot be met is a result, never an error.",
        ("PoiseError", "FigureError", "TaskError", "FormatError", "RobotError"),
    ),
}
"""Title, first sentence and public names of each page."""
PACKAGES = {
    "chains": ("Chain solvers", "poise.chains"),
    "robots": ("Robots", "poise.robots"),
    "pictures": ("Pictures", "poise.pictures"),
}
"""Title and package of the pages about packages."""
INTERNAL = (
    "form, menu, takes_arrays, target_fields, without_target, former_kinds, masks_joints, chooses_joints, precision"
)
"""Class variables of tasks that tell the solver and the studio how to treat them; pages for users leave them out."""
WIDTH = 100
"""Width of the help texts [characters]."""


def write(folder: Path) -> None:
    """Write all reference pages below a folder; a public name that no page has is an error."""
    missing = set(poise.__all__) - {name for _, _, names in PAGES.values() for name in names} - set(PACKAGES)
    if missing:
        raise SystemExit(f"docs/site_pages/reference.py lists no page for {', '.join(sorted(missing))}")
    _write_api(folder / "api")
    _save(folder / "commands.md", _commands())


def _write_api(folder: Path) -> None:
    for page, (title, sentence, names) in PAGES.items():
        lines = [title, "=" * len(title), "", sentence, ""]
        for name in names:
            lines += _entry(f"poise.{name}", getattr(poise, name))
        _save(folder / f"{page}.rst", "\n".join(lines))
    for page, (title, package) in PACKAGES.items():
        module = getattr(poise, page)
        lines = [title, "=" * len(title), "", f".. automodule:: {package}", ""]
        for name in module.__all__:
            lines += _entry(f"{package}.{name}", getattr(module, name))
        _save(folder / f"{page}.rst", "\n".join(lines))


def _entry(path: str, value: object) -> list[str]:
    """The directive that documents a public name."""
    if inspect.isclass(value):
        hidden = [f"   :exclude-members: {INTERNAL}"] if hasattr(value, "target_fields") else []
        return [f".. autoclass:: {path}", "   :members:", "   :undoc-members:", *hidden, ""]
    return [f".. autofunction:: {path}" if callable(value) else f".. autodata:: {path}", ""]


def _commands() -> str:
    """The help of every command, as it is printed in a terminal."""
    os.environ |= {"COLUMNS": str(WIDTH), "TERM": "dumb", "NO_COLOR": "1"}
    group = typer.main.get_command(app)
    names = [[]] + [[name] for name in group.commands]  # type: ignore[attr-defined]
    lines = ["# The command line", "", "What `poise COMMAND --help` prints."]
    for words in names:
        text = CliRunner().invoke(app, [*words, "--help"], prog_name="poise").output.strip("\n")
        lines += ["", f"## poise {' '.join(words)}".rstrip(), "", "```text", text, "```"]
    return "\n".join(lines) + "\n"


def _save(file: Path, text: str) -> None:
    """Write a file if its text has changed, so that Sphinx builds only what has."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx: docstrings are plain text with code in single backticks, not reStructuredText."""
    app.connect("autodoc-process-docstring", escape)
    # It takes what is before a colon for the type; here types are in signatures, and a colon is a colon.
    GoogleDocstring._consume_inline_attribute = lambda self: ("", self._consume_to_end())  # type: ignore[method-assign]
    return {"parallel_read_safe": True}


def escape(*event: Any) -> None:
    """Escape what reStructuredText would take for substitutions and references, outside code."""
    lines: list[str] = event[-1]
    for i, line in enumerate(lines):
        words = re.split(r"(`+[^`]*`+)", line)
        lines[i] = "".join(
            word if word.startswith("`") else re.sub(r"([|*])", r"\\\1", re.sub(r"(\w)_(?!\w)", r"\1\\_", word))
            for word in words
        )
