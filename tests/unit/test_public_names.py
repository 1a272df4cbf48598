import subprocess
import sys
from pathlib import Path

import pytest

import poise


def test_importing_poise_loads_nothing_heavy():
    code = "import sys, poise; print([m for m in ('numpy', 'numba', 'lxml', 'nicegui') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_every_public_name_can_be_imported():
    for name in poise.__all__:
        assert getattr(poise, name) is not None
    assert set(poise.__all__) <= set(dir(poise))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"no attribute 'slove'\. Did you mean 'solve'\?"):
        _ = poise.slove


def test_packages_need_no_import_of_their_own():
    code = "import poise; poise.pictures.draw, poise.robots.connect, poise.figure.Builder, poise.chains.ccd"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_errors_are_value_errors_and_say_where():
    error = poise.FormatError("the frame count is wrong.", "walk.bvh", 12)
    assert str(error) == "walk.bvh:12: the frame count is wrong."
    assert (error.line, error.reason) == (12, "the frame count is wrong.")
    assert isinstance(error, ValueError)
    assert isinstance(poise.FigureError("x"), poise.PoiseError)


def test_every_public_name_has_a_page_in_the_reference(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs")
    from site_pages import reference

    reference.write(tmp_path)
    pages = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "api").glob("*.rst"))
    assert [name for name in poise.__all__ if f"poise.{name}" not in pages] == []
    assert "poise retarget" in (tmp_path / "commands.md").read_text(encoding="utf-8")
