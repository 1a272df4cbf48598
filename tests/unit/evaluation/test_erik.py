"""The evaluation: samples as in the paper, statistics that accumulate, and runs that continue after an interruption."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.cli.app import run
from poise.errors import TaskError
from poise.evaluation import erik
from poise.evaluation.erik import DLS, NO_POSTURE, Plan, evaluate, solve_times
from poise.evaluation.erik_report import errors_table, table_8, table_9
from poise.evaluation.sampling import samples, turned
from poise.evaluation.tally import Tally
from poise.figure.model.pose import Pose, turn


def ignore(case: str, count: int) -> None:
    pass


def test_orientations_are_heading_then_tilt_then_roll() -> None:
    made = turned(np.array([0.3]), np.array([-2.0]), np.array([1.2]))[0]
    degrees = np.degrees([0.3, -2.0, 1.2])
    steps = (turn("y", degrees[0]), turn("x", degrees[1]), turn("y", degrees[2]))
    heading, tilt, roll = (Pose(rotation=rotation) for rotation in steps)
    assert abs((heading @ tilt @ roll).rotation @ made) == pytest.approx(1.0, abs=1e-14)


def test_the_grid_has_both_limits_and_leaves_the_outer_twisters_alone() -> None:
    limb = chain_of(poise.load("erik_d"))
    drawn = samples(limb, 4000, np.random.default_rng(0)).postures
    assert set(np.round(np.degrees(drawn[:, 1]), 6)) == set(np.round(np.linspace(-180, 180, 15), 6))
    assert not drawn[:, [0, -1]].any()
    uniform = samples(limb, 4000, np.random.default_rng(0), "uniform").postures
    assert len(np.unique(uniform[:, 2])) == 4000


def test_statistics_add_up_block_by_block(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    errors, iterations = rng.uniform(0.0, 0.3, (1000, 4)), rng.integers(1, 9, 1000)
    whole, parts = Tally(), Tally()
    whole.add(errors, iterations, asked=1200, threshold=0.04)
    for block in range(4):
        rows = slice(250 * block, 250 * (block + 1))
        parts.add(errors[rows], iterations[rows], asked=300, threshold=0.04)
        parts.save(tmp_path / "tally.npz")
        parts = Tally.load(tmp_path / "tally.npz")
    assert parts.blocks == 4
    assert parts.asked == whole.asked == 1200
    assert parts.mean("posture") == pytest.approx(errors[:, 2].mean(), abs=1e-14)
    assert parts.deviation("combined") == pytest.approx(errors[:, 0].std(), abs=1e-14)
    assert parts.iteration_statistics() == pytest.approx(whole.iteration_statistics())
    assert parts.iteration_statistics()[2:] == pytest.approx((iterations.mean(), iterations.std()))
    np.testing.assert_array_equal(parts.bars, whole.bars)
    assert parts.bars[1].sum() == 1000
    assert parts.within == (errors[:, 0] <= 0.04).sum()


def test_a_file_that_was_cut_short_counts_as_none(tmp_path: Path) -> None:
    broken = tmp_path / "tally.npz"
    broken.write_bytes(b"PK half of")
    assert Tally.load(broken).blocks == 0


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erik, "BLOCK_SAMPLES", 100)
    whole = evaluate(Plan(samples=350, skeletons="AG"), tmp_path / "whole", ignore)
    counts: list[int] = []

    def stop(case: str, count: int) -> None:
        counts.append(count)
        if len(counts) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(Plan(samples=350, skeletons="AG"), tmp_path / "parts", stop)
    added: dict[str, list[int]] = {}
    parts = evaluate(
        Plan(samples=350, skeletons="AG"), tmp_path / "parts", lambda case, n: added.setdefault(case, []).append(n)
    )
    assert added["A"] == [300, 50]
    assert added["G"] == [0, 100, 100, 100, 50]
    for case in ("A", "G"):
        assert parts[case].mean("combined") == whole[case].mean("combined")
        np.testing.assert_array_equal(parts[case].bars, whole[case].bars)


def test_skeleton_c_is_compared_with_dls_on_what_the_filter_keeps(tmp_path: Path) -> None:
    found = evaluate(Plan(samples=300, skeletons="c"), tmp_path, ignore)
    assert list(found) == ["C", NO_POSTURE, *DLS]
    assert found["C"].count == 300
    assert 240 < found[NO_POSTURE].count < 300
    assert {found[case].count for case in DLS} == {found[NO_POSTURE].count}
    assert found["C"].mean("combined") < 0.5 * found["C-DLS400"].mean("combined")
    assert [row[0] for row in table_9(found)] == ["ERIK", "DLS100", "DLS200", "DLS400"]
    assert [row[0] for row in errors_table(found)] == ["C", *DLS]
    times = solve_times(Plan(samples=300, skeletons="C"), "C", count=20)
    assert (times["C-DLS400"] >= 0.0).all()  # a coarse clock may read nought for one solve
    row = table_8(found, times)[0]
    assert row[3] == "~2.31"
    assert float(row[8]) >= 0.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"samples": 0}, r"at least one sample of each skeleton, not 0"),
        ({"skeletons": "CX"}, r"the skeletons are A, B, C, D, E, F, G; 'CX' names others or none"),
        ({"skeletons": ""}, r"'' names others or none"),
        ({"sampling": "random"}, r"the sampling is grid or uniform, not 'random'"),
    ],
)
def test_plans_that_evaluate_nothing_are_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(TaskError, match=sentence):
        Plan(**arguments)  # type: ignore[arg-type]


def test_the_command_writes_one_page_and_its_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "erik", "--samples", "200", "--skeletons", "ce", "-o", str(tmp_path / "report")]) == 0
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert page.count("<img") == 4
    assert "0.0871" in page
    assert "~" not in page.split("</style>")[1].split("base64")[0]
    for number in (10, 11, 12, 13):
        assert (tmp_path / "report" / f"figure_{number}.png").read_bytes().startswith(b"\x89PNG")
    assert "report.html" in capsys.readouterr().out
    assert run(["evaluate", "erik", "--skeletons", "Q", "-o", str(tmp_path)]) == 2
