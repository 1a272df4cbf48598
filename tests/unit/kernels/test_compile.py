import os
import subprocess
import sys
import time

import pytest

from poise.kernels import compile as compiling

SHOW_FOLDER = "from poise.kernels.compile import CACHE_FOLDER; print(CACHE_FOLDER)"


def folder_with(**environment):
    answer = subprocess.run(
        [sys.executable, "-c", SHOW_FOLDER], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return answer.stdout.strip()


def test_the_cache_moves_with_its_variable_and_changes_with_bounds_checking(tmp_path):
    plain = folder_with(POISE_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="0")
    assert plain.startswith(str(tmp_path))
    assert plain != folder_with(POISE_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1")
    assert plain == folder_with(POISE_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="0")


def test_the_digest_changes_with_any_kernel_source(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("a = 1\n")
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "compile.py"))
    before = compiling.source_digest()
    (tmp_path / "two.py").write_text("")
    added = compiling.source_digest()
    (tmp_path / "one.py").write_text("a = 2\n")
    assert len({before, added, compiling.source_digest()}) == 3


def test_marking_warm_keeps_recent_machine_code_and_removes_old(tmp_path, monkeypatch):
    mine, recent, old = (tmp_path / f"kernels-{name}" for name in ("mine", "recent", "old"))
    for folder in (mine, recent, old):
        folder.mkdir()
    long_ago = time.time() - 2 * compiling.KEPT_FOR
    os.utime(old, (long_ago, long_ago))
    monkeypatch.setattr(compiling, "CACHE_FOLDER", mine)
    monkeypatch.setattr(compiling, "_COMPLETE", mine / "complete")
    monkeypatch.setattr(compiling.numba.config, "DISABLE_JIT", 0)
    assert not compiling.is_warm()
    compiling.mark_warm()
    assert compiling.is_warm()
    assert (mine.exists(), recent.exists(), old.exists()) == (True, True, False)


def test_marking_warm_without_a_cache_does_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path / "kernels-none")
    compiling.mark_warm()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("platform", "part"), [("win32", "Local"), ("darwin", "Caches"), ("linux", ".cache")])
def test_the_cache_is_where_each_system_keeps_caches(platform, part, monkeypatch):
    for name in ("POISE_CACHE_DIR", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    folder = compiling.user_cache()
    assert part in folder.parts
    assert folder.name == "poise"
