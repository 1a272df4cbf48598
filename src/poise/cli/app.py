"""The commands, and how they fail: in one sentence, without a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import poise
from poise.cli.console import answer, complain
from poise.cli.evaluate import evaluate
from poise.cli.figures import convert, describe, figures
from poise.cli.kernels import compile_kernels
from poise.cli.play import play
from poise.cli.retarget import retarget
from poise.cli.show import show
from poise.cli.solve import solve
from poise.cli.studio import studio
from poise.errors import PoiseError

WRONG_QUESTION = 2
READER_GONE = 141
INTERRUPTED = 130

app = typer.Typer(
    name="poise",
    help="Inverse kinematics for expressive characters and robots.",
    epilog="Try: poise figures · poise show human · poise studio",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        answer(f"poise {poise.__version__}")
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
    """Print the version."""
    _print_version(wanted=True)


app.command()(figures)
app.command()(show)
app.command()(describe)
app.command()(convert)
app.command()(solve)
app.command()(play)
app.command()(retarget)
app.command()(studio)
app.add_typer(evaluate, name="evaluate")
app.command("compile")(compile_kernels)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code."""
    try:
        code = app(args=list(arguments), prog_name="poise", standalone_mode=True)
        sys.stdout.flush()
    except SystemExit as end:
        return _flushed(end.code)
    except PoiseError as problem:
        complain(str(problem))
    except BrokenPipeError:
        return _reader_gone()
    except KeyboardInterrupt:
        complain("stopped.")
        return INTERRUPTED
    except OSError as problem:
        complain(_sentence(problem))
    else:
        return int(code or 0)
    return WRONG_QUESTION


def _flushed(code: object) -> int:
    """The exit code of a command that ended, once its last output has left."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_gone()
    if code == INTERRUPTED:
        complain("stopped.")
    return code if isinstance(code, int) else int(code is not None)


def _reader_gone() -> int:
    """Whoever read our output has closed it: write no more, not even when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    complain("nobody reads the output any more; stopped.")
    return READER_GONE


def _sentence(problem: OSError) -> str:
    what = f"{str(problem.filename)!r}: " if problem.filename is not None else ""
    return f"{what}{(problem.strerror or str(problem)).lower()}."
