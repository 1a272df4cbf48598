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
from poise.evaluation.sampling import samples
from poise.expressive.cuda import MAX_CUDA_JOINTS, cuda_module, local_array_size

COUNT = 5
SIMULATED = f"""
import json, numpy, poise
from poise.evaluation.sampling import samples

answers = {{}}
for solver in ("Erik", "Expressive"):
    for letter in "cdg":
        one = getattr(poise, solver)(poise.load("erik_" + letter))
        asked = samples(one.limb, {COUNT}, numpy.random.default_rng(21), "uniform")
        batch = one.solve_batch(asked.postures, asked.orientations, device="cuda")
        answers[solver + letter] = [batch.q.tolist(), batch.error.tolist(), batch.iterations.tolist()]
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


@pytest.mark.parametrize("name", ["Erik", "Expressive"])
@pytest.mark.parametrize("letter", "cdg")
def test_the_cuda_kernels_answer_as_the_cores_do(name: str, letter: str, simulated: dict[str, list]) -> None:
    solver = getattr(poise, name)(poise.load(f"erik_{letter}"))
    asked = samples(solver.limb, COUNT, np.random.default_rng(21), "uniform")
    batch = solver.solve_batch(asked.postures, asked.orientations)
    q, error, iterations = simulated[name + letter]
    assert q == batch.q.tolist()
    assert error == batch.error.tolist()
    assert iterations == batch.iterations.tolist()


@pytest.mark.parametrize("solver", [poise.Erik, poise.Expressive])
def test_a_gpu_agrees_with_the_cores_or_its_absence_is_one_sentence(solver: type) -> None:
    one = solver(poise.load("erik_c"))
    asked = samples(one.limb, 2000, np.random.default_rng(1), "uniform")
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
