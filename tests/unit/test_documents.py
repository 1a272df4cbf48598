"""Every Python block of the README and the documentation runs, in order, in an empty folder."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs"
DOCUMENTS = [ROOT / "README.md", *sorted(file for file in FOLDER.rglob("*.md") if "generated" not in file.parts)]
TUTORIALS = sorted((FOLDER / "tutorials").glob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT).with_suffix("")))
def test_code_blocks_run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall(document.read_text(encoding="utf-8"))
    for block in blocks:
        exec(compile(block, document.name, "exec"), names)
    assert blocks or document.name != "README.md"


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_tutorials_run(tutorial, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(tutorial), run_name="__main__")


def test_links_point_at_files_that_exist():
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
            if not target.startswith("../generated/"):  # written by `make site`
                assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_pages_show_the_stored_results_of_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    results = importlib.import_module("results")
    asked = set()
    for page in sorted(results.PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        asked |= {match[2] for match in results.PLACE.finditer(text)}
        assert results.with_results(text) == text, f"{page.name} is old: python benchmarks/results.py"
    stored = {path.stem for path in results.RESULTS.glob("*.json")}
    assert stored <= asked, "results that no page shows"
    assert asked - {results.EVERYTHING} <= stored | set(importlib.import_module("run").BENCHMARKS)


def test_what_a_benchmark_prints_becomes_tables_and_lines(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    results = importlib.import_module("results")
    print("first")
    table = results.Table("Times", "", "µs", "share")
    table.row("a", 0.12345, 1234.5)
    table.row("", 1e-9, 3)
    print("last")
    with pytest.raises(ValueError, match="a row of 1 cells"):
        table.row("alone")
    assert list(results.parts_of(capsys.readouterr().out.splitlines())) == [
        {"lines": ["first"]},
        {"title": "Times", "columns": ["", "µs", "share"], "rows": [["a", "0.123", "1234"], ["", "1e-09", "3"]]},
        {"lines": ["last"]},
    ]
