"""`poise solve`: solve the inverse kinematics problem of a scene file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from poise.cli.console import print_note, print_result, stdout
from poise.cli.show import NOTES_SHOWN, View, parsed_posture, parsed_size
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.engine.result import Result, Row
    from poise.engine.scene import Scene

STATUS_COLORS = {"solved": "green", "compromised": "yellow", "unreachable": "yellow", "stalled": "red"}


def solve(
    scene: Annotated[Path, typer.Argument(help="A scene file (TOML): a figure and its tasks.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the posture as a JSON file of joint values.")
    ] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="Write a picture of the solved scene.")] = None,
    start: Annotated[
        str, typer.Option("--start", help="Start from a named posture, joint=value pairs, or a .json file.")
    ] = "",
    max_steps: Annotated[int | None, typer.Option(min=1, help="Largest number of solver steps.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0.0, help="Largest error at which a task counts as met, in metres or radians.")
    ] = None,
    size: Annotated[str, typer.Option(help="Width and height of the picture in pixels.")] = "800x800",
    view: Annotated[View, typer.Option(help="Side the picture is drawn from.")] = View.THREE_QUARTER,
    dark: Annotated[bool, typer.Option("--dark/--light", help="Background of the picture.")] = False,
) -> None:
    r"""Find the posture that best meets the tasks of a scene, and report which tasks were met and why others were not.

    A scene is a text file. For example reach.toml, which reaches for a point (in metres, y up) without falling over:

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

    [bold]poise solve reach.toml -o posture.json --picture reach.png[/] also writes the posture and a picture.

    [bold]poise solve reach.toml --start crouching --max-steps 500[/] starts from another posture.

    A task out of reach is a result, not an error: the exit code is 0 unless a file or an option is wrong.
    """
    pixels = parsed_size(size)
    from poise.engine.scene import Scene
    from poise.figures import BUILT_IN

    if str(scene) in BUILT_IN:
        raise PoiseError(f"poise solve takes a scene file; {scene} is a figure, which poise show {scene} draws.")
    problem = Scene.load(scene)
    result = problem.solve(**_solve_options(problem, start, max_steps, tolerance))
    _print_report(problem, result)
    if output is not None:
        from poise.formats.table.posture_json import write_posture

        write_posture(result.posture, output)
        print_result(str(output))
    if picture is not None:
        from poise.pictures import draw_scene

        drawn = draw_scene(problem, result.posture, size=pixels, view=view.value, theme="dark" if dark else "light")
        for note in drawn.notes[:NOTES_SHOWN]:
            print_note(note)
        print_result(str(drawn.save(picture)))


def _solve_options(scene: Scene, start: str, max_steps: int | None, tolerance: float | None) -> dict[str, Any]:
    """Keyword arguments for `poise.solve`, without the options that were not given."""
    from poise.formats.table.posture_json import read_posture

    options: dict[str, Any] = {"max_steps": max_steps, "tolerance": tolerance}
    if start.lower().endswith(".json"):
        options["start"] = read_posture(start, scene.figure)
    elif start:
        options["start"] = parsed_posture(start, scene.figure)
    return {name: value for name, value in options.items() if value is not None}


def _print_report(scene: Scene, result: Result) -> None:
    """Print the report: a coloured table on a terminal, plain lines without a width limit elsewhere."""
    from poise.engine.result import headline, limits_line, rows

    console = stdout()
    if scene.description:
        console.print(Text(scene.description, style="bold"))
    if not console.is_terminal:
        print_result(result.report())
        return
    console.print(Text(headline(result), style=STATUS_COLORS[result.status]))
    console.print(_table(rows(result)))
    if limits := limits_line(result):
        console.print(Text(limits, style="dim"))


def _table(rows: list[Row]) -> Table:
    from poise.engine.result import HEADINGS

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading == "error" else "left")
    for row in rows:
        *facts, outcome = row
        table.add_row(*(Text(fact) for fact in facts), Text(outcome, style="green" if outcome == "met" else "yellow"))
    return table
