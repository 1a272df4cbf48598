"""`poise compile --status` and `--clear`."""

import pytest

from poise.cli.app import run
from poise.cli.preparation import Preparation
from poise.kernels.jit import cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with a file of this version and one of another."""
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path))
    for name in (cache.folder_name("poise.kernels.body.clamp"), "kernels-body.clamp-other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "clamp-0123.code").write_bytes(b"x" * 1_500_000)
    return tmp_path


def test_status_says_what_is_compiled_and_where(folder, capsys):
    assert run(["compile", "--status"]) == 0
    said = capsys.readouterr().out
    assert "came with poise: " in said
    assert f"compiled on this machine: 1 files, 1.5 MB, in {folder}" in said
    assert "compiled for other versions: 1 files, 1.5 MB" in said


def test_clear_deletes_what_was_compiled(folder, capsys):
    assert run(["compile", "--clear"]) == 0
    assert str(folder) in capsys.readouterr().out
    assert not list(folder.glob("kernels-*"))


def test_ctrl_c_ends_it_in_one_line(folder, capsys, monkeypatch):
    def stopped(preparation):
        raise KeyboardInterrupt

    monkeypatch.setattr(Preparation, "start", lambda preparation: None)
    monkeypatch.setattr(Preparation, "wait_until_over", stopped)
    assert run(["compile"]) == 130
    said = capsys.readouterr().err.strip()
    assert said == "stopped; what is compiled is kept, and poise compile goes on from there."
