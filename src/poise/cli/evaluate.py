"""`poise evaluate`: the papers' own tables and figures, computed again."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from poise.cli.compiling import compiling_noted
from poise.cli.console import answer, answers, remarks

if TYPE_CHECKING:
    from poise.evaluation.erik import Plan
    from poise.evaluation.tally import Tally

evaluate = typer.Typer(help="Compute a paper's own tables and figures again.", no_args_is_help=True)


class Sampling(StrEnum):
    """How postures and orientations are drawn."""

    GRID = "grid"
    UNIFORM = "uniform"


@evaluate.callback()
def _papers() -> None:
    pass


@evaluate.command()
def erik(
    *,
    samples: Annotated[int, typer.Option(min=1, help="Questions for each skeleton.")] = 20_000,
    skeletons: Annotated[str, typer.Option(help="Which of A to G, as letters.")] = "ABCDEFG",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the report; statistics are kept there too.")
    ] = Path("erik-evaluation"),
    dls: Annotated[bool, typer.Option("--dls/--no-dls", help="Compare with the two-priority DLS on C.")] = True,
    sampling: Annotated[Sampling, typer.Option(help="The paper's grid, or anything in its ranges.")] = Sampling.GRID,
    seed: Annotated[int, typer.Option(min=0, help="Of the samples.")] = 0,
    cuda: Annotated[bool, typer.Option("--cuda", help="Run ERIK on a GPU.")] = False,
) -> None:
    """Evaluate ERIK as its paper does: seven skeletons, tables 8 and 9, figures 10 to 13.

    [bold]poise evaluate erik[/] writes erik-evaluation/report.html on all cores.

    [bold]poise evaluate erik --skeletons CG --samples 1000000[/]

    Stopped half-way, it goes on where it was; with more samples, it adds to those it has.
    """
    with compiling_noted():
        from poise.evaluation.erik import Plan, solve_times
        from poise.evaluation.erik_report import ERRORS_HEAD, errors_table, write_report

    plan = Plan(samples, skeletons, dls, sampling.value, seed, "cuda" if cuda else None)
    output.mkdir(parents=True, exist_ok=True)
    with compiling_noted():
        tallies = _evaluated(plan, output)
        page = write_report(plan, tallies, solve_times(plan, plan.skeletons), output)
    table = Table(box=None, pad_edge=False)
    for k, heading in enumerate(ERRORS_HEAD):
        table.add_column(heading, justify="right" if k else "left", no_wrap=True)
    for row in errors_table(tallies):
        table.add_row(*row)
    answers().print(table)
    answer(f"wrote {page}")


@evaluate.command()
def loops(
    *,
    seconds: Annotated[float, typer.Option(min=0.01, help="Of each motion, at 1200 frames per second.")] = 4.0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the report.")] = Path("loops-evaluation"),
) -> None:
    """Evaluate robots with loops as their paper does: boxer, dancer and walker, table I, figure 6c.

    [bold]poise evaluate loops[/] writes loops-evaluation/report.html within a minute.
    """
    with compiling_noted():
        from poise.evaluation.loops import CASES, built, run
        from poise.evaluation.loops_growth import time_against_bodies, time_against_rate
        from poise.evaluation.loops_report import SHORT, table_1, write_report

        output.mkdir(parents=True, exist_ok=True)
        rows = {name: run(built(name), seconds) for name in CASES}
        page = write_report(rows, time_against_rate(seconds), time_against_bodies(), output)
    table = Table(box=None, pad_edge=False)
    for k, heading in SHORT.items():
        table.add_column(heading, justify="right" if k else "left", no_wrap=True)
    for row in table_1(rows):
        table.add_row(*(row[k].removeprefix("~") for k in SHORT))
    answers().print(table)
    answer(f"loops are open by {max(row.gap for row in rows.values()):.0e} at most")
    answer(f"wrote {page}")


def _evaluated(plan: Plan, output: Path) -> dict[str, Tally]:
    """Run the evaluation under a progress bar for each case."""
    from poise.evaluation.erik import evaluate as run

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=remarks(), transient=True) as progress:
        bars: dict[str, TaskID] = {
            case: progress.add_task(case, total=plan.samples, visible=False) for case in plan.cases()
        }

        def advance(case: str, count: int) -> None:
            progress.update(bars[case], advance=count, visible=True)

        return run(plan, output, advance)
