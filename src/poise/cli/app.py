"""The list of commands; an error is printed as one sentence, without a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import poise
from poise.cli.console import print_error, print_result
from poise.cli.doctor import doctor
from poise.cli.evaluate import evaluate
from poise.cli.figures import convert, describe, figures, robots
from poise.cli.kernels import compile_kernels
from poise.cli.play import play
from poise.cli.retarget import convert_motion, retarget
from poise.cli.serve import serve
from poise.cli.show import show
from poise.cli.solve import solve
from poise.cli.studio import studio
from poise.errors import PoiseError

EXIT_BAD_INPUT = 2
EXIT_BROKEN_PIPE = 141
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="poise",
    help="Inverse kinematics for expressive characters and robots: joint angles that put hands, feet and gaze where "
    "you want them, inside all joint limits.",
    epilog="Start with: poise figures · poise show human · poise studio · poise COMMAND --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_result(f"poise {poise.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def version() -> None:
    """Print the version.

    [bold]poise version[/] prints one line such as: poise 0.1.0
    """
    _print_version(wanted=True)


app.command()(figures)
app.command()(robots)
app.command()(show)
app.command()(describe)
app.command()(convert)
app.command()(solve)
app.command()(play)
app.command()(retarget)
app.command("convert-motion")(convert_motion)
app.command()(studio)
app.command()(serve)
app.add_typer(evaluate, name="evaluate")
app.command("compile")(compile_kernels)
app.command()(doctor)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code."""
    try:
        code = app(args=list(arguments), prog_name="poise", standalone_mode=True)
        sys.stdout.flush()
    except SystemExit as end:
        return _flush_and_return(end.code)
    except PoiseError as problem:
        print_error(str(problem))
    except BrokenPipeError:
        return _stop_output()
    except KeyboardInterrupt:
        print_error("stopped.")
        return EXIT_INTERRUPTED
    except OSError as problem:
        print_error(_os_error_sentence(problem))
    else:
        return int(code or 0)
    return EXIT_BAD_INPUT


def _flush_and_return(code: object) -> int:
    """Write out what is still buffered, then return the exit code of a command that called `sys.exit`."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _stop_output()
    if code == EXIT_INTERRUPTED:
        print_error("stopped.")
    if isinstance(code, str):  # a command that was stopped, and says what it has kept
        print_error(code)
        return EXIT_INTERRUPTED
    return code if isinstance(code, int) else int(code is not None)


def _stop_output() -> int:
    """Send all further output to the null device, because the program that read ours has closed the pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    print_error("the program that was reading this output closed it; stopped.")
    return EXIT_BROKEN_PIPE


def _os_error_sentence(problem: OSError) -> str:
    what = f"{str(problem.filename)!r}: " if problem.filename is not None else ""
    return f"{what}{(problem.strerror or str(problem)).lower()}."
