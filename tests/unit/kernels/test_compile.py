import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poise.kernels import compile as compiling

SHOW_FOLDER = "from poise.kernels.compile import cache_folder; print(cache_folder('tree'))"


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


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """An empty folder of kernels, with a cache of its own."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.setattr(compiling, "__file__", str(folder / "compile.py"))
    monkeypatch.setattr(compiling.numba.config, "DISABLE_JIT", 0)
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "cache"))
    compiling.cache_folder.cache_clear()
    yield folder
    compiling.cache_folder.cache_clear()


def folders(*modules):
    compiling.cache_folder.cache_clear()
    return [compiling.cache_folder(module).name for module in modules]


def test_machine_code_moves_with_the_sources_it_comes_from_and_no_others(kernels):
    (kernels / "leaf.py").write_text("a = 1\n")
    (kernels / "middle.py").write_text("from poise.kernels.leaf import a\n")
    (kernels / "top.py").write_text("if True:\n    from poise.kernels.middle import (\n        a,\n    )\n")
    (kernels / "other.py").write_text("import math\n")
    before = folders("leaf", "middle", "top", "other")
    (kernels / "leaf.py").write_text("a = 2\n")
    after = folders("leaf", "middle", "top", "other")
    assert [x == y for x, y in zip(before, after, strict=True)] == [False, False, False, True]


def test_modules_that_import_each_other_are_read_once(kernels):
    (kernels / "one.py").write_text("from poise.kernels.two import b\n")
    (kernels / "two.py").write_text("from poise.kernels.one import a\n")
    assert [source.stem for source in compiling.sources_of("one")] == ["one", "two"]


def test_kernels_import_each_other_by_module_so_that_the_digest_sees_it():
    for source in Path(compiling.__file__).parent.glob("*.py"):
        assert not re.search(r"from poise\.kernels import|import poise|from \.", source.read_text()), source.name


def test_marking_warm_keeps_recent_machine_code_and_removes_old(kernels):
    (kernels / "mine.py").write_text("")
    cache = compiling.user_cache()
    mine = compiling.cache_folder("mine")
    recent, old, done = cache / "kernels-recent", cache / "kernels-old", cache / "complete-old"
    long_ago = time.time() - 2 * compiling.KEPT_FOR
    for folder in (mine, recent, old):
        folder.mkdir(parents=True)
    done.touch()
    for kept in (mine, old, done):
        os.utime(kept, (long_ago, long_ago))
    assert not compiling.is_warm()
    compiling.mark_warm()
    assert compiling.is_warm()
    assert [path.exists() for path in (mine, recent, old, done)] == [True, True, False, False]
    (kernels / "added.py").write_text("")
    assert not compiling.is_warm()


def test_marking_warm_without_a_cache_does_nothing(kernels):
    compiling.mark_warm()
    assert not compiling.user_cache().exists()


@pytest.mark.parametrize(("platform", "part"), [("win32", "Local"), ("darwin", "Caches"), ("linux", ".cache")])
def test_the_cache_is_where_each_system_keeps_caches(platform, part, monkeypatch):
    for name in ("POISE_CACHE_DIR", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    folder = compiling.user_cache()
    assert part in folder.parts
    assert folder.name == "poise"
