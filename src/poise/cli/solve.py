"""`poise solve`: the posture that a scene asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from poise.cli.compiling import compiling_noted
from poise.cli.console import answer, answers, remark
from poise.cli.show import NOTES_SHOWN, View, parsed_posture, parsed_size

if TYPE_CHECKING:
    from poise.engine.report import Row
    from poise.engine.result import Result
    from poise.engine.scene import Scene

COLORS = {"solved": "green", "compromised": "yellow", "unreachable": "yellow", "stalled": "red"}


def solve(
    scene: Annotated[Path, typer.Argument(help="A scene file: a figure and what is asked of it.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the posture as JSON, values by joint.")
    ] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Draw the scene.")] = None,
    start: Annotated[
        str, typer.Option("--start", help="Start from a posture's name, joint=value pairs, or a .json file.")
    ] = "",
    max_steps: Annotated[int | None, typer.Option(min=1, help="Most steps to take.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0.0, help="Error that still counts as met, in metres or radians.")
    ] = None,
    size: Annotated[str, typer.Option(help="Width and height of the picture in pixels.")] = "800x800",
    view: Annotated[View, typer.Option(help="The side the picture is seen from.")] = View.THREE_QUARTER,
    dark: Annotated[bool, typer.Option("--dark/--light", help="Draw on a dark or a light background.")] = False,
) -> None:
    r"""Find the posture that a scene asks for, and say which task was met and which gave way.

    A scene is a text file, for example reach.toml:

        figure = "human"

        [\[task]]
        kind = "center_of_mass"
        over = ["left_foot", "right_foot"]

        [\[task]]
        kind = "position"
        site = "right_hand"
        at = [-0.4, 1.2, 0.6]
        priority = 2

    [bold]poise solve reach.toml[/] prints the report.

    [bold]poise solve reach.toml -o posture.json --picture reach.png[/]

    [bold]poise solve reach.toml --start crouching --max-steps 500[/]

    A task out of reach is an answer, not a failure: the exit code is 0 unless the file is wrong.
    """
    pixels = parsed_size(size)
    with compiling_noted():
        from poise.engine.scene import Scene

        asked = Scene.load(scene)
        result = asked.solve(**_options(asked, start, max_steps, tolerance))
        _print_report(asked, result)
        if output is not None:
            from poise.formats.table.posture_json import write_posture

            write_posture(result.posture, output)
            answer(str(output))
        if picture is not None:
            from poise.pictures import draw_scene

            drawn = draw_scene(asked, result.posture, size=pixels, view=view.value, theme="dark" if dark else "light")
            for note in drawn.notes[:NOTES_SHOWN]:
                remark(note)
            answer(str(drawn.save(picture)))


def _options(scene: Scene, start: str, max_steps: int | None, tolerance: float | None) -> dict[str, Any]:
    """Options of `poise.solve`, those that were given."""
    from poise.formats.table.posture_json import read_posture

    options: dict[str, Any] = {"max_steps": max_steps, "tolerance": tolerance}
    if start.lower().endswith(".json"):
        options["start"] = read_posture(start, scene.figure)
    elif start:
        options["start"] = parsed_posture(start, scene.figure)
    return {name: value for name, value in options.items() if value is not None}


def _print_report(scene: Scene, result: Result) -> None:
    """The report: a table on a terminal, plain lines of any length elsewhere."""
    from poise.engine.report import headline, limits_line, rows

    console = answers()
    if scene.description:
        console.print(Text(scene.description, style="bold"))
    if not console.is_terminal:
        answer(result.report())
        return
    console.print(Text(headline(result), style=COLORS[result.status]))
    console.print(_table(rows(result)))
    if limits := limits_line(result):
        console.print(Text(limits, style="dim"))


def _table(rows: list[Row]) -> Table:
    from poise.engine.report import HEADINGS

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading == "error" else "left")
    for row in rows:
        *facts, outcome = row
        table.add_row(*(Text(fact) for fact in facts), Text(outcome, style="green" if outcome == "met" else "yellow"))
    return table
