"""`poise show`: draw a picture of a figure."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poise.cli.console import print_note, print_result
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, PostureLike


class View(StrEnum):
    """Camera positions."""

    FRONT = "front"
    SIDE = "side"
    TOP = "top"
    THREE_QUARTER = "three-quarter"


NOTES_SHOWN = 3
"""Largest number of notes about a picture to print; the others are counted."""
FigureArgument = Annotated[
    str,
    typer.Argument(
        help="A built-in figure (see: poise figures), a robot (see: poise robots), or a file: .figure.toml, .urdf, "
        ".xacro, .xml, .bvh, .glb."
    ),
]


def show(
    figure: FigureArgument,
    *,
    posture: Annotated[
        str,
        typer.Option(
            "--posture", "-p", help="A posture's name, joint=value pairs, or a name then pairs, separated by commas."
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Picture file to write; default: FIGURE.png.")
    ] = None,
    size: Annotated[str, typer.Option(help="Width and height in pixels, for example 1600x900.")] = "800x800",
    view: Annotated[View, typer.Option(help="Side to look from.")] = View.THREE_QUARTER,
    skeleton: Annotated[bool, typer.Option("--skeleton", help="Draw bones instead of shapes.")] = False,
    collision: Annotated[bool, typer.Option("--collision", help="Draw the shapes that collision checks use.")] = False,
    dark: Annotated[bool, typer.Option("--dark/--light", help="Background of the picture.")] = False,
    labels: Annotated[bool, typer.Option("--labels", help="Write the joints' names and mark the sites.")] = False,
) -> None:
    """Draw a figure in a posture and save the picture; no window or browser is opened.

    [bold]poise show human[/] writes human.png.

    [bold]poise show adelino --posture sad -o sad.png --dark[/] draws a named posture.

    [bold]poise show human -p "left_elbow=90deg" --view side --labels[/] sets one joint.

    [bold]poise show robot.urdf --skeleton --size 1600x900[/] draws a robot from a file.

    Angles are in radians, or in degrees when followed by deg or °.

    A joint with several values takes them separated by colons: left_hip=0.92:0:0.38:0 is a quaternion, w first.

    Orange discs are joints with a motor, blue discs are passive joints, violet rings are joints that close loops.
    """
    pixels = parsed_size(size)
    from poise.pictures import draw

    chosen = load_figure(figure)
    picture = draw(
        chosen,
        parsed_posture(posture, chosen),
        size=pixels,
        view=view.value,
        theme="dark" if dark else "light",
        skeleton=skeleton,
        collision=collision,
        labels=labels,
    )
    for note in picture.notes[:NOTES_SHOWN]:
        print_note(note)
    if len(picture.notes) > NOTES_SHOWN:
        print_note(f"… and {len(picture.notes) - NOTES_SHOWN} more like these.")
    print_result(str(picture.save(output or f"{chosen.name}.png")))


def load_figure(name_or_path: str) -> Figure:
    """The built-in figure or robot of a name, or the figure read from a file."""
    from poise.formats import load

    return load(name_or_path)


def parsed_size(text: str) -> tuple[int, int]:
    """Width and height from a text like 1000x800."""
    found = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text.strip())
    if found is None:
        raise PoiseError(f"--size takes width and height such as 1000x800, not {text!r}.")
    return int(found[1]), int(found[2])


def parsed_posture(text: str, figure: Figure) -> PostureLike | None:
    """A posture from its name, from joint=value pairs, or from a name and then pairs that change it."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        return None
    start = figure.posture(parts.pop(0)) if "=" not in parts[0] else figure.neutral()
    values = dict(_joint_and_values(part) for part in parts)
    return start.changed(values) if values else start


def _joint_and_values(text: str) -> tuple[str, list[float]]:
    joint, equals, values = text.partition("=")
    if not equals:
        raise PoiseError(f"--posture takes joint=value pairs after a posture's name, not {text!r}.")
    return joint.strip(), [_number(value, text) for value in values.split(":")]


def _number(text: str, where: str) -> float:
    """A number; converted to radians if it ends in deg or °."""
    bare = text.strip()
    for ending in ("deg", "°"):
        if bare.endswith(ending):
            return math.radians(_number(bare.removesuffix(ending), where))
    try:
        return float(bare)
    except ValueError:
        raise PoiseError(f"--posture: {text!r} in {where!r} is not a number such as 0.7 or 40deg.") from None
