"""Shares the questions of a benchmark out among processes; no answer depends on how many there are."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context
from typing import TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def parser_of(what: str | None) -> argparse.ArgumentParser:
    """A parser of the arguments that all these benchmarks have; `what` is the docstring of the benchmark."""
    parser = argparse.ArgumentParser(description=(what or "").partition("\n")[0])
    parser.add_argument("--cores", type=int, default=1, help="number of processes")
    parser.add_argument("--first", type=int, default=0, help="first seed, to continue where an earlier run ended")
    return parser


def answers(
    answer: Callable[[Question], Answer], questions: Iterable[Question], cores: int, *, at_a_time: int = 1
) -> Iterator[Answer]:
    """The answers to questions in their order, from as many processes.

    Every process is a fresh interpreter with one thread, also if there is only one, so that all work alike.

    Args:
        answer: A function of a module, which the processes import.
        questions: What it is given.
        cores: Number of processes.
        at_a_time: How many questions a process is given at once; more than one where answers are quick.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    with get_context("spawn").Pool(cores) as pool:
        yield from pool.imap(answer, questions, chunksize=at_a_time)
