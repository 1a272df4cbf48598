"""The evaluation: samples as in the paper, statistics that accumulate, and runs that continue after an interruption."""

from __future__ import annotations

import csv
import json
import math
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import poise
from poise.chains.chain import chain_of
from poise.cli.app import run
from poise.errors import TaskError
from poise.evaluation.erik import cases as erik_cases
from poise.evaluation.erik import evaluation as erik
from poise.evaluation.erik.cases import DLS, EXPRESSIVE, NO_POSTURE, Plan, solve_range
from poise.evaluation.erik.denavit_hartenberg import parameters_of
from poise.evaluation.erik.evaluation import evaluate, solve_times
from poise.evaluation.erik.report import errors_table, table_6, table_8, table_9
from poise.evaluation.erik.sampling import sample_space, samples
from poise.evaluation.erik.tally import Statistics, Tally
from poise.expressive.two_priority import TwoPriorityDls, TwoPrioritySettings
from poise.figure.model.pose import Pose, turn
from poise.kernels.gaze.batch_arrays import BatchSolutions
from poise.kernels.gaze.measures import Scoring
from poise.kernels.gaze.sampling import random_fraction
from poise.kernels.gaze.tally import tally_solutions

ERIK_ONLY = Plan(samples=350, skeletons="AG", expressive=False)


def ignore(case: str, count: int) -> None:
    pass


def same(a: Statistics, b: Statistics) -> bool:
    """Whether two statistics are equal to the last bit; times may differ."""
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a) if name != "seconds")


def grid_orientations() -> np.ndarray:
    """(8000, 4) R(y, heading) R(x, tilt) R(y, roll)."""
    turns = np.linspace(-180.0, 180.0, 20)
    abouts = [[Pose(rotation=turn(axis, angle)) for angle in turns] for axis in "yxy"]
    return np.array([(h @ v @ t).rotation for h in abouts[0] for v in abouts[1] for t in abouts[2]])


def test_orientations_are_heading_then_tilt_then_roll() -> None:
    limb = chain_of(poise.load("erik_a"))
    grid = grid_orientations()
    for made in samples(limb, 50, 3).orientations:
        assert np.abs(grid @ made).max() == pytest.approx(1.0, abs=1e-14)
    assert np.linalg.norm(samples(limb, 50, 3, "uniform").orientations, axis=1) == pytest.approx(1.0, abs=1e-14)


def test_the_grid_has_both_limits_and_leaves_the_outer_twisters_alone() -> None:
    limb = chain_of(poise.load("erik_d"))
    drawn = samples(limb, 4000, 0).postures
    assert set(np.round(np.degrees(drawn[:, 1]), 6)) == set(np.round(np.linspace(-180, 180, 15), 6))
    assert not drawn[:, [0, -1]].any()
    uniform = samples(limb, 4000, 0, "uniform").postures
    assert len(np.unique(uniform[:, 2])) == 4000


def test_exhaustive_sampling_has_every_pair_once_and_its_first_part_is_spread() -> None:
    limb = chain_of(poise.load("erik_a"))
    pairs = sample_space(limb).pairs
    assert pairs == 33 * 20**3
    drawn = samples(limb, pairs, 0, "exhaustive")
    angles = np.round(np.degrees(drawn.postures[:, 1]), 6)
    assert np.unique(angles, return_counts=True)[1].tolist() == [20**3] * 33
    part = np.unique(angles[:1000], return_counts=True)[1]
    assert len(part) == 33
    assert part.min() > 20
    grid, upright = grid_orientations(), drawn.orientations[angles == 0.0]
    for wanted in grid[::397]:  # as often as in the grid, in which a turn has both of its ends
        assert (np.abs(upright @ wanted) > 1.0 - 1e-12).sum() == (np.abs(grid @ wanted) > 1.0 - 1e-12).sum()


