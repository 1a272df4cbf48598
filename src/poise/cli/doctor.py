"""`poise doctor`: check the installation and a figure, and say what to do about each finding."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
from rich.text import Text

from poise.cli.console import stdout
from poise.cli.show import load_figure
from poise.errors import PoiseError

SYMBOLS = {"good": ("✓", "green"), "absent": ("–", "dim"), "note": ("!", "yellow"), "bad": ("✗", "bold red")}
"""The mark of each state of a finding, and its colour."""
EXTRAS_FOR = {
    "studio": "the studio in the browser",
    "motion": "retargeting, BVH and glTF files",
    "pictures": "pictures and charts",
    "collision": "avoiding meshes",
    "robots": "URDF files, servos on serial lines",
    "mjcf": "MuJoCo files",
    "serve": "poise serve, which the Blender add-on needs",
}
"""What each extra is for."""
NAME_WIDTH = 13
"""Columns of the subject of a finding."""


class Finding(NamedTuple):
    """One line of a check-up."""

    state: Literal["good", "absent", "note", "bad"]
    """Whether all is well, something optional is not there, something may surprise, or something does not work."""
    what: str
    """The subject, in a word."""
    sentence: str
    """What was found."""
    remedy: str = ""
    """What to do about it."""


def doctor(
    figure: Annotated[
        str | None, typer.Argument(help="A built-in figure or a file to check too; without it, the installation only.")
    ] = None,
) -> None:
    """Check the installation: compiled kernels, optional packages, serial ports. With a figure, check that too.

    [bold]poise doctor[/] says what is missing, and how to get it.

    [bold]poise doctor robot.urdf[/] also checks its base, feet, limits, speeds, face, meshes and postures.

    The exit code is 1 if something does not work, marked ✗; what may only surprise you is marked !.
    """
    print_line = stdout().print
    print_line(Text(f"poise {_version('poise')}, Python {platform.python_version()}, {_version('numba')}", style="dim"))
    findings = list(machine_findings())
    _print("this machine", findings)
    if figure is not None:
        findings += _checked(figure)
    bad, notes = (sum(finding.state == state for finding in findings) for state in ("bad", "note"))
    print_line()
    print_line(Text(_summary(bad, notes)))
    if bad:
        raise typer.Exit(1)


def _checked(name: str) -> list[Finding]:
    """Print and return the findings about a figure; one that cannot be loaded is a finding too."""
    from poise.cli.figure_checks import figure_findings

    try:
        figure = load_figure(name)
        findings = list(figure_findings(figure))
    except PoiseError as problem:
        findings = [Finding("bad", "file", str(problem))]
    _print(name, findings)
    return findings


def _summary(bad: int, notes: int) -> str:
    if bad:
        return f"{bad} {'things do' if bad > 1 else 'thing does'} not work; → says what to do."
    if notes:
        return f"Everything works; {notes} {'things' if notes > 1 else 'thing'} may surprise you."
    return "All is well."


def _print(title: str, findings: Iterable[Finding]) -> None:
    print_line = stdout().print
    print_line()
    print_line(Text(title, style="bold"))
    for finding in findings:
        mark, color = SYMBOLS[finding.state]
        line = Text.assemble(("  " + mark, color), " ", (f"{finding.what:<{NAME_WIDTH}}", "dim"), finding.sentence)
        print_line(line)
        if finding.remedy:
            print_line(Text.assemble(" " * (4 + NAME_WIDTH), ("→ ", color), finding.remedy))


def machine_findings() -> Iterator[Finding]:
    """Findings about kernels, cache, optional packages and serial ports."""
    yield _kernels()
    yield _cache()
    yield from _extras()
    yield from _ports()


def _kernels() -> Finding:
    from poise.kernels.jit import shipped
    from poise.kernels.jit.machine_code import is_complete

    if is_complete():
        return Finding("good", "kernels", "all are compiled" + (", with the package" if shipped.is_usable() else ""))
    reason = shipped.why_unusable()
    why = f": those that came with poise cannot be used, because {reason}" if reason else ""
    return Finding(
        "note", "kernels", f"some are compiled when they are first called{why}", "poise compile compiles them all now"
    )


def _cache() -> Finding:
    """Whether compiled kernels can be stored."""
    from poise.kernels.jit.cache import user_cache

    folder = user_cache()
    there = next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return Finding("good", "cache", str(folder))
    remedy = "set POISE_CACHE_DIR to a folder that you can write"
    return Finding("note", "cache", f"{folder} cannot be written, so a temporary folder is used", remedy)


def _extras() -> Iterator[Finding]:
    """Which optional packages are installed."""
    from poise.extras import EXTRAS

    for extra, purpose in EXTRAS_FOR.items():
        packages = {package: module for module, (package, home) in EXTRAS.items() if home == extra}
        missing = [package for package, module in packages.items() if find_spec(module) is None]
        if missing:
            sentence = f"{', '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed"
            yield Finding("absent", extra, sentence, f"for {purpose}: pip install 'poise[{extra}]'")
        else:
            yield Finding("good", extra, f"{', '.join(f'{p} {_version(p)}' for p in packages)}")


def _ports() -> Iterator[Finding]:
    """Serial ports, and whether they may be opened."""
    if find_spec("serial") is None:
        return
    from serial.tools.list_ports import comports

    found = sorted((port.device, port.description) for port in comports())
    if not found:
        yield Finding("good", "ports", "no serial device is connected")
    for device, description in found:
        words = f" ({description})" if description not in ("n/a", "", device) else ""
        if os.access(device, os.R_OK | os.W_OK) or os.name == "nt":
            yield Finding("good", "ports", f"{device}{words}")
        else:
            remedy = "sudo usermod -aG dialout $USER, then log in again"
            yield Finding("note", "ports", f"{device}{words} may not be opened by you", remedy)


def _version(package: str) -> str:
    try:
        found = version(package)
    except PackageNotFoundError:
        import poise

        return poise.__version__ if package == "poise" else ""
    return f"numba {found}" if package == "numba" else found
