"""The disk cache of machine code: its folders depend on the code of the sources, and all checkouts share them."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poise.kernels.jit import cache

SHOW_FOLDER = "from poise.kernels.jit.cache import cache_folder; print(cache_folder('poise.kernels.body.tree'))"


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


def forget():
    for remembered in (cache._saved_sources, cache.source, cache.dependencies, cache.folder_name):
        remembered.cache_clear()


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """An empty folder of kernels, with its own cache folder."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.setattr(cache, "KERNELS_FOLDER", folder)
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    forget()
    yield folder
    forget()


def write(folder, **sources):
    for name, text in sources.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    forget()


def folders(*modules):
    return [cache.cache_folder(f"poise.kernels.{module}").name for module in modules]


def test_an_edit_changes_the_folders_of_the_modules_that_import_it_and_no_others(kernels):
    write(
        kernels,
        leaf="a = 1\n",
        room__middle="from poise.kernels.leaf import a\n",
        top="if True:\n    from poise.kernels.room import (\n        middle,\n    )\n",
        whole="import poise.kernels.room.middle\n",
        other="import math\n",
    )
    names = ("leaf", "room.middle", "top", "whole", "other")
    before = folders(*names)
    write(kernels, leaf="a = 2\n")
    assert [x == y for x, y in zip(before, folders(*names), strict=True)] == [False, False, False, False, True]


def test_an_edit_to_docstrings_or_comments_recompiles_nothing(kernels):
    write(kernels, leaf='"""One."""\na = 1\n\n\ndef f():\n    """What it does."""\n    return a\n')
    before = folders("leaf")
    write(kernels, leaf='"""Two."""\n# why\na = 1\n\n\ndef f():\n    """What it does now."""\n\n    return a\n')
    assert folders("leaf") == before
    write(kernels, leaf='"""Two."""\na = 1\n\n\ndef f():\n    """What it does now."""\n    return -a\n')
    assert folders("leaf") != before


def test_the_folders_do_not_depend_on_the_place_of_the_checkout(kernels, tmp_path, monkeypatch):
    write(kernels, leaf="a = 1\n", top="from poise.kernels.leaf import a\n")
    before = folders("leaf", "top")
    other = tmp_path / "elsewhere"
    kernels.rename(other)
    monkeypatch.setattr(cache, "KERNELS_FOLDER", other)
    forget()
    assert folders("leaf", "top") == before


def test_sources_that_import_each_other_are_read_once(kernels):
    write(kernels, one="from poise.kernels.two import b\n", two="from poise.kernels.one import a\n")
    assert cache.dependencies("one.py") == {"one.py", "two.py"}


def test_a_saved_source_is_parsed_again_only_after_an_edit(kernels, monkeypatch):
    write(kernels, leaf="a = 1\n")
    (before,) = folders("leaf")
    cache.save_sources()
    forget()
    parse = cache.parse_source
    monkeypatch.setattr(cache, "parse_source", lambda text: pytest.fail(f"{text} was parsed again"))
    (kernels / "leaf.py").touch()
    assert folders("leaf") == [before]
    monkeypatch.setattr(cache, "parse_source", parse)
    write(kernels, leaf="a = 1000\n")
    assert folders("leaf") != [before]


def test_an_edit_in_any_package_recompiles_exactly_the_modules_that_import_it(monkeypatch):
    """Compares `dependencies` with the imports as Python itself resolves them."""
    sources = cache.every_source()
    imports = {name: python_imports(name) for name in sources}
    plain = {name: cache.source(name) for name in sources}
    depends = {name: reached(name, imports) for name in sources}
    for edited in sources:
        if edited in cache.NOT_COMPILED:
            continue
        changed = {name: "changed" if edited in cache.dependencies(name) else "" for name in sources if name in plain}
        assert {name for name, state in changed.items() if state} == {n for n in sources if edited in depends[n]}


def python_imports(name):
    """The kernel sources that a source names in its imports, found without the cache's own reader."""
    found = set()
    for node in ast.walk(ast.parse((cache.KERNELS_FOLDER / name).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("poise.kernels"):
            folder = Path(*node.module.split(".")[2:])
            candidates = [folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)]
            found |= {c.as_posix() for c in candidates if (cache.KERNELS_FOLDER / c).is_file()}
    return found


def reached(name, imports):
    seen, waiting = set(), [name]
    while waiting:
        here = waiting.pop()
        if here not in seen and here not in cache.NOT_COMPILED:
            seen.add(here)
            waiting += imports[here]
    return seen


def test_marking_complete_keeps_recent_machine_code_and_removes_old(kernels):
    write(kernels, mine="")
    folder = cache.user_cache()
    mine = cache.cache_folder("poise.kernels.mine")
    recent, old, done = folder / "kernels-recent", folder / "kernels-old", folder / "complete-old"
    long_ago = time.time() - 2 * cache.MAX_CACHE_AGE
    for path in (mine, recent, old):
        path.mkdir(parents=True)
    done.touch()
    for kept in (mine, old, done):
        os.utime(kept, (long_ago, long_ago))
    assert not cache.marked_complete()
    cache.mark_complete()
    assert cache.marked_complete()
    assert [path.exists() for path in (mine, recent, old, done)] == [True, True, False, False]
    write(kernels, added="")
    assert not cache.marked_complete()


def test_what_another_python_or_processor_has_compiled_leaves_something_to_compile(kernels, monkeypatch):
    write(kernels, mine="")
    cache.user_cache().mkdir(parents=True, exist_ok=True)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(cache, "built_for", lambda: "another Python")
        cache.mark_complete()
        assert cache.marked_complete()
    assert not cache.marked_complete()
    cache.mark_complete()
    assert cache.marked_complete()


def test_an_edit_of_the_warm_up_leaves_something_to_compile(kernels, tmp_path, monkeypatch):
    write(kernels, mine="")
    monkeypatch.setattr(cache, "WARM_UP", tmp_path / "warmup.py")
    cache.WARM_UP.write_text("one step")
    cache.user_cache().mkdir(parents=True, exist_ok=True)
    cache.mark_complete()
    assert cache.marked_complete()
    cache.WARM_UP.write_text("two steps")
    assert not cache.marked_complete()


def test_clearing_removes_machine_code_of_all_versions_and_nothing_else(kernels):
    write(kernels, mine="")
    folder = cache.user_cache()
    cache.cache_folder("poise.kernels.mine").mkdir(parents=True)
    (folder / "kernels-old").mkdir()
    (folder / "studio.key").touch()
    cache.mark_complete()
    cache.clear()
    assert [path.name for path in folder.iterdir()] == ["studio.key"]


def test_marking_complete_without_a_cache_does_nothing(kernels):
    cache.mark_complete()
    assert not cache.user_cache().exists()


@pytest.mark.parametrize(("platform", "part"), [("win32", "Local"), ("darwin", "Caches"), ("linux", ".cache")])
def test_the_cache_is_where_each_system_keeps_caches(platform, part, monkeypatch):
    for name in ("POISE_CACHE_DIR", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    folder = cache.user_cache()
    assert part in folder.parts
    assert folder.name == "poise"


@pytest.mark.parametrize("given", ["", "relative/folder"])
def test_a_cache_folder_that_is_not_absolute_is_ignored(given, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("POISE_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache.user_cache() == tmp_path / ".cache" / "poise"