def test_random_fractions_are_even_and_independent() -> None:
    drawn = np.array([[random_fraction(5, 2, i, d) for d in range(4)] for i in range(20_000)])
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    bars = np.array([np.histogram(column, bins=20, range=(0.0, 1.0))[0] for column in drawn.T])
    assert ((bars - 1000.0) ** 2 / 1000.0).sum(axis=1).max() < 50.0  # χ² of 19 freedoms exceeds 50 in 1 of 8000
    assert np.abs(np.corrcoef(np.hstack([drawn[:-1], drawn[1:]]).T) - np.eye(8)).max() < 0.03
    assert random_fraction(5, 2, 1 << 40, 0) != random_fraction(5, 2, 0, 0)
    assert random_fraction(6, 2, 0, 0) != random_fraction(5, 2, 0, 0) != random_fraction(5, 3, 0, 0)


def counted(errors: np.ndarray, iterations: np.ndarray, filter_errors: np.ndarray) -> Tally:
    scoring = Scoring(np.ones(1), np.ones(1), 1.0, 0.2, 1)
    tally = Tally()
    solutions = BatchSolutions(np.zeros((len(errors), 1)), errors, iterations)
    tally_solutions(scoring, solutions, filter_errors, 0.25, 0.04, tally.arrays)
    return tally


def test_statistics_add_up_in_any_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    errors, iterations = rng.uniform(0.0, 0.3, (1000, 4)), rng.integers(1, 9, 1000)
    kept = errors[:, 1] <= 0.25
    whole = counted(errors, iterations, errors)
    parts = Tally()
    for rows in np.split(rng.permutation(1000), 4):
        parts = parts.added(counted(errors[rows], iterations[rows], errors[rows]))
        parts.save(tmp_path / "tally.npz")
        parts = Tally.load(tmp_path / "tally.npz")
    assert all(np.array_equal(a, b) for a, b in zip(parts.arrays, whole.arrays, strict=True))
    found = Statistics.of([parts])
    assert (found.asked, found.count) == (1000, kept.sum())
    assert found.mean("posture") == pytest.approx(0.2 * errors[kept, 2].mean(), abs=1e-11)
    assert found.deviation("combined") == pytest.approx(errors[kept, 0].std(), abs=1e-9)
    assert found.largest == pytest.approx(errors[kept].max(axis=0) * [1.0, 1.0, 0.2, 1.0], abs=1e-11)
    assert found.iteration_statistics()[2:] == pytest.approx((iterations[kept].mean(), iterations[kept].std()))
    assert found.bars[1].tolist() == np.histogram(errors[kept, 1], bins=1000, range=(0.0, 1.0))[0].tolist()
    assert found.within == (errors[kept, 0] <= 0.04).sum()


def test_sums_of_a_full_block_of_the_largest_errors_fit() -> None:
    errors = np.full((erik.BLOCK_SAMPLES, 4), 1.7)
    tally = counted(errors, np.full(len(errors), 2000), np.zeros_like(errors))
    found = Statistics.of([tally] * 300)
    assert found.means == pytest.approx([1.7, 1.7, 0.34, 1.7])
    assert found.deviations == pytest.approx(0.0, abs=1e-5)
    assert found.bars[0, -1] == found.count == 300 * erik.BLOCK_SAMPLES


@pytest.mark.parametrize("content", [b"PK half of", b""])
def test_a_file_that_was_cut_short_counts_as_none(tmp_path: Path, content: bytes) -> None:
    broken = tmp_path / "tally.npz"
    broken.write_bytes(content)
    assert Tally.load(broken).asked == 0


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erik, "BLOCK_SAMPLES", 200)
    monkeypatch.setattr(erik, "UNIT_SAMPLES", 100)


@pytest.mark.usefixtures("small_blocks")
def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = evaluate(ERIK_ONLY, tmp_path / "whole", ignore)
    counts: list[int] = []

    def stop(case: str, count: int) -> None:
        counts.append(count)
        if len([count for count in counts if count]) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(ERIK_ONLY, tmp_path / "parts", stop)
    added: dict[str, list[int]] = {}
    parts = evaluate(ERIK_ONLY, tmp_path / "parts", lambda case, n: added.setdefault(case, []).append(n))
    assert added["A"] == [200, 0, 100, 50]  # the unit that was interrupted was not saved yet
    assert added["G"] == [0, 0, 100, 100, 100, 50]
    assert all(same(parts[case], whole[case]) for case in ("A", "G"))


