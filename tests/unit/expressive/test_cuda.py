"""Batches on a GPU: the CUDA kernels in numba's simulator, and the error without a GPU.

Plain Python, the CPU and the GPU round every operation alike, so that all three give the same solution to the last bit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import poise
from poise.errors import TaskError
from poise.evaluation.erik.cases import Plan, solve_range
from poise.evaluation.erik.sampling import Sampling, samples
from poise.expressive.cuda import MAX_CUDA_JOINTS, cuda_module, local_array_size
from poise.expressive.two_priority import TwoPriorityDls

COUNT = 5
CASES = {"C": ("C", "C-DLS100_nopost", "C-DLS100", "C-DLS200", "C-Expressive"), "A": ("A",)}
SOLVERS = [poise.Erik, poise.Expressive, TwoPriorityDls]
SIMULATED = f"""
import json, numpy, poise
from poise.evaluation.erik.sampling import samples
from poise.evaluation.erik.cases import Plan, solve_range
from poise.expressive.two_priority import TwoPriorityDls

answers = {{}}
for sampling in ("grid", "uniform", "exhaustive"):
    for letter, cases in {CASES}.items():
        tallies = solve_range(Plan(sampling=sampling, seed=3, device="cuda"), letter, cases, 7, 17)
        answers[sampling + letter] = [[part.tolist() for part in tallies[case].arrays] for case in cases]
for solver in (poise.Erik, poise.Expressive, TwoPriorityDls):
    for letter in "cdg":
        one = solver(poise.load("erik_" + letter))
        asked = samples(one.limb, {COUNT}, 21, "uniform")
        batch = one.solve_batch(asked.postures, asked.orientations, device="cuda")
        answers[solver.__name__ + letter] = [batch.q.tolist(), batch.error.tolist(), batch.iterations.tolist()]
print(json.dumps(answers))
"""


def has_gpu() -> bool:
    try:
        cuda_module()
    except TaskError:
        return False
    return True


@pytest.fixture(scope="module")
def simulated() -> dict[str, list]:
    """The solutions of the CUDA kernels in numba's simulator, which runs them as plain Python."""
    simulator = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED], env=simulator, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("made", SOLVERS)
@pytest.mark.parametrize("letter", "cdg")
def test_the_cuda_kernels_answer_as_the_cores_do(made: type, letter: str, simulated: dict[str, list]) -> None:
    solver = made(poise.load(f"erik_{letter}"))
    asked = samples(solver.limb, COUNT, 21, "uniform")
    batch = solver.solve_batch(asked.postures, asked.orientations)
    q, error, iterations = simulated[made.__name__ + letter]
    assert q == batch.q.tolist()
    assert error == batch.error.tolist()
    assert iterations == batch.iterations.tolist()


@pytest.mark.parametrize("sampling", ["grid", "uniform", "exhaustive"])
@pytest.mark.parametrize("letter", list(CASES))
def test_samples_and_statistics_on_a_gpu_are_those_of_the_cores(
    sampling: Sampling, letter: str, simulated: dict[str, list]
) -> None:
    tallies = solve_range(Plan(sampling=sampling, seed=3), letter, CASES[letter], 7, 17)
    here = [[part.tolist() for part in tallies[case].arrays] for case in CASES[letter]]
    assert simulated[sampling + letter] == here
    assert here[0][0][0] == 10


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_gpu_agrees_with_the_cores_or_its_absence_is_one_sentence(solver: type) -> None:
    one = solver(poise.load("erik_c"))
    asked = samples(one.limb, 2000, 1, "uniform")
    if has_gpu():
        there = one.solve_batch(asked.postures, asked.orientations, device="cuda")
        here = one.solve_batch(asked.postures, asked.orientations)
        np.testing.assert_array_equal(there.q, here.q)
        np.testing.assert_array_equal(there.error, here.error)
        return
    with pytest.raises(
        TaskError, match=r"^device='cuda' needs an NVIDIA GPU .*; omit device to use the CPU\.$"
    ) as told:
        one.solve_batch(asked.postures, asked.orientations, device="cuda")
    assert "\n" not in str(told.value)


def test_rooms_are_powers_of_two_and_long_chains_are_refused() -> None:
    assert [local_array_size(n) for n in (1, 4, 5, 8, 9)] == [4, 4, 8, 8, 16]
    with pytest.raises(TaskError, match=rf"up to {MAX_CUDA_JOINTS} joints, not {MAX_CUDA_JOINTS + 1}"):
        local_array_size(MAX_CUDA_JOINTS + 1)
