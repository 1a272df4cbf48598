"""The evaluation on a Dask cluster: a real scheduler with two worker processes, one of which dies half-way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from poise.cli.app import run
from poise.evaluation.erik import evaluation as erik
from poise.evaluation.erik.cases import Plan
from poise.evaluation.erik.evaluation import evaluate

PLAN = Plan(samples=40_000, skeletons="CG", dls=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own, when a worker dies
def test_nothing_is_lost_when_one_of_two_workers_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="needs poise[dask]")
    monkeypatch.setattr(erik, "UNIT_SAMPLES", 2_000)
    alone = evaluate(PLAN, tmp_path / "alone", lambda case, count: None)
    killed: list[int] = []
    done: list[int] = []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 2

        def kill_one(case: str, count: int) -> None:
            done.append(count)
            if sum(done) > 80_000 and not killed:
                killed.append(next(iter(workers.values())))
                os.kill(killed[0], signal.SIGKILL)

        shared = evaluate(PLAN, tmp_path / "shared", kill_one, client.get_executor(pure=False, retries=3))
        assert killed[0] not in client.run(os.getpid).values()
    assert 80_000 < sum(done) == 160_000
    for case, row in alone.items():
        assert row.asked == shared[case].asked == 40_000
        np.testing.assert_array_equal(row.bars, shared[case].bars)
        np.testing.assert_array_equal(row.means, shared[case].means)


def test_a_scheduler_that_is_not_there_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="needs poise[dask]")
    monkeypatch.setattr("poise.cli.cluster.CONNECTION_TIMEOUT", 0.5)
    given = ["evaluate", "erik", "--samples", "5", "-o", str(tmp_path)]
    assert run([*given, "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "there is no Dask scheduler at" in capsys.readouterr().err
    assert run([*given, "--dask", "nonsense address"]) == 2
    assert "there is no Dask scheduler at" in capsys.readouterr().err