@pytest.mark.usefixtures("small_blocks")
def test_fewer_samples_than_before_gives_just_those_and_loses_nothing(tmp_path: Path) -> None:
    few = evaluate(Plan(samples=130, skeletons="G", expressive=False), tmp_path / "few", ignore)
    many = evaluate(ERIK_ONLY, tmp_path / "both", ignore)
    again = evaluate(Plan(samples=130, skeletons="G", expressive=False), tmp_path / "both", ignore)
    assert again["G"].count == 130
    assert same(again["G"], few["G"])
    solved: list[int] = []
    kept = evaluate(ERIK_ONLY, tmp_path / "both", lambda _, count: solved.append(count))
    assert sum(solved) == 700  # all from files
    assert same(kept["G"], many["G"])


def test_statistics_are_named_after_all_that_changes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [
        Plan(seed=seed, sampling=sampling).key(case)
        for seed in (0, 1)
        for sampling in ("grid", "uniform")
        for case in ("A", "C", "C-DLS100", "C-DLS200", "C-Expressive")
    ]
    assert Plan(samples=5, skeletons="C").key("C") == Plan().key("C")
    read = erik_cases.dependencies("gaze/erik/batch.py")
    assert {"gaze/erik/phases.py", "gaze/measures.py", "chains/chain.py"} <= read
    monkeypatch.setattr(erik_cases, "_code_digest", lambda: "another solver")
    keys.append(Plan().key("A"))
    monkeypatch.setattr(erik_cases, "THRESHOLD", 0.05)
    keys.append(Plan().key("A"))
    assert len(set(keys)) == len(keys) == 22


class Backwards(Executor):
    """Computes the last unit first; the third one fails the first time."""

    def __init__(self) -> None:
        self.pool, self.waiting = ThreadPoolExecutor(1), []

    def submit(self, function, /, *arguments):  # type: ignore[no-untyped-def]
        future: Future = Future()
        self.waiting.append((future, function, arguments))
        if len(self.waiting) == 8:
            for future_, work, given in reversed(self.waiting):
                self.pool.submit(lambda f=future_, w=work, g=given: f.set_result(w(*g)))
        return future


@pytest.mark.usefixtures("small_blocks")
def test_any_executor_computes_the_units_in_any_order(tmp_path: Path) -> None:
    alone = evaluate(ERIK_ONLY, tmp_path / "alone", ignore)
    executor = Backwards()
    shared = evaluate(ERIK_ONLY, tmp_path / "shared", ignore, executor)
    executor.pool.shutdown()
    assert len(executor.waiting) == 8
    assert all(same(shared[case], alone[case]) for case in alone)
    files = sorted(path.relative_to(tmp_path / "alone") for path in (tmp_path / "alone").rglob("*.npz"))
    assert files == sorted(path.relative_to(tmp_path / "shared") for path in (tmp_path / "shared").rglob("*.npz"))


def test_one_run_of_the_longest_dls_gives_the_shorter_ones() -> None:
    together = solve_range(Plan(), "C", tuple(DLS), 0, 200)
    for case, steps in DLS.items():
        solver = TwoPriorityDls(poise.load("erik_c"), settings=TwoPrioritySettings(iterations=steps))
        drawn = samples(solver.limb, 200, 0)
        assert (
            solve_range(Plan(), "C", (case,), 0, 200)[case].arrays.sums.tolist() == together[case].arrays.sums.tolist()
        )
        batch = solver.solve_batch(drawn.postures[:3], drawn.orientations[:3])
        assert batch.iterations.max() <= steps
    most = [np.flatnonzero(together[case].arrays.iterations)[-1] for case in DLS]
    assert most == list(DLS.values())


