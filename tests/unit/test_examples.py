"""Every example runs, checks itself, and leaves the files it names."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_leaves_something_to_look_at(example, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(example), str(tmp_path)])
    runpy.run_path(str(example), run_name="__main__")
    assert any(tmp_path.iterdir())
