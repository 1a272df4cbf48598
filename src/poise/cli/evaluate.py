"""`poise evaluate`: reproduce the tables and figures of published papers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from poise.cli.cluster import cluster
from poise.cli.console import print_result, stderr, stdout

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from poise.evaluation.erik.cases import Plan
    from poise.evaluation.erik.tally import Statistics


evaluate = typer.Typer(
    help="Reproduce the tables and figures of a published paper.\n\n"
    "[bold]poise evaluate loops[/] writes loops-evaluation/report.html, with the paper's numbers beside ours.",
    no_args_is_help=True,
)


class Sampling(StrEnum):
    """The distribution that test postures and gaze directions are drawn from."""

    GRID = "grid"
    UNIFORM = "uniform"
    EXHAUSTIVE = "exhaustive"


@evaluate.callback()
def _papers() -> None:
    pass


@evaluate.command()
def erik(
    *,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="20000, or all with exhaustive sampling",
            help="Problems to solve for each skeleton.",
        ),
    ] = None,
    skeletons: Annotated[
        str, typer.Option(help="Skeletons of the paper to evaluate, by letter, for example CG.")
    ] = "ABCDEFG",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the report and for the statistics of unfinished runs.")
    ] = Path("erik-evaluation"),
    dls: Annotated[
        bool, typer.Option("--dls/--no-dls", help="Also run two-priority damped least squares on skeleton C.")
    ] = True,
    sampling: Annotated[
        Sampling,
        typer.Option(
            help="Draw problems from the paper's grid, or uniformly from the same ranges, or take the whole grid."
        ),
    ] = Sampling.GRID,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random samples.")] = 0,
    expressive: Annotated[
        bool, typer.Option("--expressive/--no-expressive", help="Also run poise.Expressive on every skeleton.")
    ] = True,
    cuda: Annotated[bool, typer.Option("--cuda", help="Run on an NVIDIA GPU.")] = False,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster whose scheduler has this address."),
    ] = None,
) -> None:
    """Evaluate ERIK on the seven skeletons of its paper: tables 5 to 9, figures 7 to 13.

    [bold]poise evaluate erik[/] uses all cores and writes erik-evaluation/report.html, with CSV and JSON beside it.

    [bold]poise evaluate erik --skeletons CG --samples 1000000[/] evaluates two skeletons with more samples.

    [bold]poise evaluate erik --sampling exhaustive --cuda[/] solves the whole grid on a GPU.

    Run the same command again to continue a run that was stopped, or to add samples to a finished one.
    """
    from poise.evaluation.erik.cases import Plan
    from poise.evaluation.erik.evaluation import solve_times
    from poise.evaluation.erik.report import ERRORS_HEAD, errors_table, write_report

    plan = Plan(samples, skeletons, dls, sampling.value, seed, "cuda" if cuda else None, expressive)
    output.mkdir(parents=True, exist_ok=True)
    with cluster(dask) as executor:
        tallies = _run_with_progress(plan, output, executor)
    page = write_report(plan, tallies, solve_times(plan, plan.skeletons), output)
    table = Table(box=None, pad_edge=False)
    for k, heading in enumerate(ERRORS_HEAD):
        table.add_column(heading, justify="right" if k else "left", no_wrap=True)
    for row in errors_table(tallies):
        table.add_row(*row)
    stdout().print(table)
    print_result(f"wrote {page}")


@evaluate.command()
def loops(
    *,
    seconds: Annotated[
        float, typer.Option(min=0.01, help="Length of each motion in seconds, at 1200 frames per second.")
    ] = 4.0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the report.")] = Path("loops-evaluation"),
) -> None:
    """Evaluate three robots with kinematic loops (boxer, dancer, walker): table I and figure 6c of their paper.

    [bold]poise evaluate loops[/] writes loops-evaluation/report.html; it takes about a minute.
    """
    from poise.evaluation.loops.evaluation import CASES, built, run
    from poise.evaluation.loops.growth import time_against_bodies, time_against_rate
    from poise.evaluation.loops.report import TERMINAL_COLUMNS, table_1, write_report

    output.mkdir(parents=True, exist_ok=True)
    rows = {name: run(built(name), seconds) for name in CASES}
    page = write_report(rows, time_against_rate(seconds), time_against_bodies(), output)
    table = Table(box=None, pad_edge=False)
    for k, heading in TERMINAL_COLUMNS.items():
        table.add_column(heading, justify="right" if k else "left", no_wrap=True)
    for row in table_1(rows):
        table.add_row(*(row[k].removeprefix("~") for k in TERMINAL_COLUMNS))
    stdout().print(table)
    print_result(f"the largest gap of a loop is {max(row.gap for row in rows.values()):.0e} m")
    print_result(f"wrote {page}")


def _run_with_progress(plan: Plan, output: Path, executor: Executor | None) -> dict[str, Statistics]:
    """Run the evaluation and show one progress bar for each skeleton and solver."""
    from poise.evaluation.erik.evaluation import evaluate as run

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr(), transient=True) as progress:
        bars: dict[str, TaskID] = {
            case: progress.add_task(case, total=plan.count(case[0]), visible=False) for case in plan.cases()
        }

        def advance(case: str, count: int) -> None:
            progress.update(bars[case], advance=count, visible=True)

        return run(plan, output, advance, executor)