@pytest.mark.parametrize("letter", "abcdefg")
def test_denavit_hartenberg_parameters_give_the_places_of_the_tip(letter: str) -> None:
    figure = poise.load(f"erik_{letter}")
    limb = chain_of(figure)
    rng = np.random.default_rng(4)
    tips = []
    for _ in range(5):
        angles = rng.uniform(-1.5, 1.5, len(limb.joints))
        frame = np.eye(4)
        for row, angle in zip(parameters_of(limb), angles, strict=True):
            (c, s), (ca, sa) = ((math.cos(x), math.sin(x)) for x in (row.theta + angle, row.alpha))
            frame = frame @ [
                [c, -s * ca, s * sa, row.a * c],
                [s, c * ca, -c * sa, row.a * s],
                [0, sa, ca, row.d],
                [0, 0, 0, 1],
            ]
        q = figure.neutral().q.copy()
        q[limb.places] = angles
        tips.append((figure.pose_of("tip", q).position, frame[:3, 3]))
    ours, theirs = (np.array(part) for part in zip(*tips, strict=True))
    # Equal up to the frame of the base: all distances and the heights along the first axis agree.
    apart = [np.linalg.norm(part[:, None] - part[None], axis=2) for part in (ours, theirs)]
    np.testing.assert_allclose(apart[0], apart[1], atol=1e-12)
    np.testing.assert_allclose(ours[:, 1], theirs[:, 2], atol=1e-12)


def test_table_6_has_the_lengths_of_the_paper() -> None:
    for row in table_6():
        assert row[5] == row[6].removeprefix("~")
        assert row[7] == row[8].removeprefix("~")


def test_skeleton_c_is_compared_with_dls_on_what_the_filter_keeps(tmp_path: Path) -> None:
    found = evaluate(Plan(samples=300, skeletons="c"), tmp_path, ignore)
    assert list(found) == ["C", NO_POSTURE, *DLS, "C" + EXPRESSIVE]
    assert found["C" + EXPRESSIVE].largest[1] < 1e-6
    assert found["C"].count == 300
    assert 240 < found[NO_POSTURE].count < 300
    assert {found[case].count for case in DLS} == {found[NO_POSTURE].count}
    assert found["C"].mean("combined") < 0.5 * found["C-DLS400"].mean("combined")
    assert [row[0] for row in table_9(found)] == ["ERIK", "DLS100", "DLS200", "DLS400", "Expressive"]
    assert [row[0] for row in errors_table(found)] == ["C", *DLS, "C-Expressive"]
    times = solve_times(Plan(samples=300, skeletons="C"), "C", count=20)
    assert (times["C-DLS400"] >= 0.0).all()  # a coarse clock may read nought for one solve
    row = table_8(found, times)[0]
    assert row[2:5] == ["~28,830,501", "1", "~1"]
    assert row[8] == "~2.31"
    assert row[12::2] == ["~6,000", "~1,165,000", "~37,000", "~36,000"]
    least, most, mean = (float(cell) for cell in row[11:17:2])
    assert 0.0 <= least <= mean <= most


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"samples": 0}, r"at least one sample of each skeleton, not 0"),
        ({"skeletons": "CX"}, r"the skeletons are A, B, C, D, E, F, G; 'CX' names others or none"),
        ({"skeletons": ""}, r"'' names others or none"),
        ({"sampling": "random"}, r"one of grid, uniform, exhaustive, not 'random'"),
    ],
)
def test_plans_that_evaluate_nothing_are_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(TaskError, match=sentence):
        Plan(**arguments)  # type: ignore[arg-type]


def test_the_command_writes_one_page_and_its_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "erik", "--samples", "200", "--skeletons", "ce", "-o", str(tmp_path / "report")]) == 0
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert page.count("<img") == 8
    for number in range(5, 10):
        assert f"(table {number})" in page
        written = (tmp_path / "report" / f"table_{number}.csv").read_text(encoding="utf-8")
        rows = list(csv.reader(written.splitlines()))
        assert len({len(row) for row in rows}) == 1
        assert len(set(rows[0])) == len(rows[0])
    stored = json.loads((tmp_path / "report" / "evaluation.json").read_text(encoding="utf-8"))
    assert sum(stored["cases"]["E-Expressive"]["errors"]["shape"]["histogram"]) == 200
    assert "0.0871" in page
    assert "~" not in page.split("</style>")[1].split("base64")[0]
    for number in range(7, 14):
        assert (tmp_path / "report" / f"figure_{number}.png").read_bytes().startswith(b"\x89PNG")
    assert "report.html" in capsys.readouterr().out
    assert run(["evaluate", "erik", "--skeletons", "Q", "-o", str(tmp_path)]) == 2
