"""Every Python block of the README and the documentation runs, in order, in an empty folder."""

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
