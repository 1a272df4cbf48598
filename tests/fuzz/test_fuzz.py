"""A short, fixed share of the fuzzing: every seed, then some hundred mutations per format."""

import pytest

from poise.errors import FormatError
from tests.fuzz.corpus import seeds
from tests.fuzz.targets import READERS, TARGETS
from tests.fuzz.worker import failure_of, fuzz

CASES = [(target, name) for target in TARGETS for name in seeds(target)]
RUNS = 300


@pytest.mark.parametrize(("target", "name"), CASES, ids=[f"{target}-{name}" for target, name in CASES])
def test_good_seeds_are_read_and_bad_ones_refused(target: str, name: str) -> None:
    data = seeds(target)[name]
    if name.startswith("good"):
        READERS[target](data)
    else:
        with pytest.raises(FormatError) as caught:
            READERS[target](data)
        assert caught.value.path is not None
        assert str(caught.value).count("\n") == 0
    assert failure_of(target, data) is None


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "mjcf"])
def test_mutated_inputs_are_read_or_refused(target: str) -> None:
    report = fuzz(target, seconds=20.0, seed=1, runs=RUNS)
    assert report.failures == {}
    assert report.runs


def test_mutated_mjcf_is_read_or_refused_in_a_process_of_its_own() -> None:
    from tests.fuzz.run import run_slice

    report = run_slice("mjcf", 4.0, 1)
    assert report.failures == {}
    assert report.runs
