"""Compiling in worker processes: the order of the stages, what is refused meanwhile, and a worker that fails."""

import subprocess
import sys
import threading

import pytest

from poise.cli import preparation as module
from poise.cli.preparation import Preparation
from poise.errors import NotReadyError, PoiseError
from poise.kernels.jit import cache, machine_code
from poise.warmup import ALL, LOOK, PULL, PURPOSES, Step, steps

ECHO = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
FAIL = "import sys\nsys.stdin.readline()\nsys.exit('no compiler')"


@pytest.fixture
def worker(monkeypatch, tmp_path):
    """Workers that run a program given as text, and an empty cache."""
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(machine_code, "when_missing", [])

    def use(program: str) -> list[subprocess.Popen[str]]:
        started = []

        def start() -> subprocess.Popen[str]:
            pipe = subprocess.PIPE
            command = [sys.executable, "-c", program]
            started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
            return started[-1]

        monkeypatch.setattr(module, "_worker", start)
        return started

    return use


def test_stages_end_in_order_and_the_last_marks_the_cache_complete(worker):
    worker(ECHO)
    preparation, ended = Preparation(), []
    preparation.on_stage = lambda stage, seconds: ended.append(stage)
    preparation.start()
    preparation.wait_until_over()
    preparation.stop()
    assert sorted(ended) == [LOOK, PULL, ALL]
    assert preparation.times == sorted(preparation.times)
    assert preparation.share() == preparation.share(PULL) == 1.0
    assert cache.marked_complete()
    assert machine_code.when_missing == []


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (3, 3), (64, module.MOST_WORKERS)])
def test_there_are_as_many_workers_as_usable_cores_but_no_more_than_help(worker, monkeypatch, cores, workers):
    started = worker("import sys, time\ntime.sleep(60)")
    monkeypatch.setattr(module, "usable_cores", lambda: cores)
    preparation = Preparation()
    preparation.start()
    assert len(preparation._threads) == workers
    preparation.stop()
    assert len(started) <= workers


def test_more_workers_than_the_longest_step_allows_would_be_idle():
    efforts = [step.effort for step in steps()]
    assert sum(efforts) / max(efforts) < module.MOST_WORKERS


@pytest.mark.parametrize("memory", [module.MUCH_MEMORY - 1.0, module.MUCH_MEMORY + 1.0])
def test_a_worker_that_holds_much_memory_is_replaced(worker, memory):
    started = worker(f"import sys\nfor line in sys.stdin: print(line.strip(), {memory}, sep='\\t', flush=True)")
    preparation = Preparation()
    preparation.start()
    preparation.wait_until_over()
    preparation.stop()
    assert (len(started) >= len(steps())) is (memory > module.MUCH_MEMORY)
    assert all(process.poll() is not None for process in started)


def test_while_workers_compile_a_call_that_lacks_a_kernel_is_refused_and_can_be_repeated(worker):
    worker("import sys\nsys.stdin.readline()\nsys.stdin.readline()")
    preparation = Preparation()
    preparation.start()
    (refuse,) = machine_code.when_missing
    with pytest.raises(NotReadyError, match="works in a moment"):
        refuse("a kernel")
    answers = iter([NotReadyError("not yet"), NotReadyError("not yet"), "done"])

    def call() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            threading.Timer(0.05, preparation._finish, [preparation._left[0]]).start()
            raise answer
        return answer

    preparation._running = {step.what: 0.0 for step in preparation._left}
    assert preparation.patiently(call) == "done"
    preparation.stop()
    assert machine_code.when_missing == []


def test_a_worker_that_fails_ends_the_preparation_and_is_quoted(worker):
    worker(FAIL)
    said = []
    preparation = Preparation()
    preparation.on_problem = said.append
    preparation.start()
    with pytest.raises(PoiseError, match="no compiler"):
        preparation.wait_until_over()
    preparation.stop()
    assert len(said) == 1
    assert machine_code.when_missing == []
    assert not cache.marked_complete()


def test_every_step_has_a_name_of_its_own_and_a_stage():
    every: tuple[Step, ...] = steps()
    assert len({step.what for step in every}) == len(every)
    assert {step.stage for step in every} == set(range(len(PURPOSES)))
