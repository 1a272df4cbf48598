"""`poise show`: a picture of a figure."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poise.cli.compiling import compiling_noted
from poise.cli.console import answer, remark
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, PostureLike


class View(StrEnum):
    """Sides a figure can be seen from."""

    FRONT = "front"
    SIDE = "side"
    TOP = "top"
    THREE_QUARTER = "three-quarter"


NOTES_SHOWN = 3
FigureArgument = Annotated[
    str, typer.Argument(help="A built-in figure (see: poise figures) or a file: .figure.toml, .urdf, .xml, .bvh, .glb.")
]


def show(
    figure: FigureArgument,
    *,
    posture: Annotated[
        str, typer.Option("--posture", "-p", help="A posture's name, joint=value pairs, or both, with commas between.")
    ] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The picture to write.")] = None,
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "800x800",
    view: Annotated[View, typer.Option(help="The side to look from.")] = View.THREE_QUARTER,
    skeleton: Annotated[bool, typer.Option("--skeleton", help="Draw bones instead of shapes.")] = False,
    collision: Annotated[bool, typer.Option("--collision", help="Draw the shapes that collide.")] = False,
    dark: Annotated[bool, typer.Option("--dark/--light", help="On a dark or a light background.")] = False,
    labels: Annotated[bool, typer.Option("--labels", help="Name the joints and show the sites.")] = False,
) -> None:
    """Draw a figure in a posture, without a window or a browser.

    [bold]poise show human[/] writes human.png.

    [bold]poise show adelino --posture sad -o sad.png --dark[/]

    [bold]poise show human -p "left_elbow=90deg" --view side --labels[/]

    [bold]poise show robot.urdf --skeleton --size 1600x900[/]

    Angles are in radians, or in degrees with deg or ° behind them; a joint with several numbers takes them with colons
    between: hip=0.92:0:0.38:0. Orange discs are joints with a motor, blue ones follow, violet rings close loops.
    """
    pixels = parsed_size(size)
    with compiling_noted():
        from poise.pictures import draw

        chosen = loaded(figure)
        picture = draw(
            chosen,
            parsed_posture(posture, chosen),
            size=pixels,
            view=view.value,
            theme="dark" if dark else "light",
            skeleton=skeleton,
            collision=collision,
            labels=labels,
            folder=folder_of(figure),
        )
    for note in picture.notes[:NOTES_SHOWN]:
        remark(note)
    if len(picture.notes) > NOTES_SHOWN:
        remark(f"… and {len(picture.notes) - NOTES_SHOWN} more like these.")
    answer(str(picture.save(output or f"{chosen.name}.png")))


def loaded(name_or_path: str) -> Figure:
    """The figure of a name or file."""
    from poise.formats import load

    return load(name_or_path)


def folder_of(name_or_path: str) -> Path | None:
    """The folder of a figure that comes from a file."""
    path = Path(name_or_path)
    return path.resolve().parent if path.is_file() else None


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
    values = dict(_pair(part) for part in parts)
    return start.changed(values) if values else start


def _pair(text: str) -> tuple[str, list[float]]:
    joint, equals, values = text.partition("=")
    if not equals:
        raise PoiseError(f"--posture takes joint=value pairs after a posture's name, not {text!r}.")
    return joint.strip(), [_number(value, text) for value in values.split(":")]


def _number(text: str, where: str) -> float:
    """A number, turned into radians where it is given in degrees."""
    bare = text.strip()
    for ending in ("deg", "°"):
        if bare.endswith(ending):
            return math.radians(_number(bare.removesuffix(ending), where))
    try:
        return float(bare)
    except ValueError:
        raise PoiseError(f"--posture: {text!r} in {where!r} is not a number such as 0.7 or 40deg.") from None
