"""Storing and loading the machine code of kernels, with a kernel so small that compiling it takes no time."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.registry import cpu_target

from poise.kernels.jit import cache, machine_code, notice, shipped
from poise.kernels.jit.compile import indirect_kernel, inner_kernel, kernel
from poise.kernels.jit.interrupt import DeferredInterrupt
from poise.kernels.jit.lock import FileLock

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
SCRIPT = Path(__file__).parents[4] / "scripts" / "build_wheel.py"


def forget():
    for remembered in (
        cache.writable_cache,
        cache._temporary_cache,
        shipped.manifest,
        shipped.why_unusable,
        machine_code._explain,
    ):
        remembered.cache_clear()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache of the user."""
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("POISE_QUIET", raising=False)
    monkeypatch.setattr(notice, "NOTICE_AFTER", 1000.0)
    forget()
    yield tmp_path / "cache"
    forget()


def double(x):
    return 2 * x


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "sources.json")


def fresh(x=21):
    """Make the kernel anew, as another process would, and call it: how often it was loaded, and how often compiled."""
    made = kernel(double)
    assert made(x) == 2 * x
    return sum(made.stats.cache_hits.values()), sum(made.stats.cache_misses.values())


def test_a_kernel_is_compiled_once_and_then_loaded(folder):
    assert fresh() == (0, 1)
    assert fresh() == (1, 0)
    assert fresh(0.5) == (0, 1)
    assert fresh(0.25) == fresh(3) == (1, 0)
    assert {file.suffix for file in files(folder)} == {".code"}
    assert len(files(folder)) == 2


@pytest.mark.parametrize("damage", ["empty", "half", "garbage"])
def test_a_damaged_file_is_compiled_again_in_silence(folder, damage, capsys):
    fresh()
    (file,) = files(folder)
    whole = file.read_bytes()
    file.write_bytes({"empty": b"", "half": whole[: len(whole) // 2], "garbage": b"x" * len(whole)}[damage])
    assert fresh() == (0, 1)
    assert fresh() == (1, 0)
    assert capsys.readouterr().err == ""


def test_a_loaded_kernel_can_be_called_by_one_that_is_compiled():
    inner_kernel(double).compile((numba.int64,))
    loaded = inner_kernel(double)

    @kernel
    def quadruple(x):
        return loaded(loaded(x))

    assert quadruple(3) == 12
    assert sum(loaded.stats.cache_hits.values()) == 1


def quadrupled(callee):
    """A kernel that calls `callee` twice."""

    @kernel
    def quadruple(x):
        return callee(callee(x))

    return quadruple


def test_a_kernel_that_only_kernels_call_has_no_machine_code_until_python_calls_it(folder):
    callee = kernel(double)
    assert quadrupled(callee)(3) == 12
    names = [file.name.split("-")[0] for file in files(folder) if not file.name.endswith(".inner.code")]
    assert names == ["quadruple"]
    assert [file.name.split("-")[0] for file in folder.rglob("*.inner.code")] == ["double"]
    assert callee(5) == 10
    assert quadrupled(callee)(0.5) == 2.0
    assert callee(0.25) == 0.5
    assert len(list(folder.rglob("double-*"))) == 4
    assert fresh() == (1, 0)


def test_a_kernel_without_machine_code_is_loaded_where_another_caller_is_compiled(folder):
    quadrupled(kernel(double))(3)
    loaded = kernel(double)

    @kernel
    def plus_one(x):
        return loaded(x) + 1

    assert plus_one(3) == 7
    assert sum(loaded.stats.cache_hits.values()) == 1
    assert len(list(folder.rglob("double-*"))) == 1


def test_what_nothing_needs_is_released_once_a_kernel_is_stored():
    inner = kernel(double)

    @kernel
    def quadruple(x):
        return inner(inner(x))

    assert quadruple(5) == 20
    (copied,), (called,) = inner.overloads.values(), quadruple.overloads.values()
    assert copied.type_annotation == called.type_annotation == ""
    assert copied.library._final_module is None
    assert called.library._shared_module is None

    @kernel
    def eightfold(x):
        return inner(quadruple(x))

    assert eightfold(5) == 40
    assert inner(5) == 10


def test_who_leaves_compiling_to_others_can_say_so(folder, monkeypatch):
    def refuse(kernel):
        raise RuntimeError(f"{kernel}: later")

    monkeypatch.setattr(machine_code, "when_missing", [refuse])
    with pytest.raises(RuntimeError, match=r"test_machine_code\.double for int64: later"):
        fresh()
    assert files(folder) == []
    machine_code.when_missing.clear()
    assert fresh() == (0, 1)
    machine_code.when_missing.append(refuse)
    assert fresh() == (1, 0)


def test_a_c_function_is_stored_and_loaded_too():
    assert indirect_kernel(double, "int64(int64)").cache_hits == 0
    again = indirect_kernel(double, "int64(int64)")
    assert again.cache_hits == 1
    assert again.ctypes(4) == 8


def test_without_a_folder_to_write_a_temporary_one_is_used(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert fresh() == (0, 1)
    assert fresh() == (1, 0)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(tmp_path / "temporary") in said
    (mine,) = (tmp_path / "temporary").iterdir()
    assert mine.stat().st_mode & 0o077 == 0


def test_a_temporary_folder_that_others_can_write_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    trap = cache._temporary_cache()
    trap.chmod(0o777)
    cache._temporary_cache.cache_clear()
    assert cache._temporary_cache() != trap


def test_a_user_without_a_home_has_a_cache(tmp_path, monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("POISE_CACHE_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "home", no_home)
    assert cache.user_cache().parent == tmp_path


def test_an_interruption_leaves_nothing_behind_and_is_short(folder, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt, match="stopped while compiling") as stopped:
        fresh()
    assert len(stopped.traceback) < 6
    assert files(folder) == []
    monkeypatch.undo()


@pytest.fixture
def interruptible():
    """Python's own answer to Ctrl-C, which a process that was started in the background does not have."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_takes_effect_once_the_kernel_is_stored(folder, monkeypatch, interruptible):
    def pressed(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return content(*arguments)

    content = machine_code._reduced
    monkeypatch.setattr(machine_code, "_reduced", pressed)
    with pytest.raises(KeyboardInterrupt, match="stopped while compiling"):
        fresh()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert fresh() == (1, 0)


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_second_ctrl_c_takes_effect_at_once(interruptible):
    deferred = DeferredInterrupt()
    deferred.start()
    os.kill(os.getpid(), signal.SIGINT)
    assert deferred.happened
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    deferred.stop()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name == "nt", reason="compares the exit codes of POSIX")
def test_a_program_that_is_interrupted_while_compiling_prints_one_line():
    code = "from poise.kernels.jit.interrupt import stopped\ndef f(n):\n  if n: f(n - 1)\n  raise stopped()\nf(20)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr == "poise: stopped while compiling; the kernels that are compiled are kept\n"
    assert ended.returncode == -signal.SIGINT
    other = subprocess.run([sys.executable, "-c", f"{code[:-5]}1 / 0"], capture_output=True, text=True, check=False)
    assert "ZeroDivisionError" in other.stderr


# --- machine code that came with the package ---


@pytest.fixture
def wheel(folder, tmp_path, monkeypatch):
    """A package that carries the machine code of `double`, for this processor; the user's cache is empty."""
    assert fresh() == (0, 1)
    spec = importlib.util.spec_from_file_location("build_wheel", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    place = tmp_path / "machine_code"
    for file in files(folder):
        script.compress(file, place / file.parent.name / file.name)
        file.unlink()
    about = {
        "versions": shipped.versions(),
        "target": cpu_target.target_context.codegen().magic_tuple(),
        "digest": cache.whole_digest(),
    }
    write_manifest(place, about)
    monkeypatch.setattr(shipped, "SHIPPED_FOLDER", place)
    forget()
    return place, about


def write_manifest(place, about, **changes):
    (place / shipped.MANIFEST).write_text(json.dumps(about | changes))
    forget()


def test_shipped_code_is_loaded_and_nothing_is_written(folder, wheel, capsys):
    assert machine_code.is_complete()
    assert fresh() == (1, 0)
    assert files(folder) == []
    assert capsys.readouterr().err == ""


def test_a_shipped_kernel_can_be_called_by_one_that_is_compiled(wheel):
    shipped_one = kernel(double)

    @kernel
    def quadruple(x):
        return shipped_one(shipped_one(x))

    assert quadruple(5) == 20


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"versions": {"numba": "0.1"}}, "it is for numba 0.1, and"),
        ({"target": ["", "", "+avx2,-amx,+flying"]}, "this processor lacks flying"),
        ({"digest": "0"}, "other kernels"),
    ],
)
def test_shipped_code_that_does_not_fit_is_compiled_with_one_line_that_says_why(wheel, changes, reason, capsys):
    write_manifest(*wheel, **changes)
    assert not machine_code.is_complete()
    assert fresh() == (0, 1)
    assert fresh(0.5) == (0, 1)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert reason in said


def test_damaged_shipped_code_is_compiled(wheel):
    for file in shipped.files():
        file.write_bytes(b"\xfd7zXZ" + b"x" * 100)
    assert fresh() == (0, 1)


# --- several processes ---

TWO = """
import sys, time
from poise.kernels.jit.compile import kernel
from poise.kernels.jit.machine_code import KernelCache

save = KernelCache.save_overload
def save_slowly(*arguments):
    time.sleep(1.0)
    save(*arguments)
KernelCache.save_overload = save_slowly

@kernel
def triple(x):
    return 3 * x

assert triple(2) == 6
print(sum(triple.stats.cache_misses.values()))
"""


def start(program, **options):
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, **options)


def test_two_processes_that_start_cold_compile_a_kernel_once(folder):
    both = [start(TWO), start(TWO)]
    assert sorted(process.communicate(timeout=60)[0].strip() for process in both) == ["0", "1"]
    assert len(files(folder)) == 1


HOLD = """
import sys, time
from pathlib import Path
from poise.kernels.jit.lock import FileLock
FileLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_process_that_dies_or_hangs_does_not_hold_its_lock_for_ever(tmp_path):
    path = tmp_path / "kernel.lock"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "held"
    late = FileLock(path)
    late.acquire(patience=0.1)
    assert not late.is_held
    process.send_signal(signal.SIGKILL)
    process.communicate()
    late.acquire()
    assert late.is_held
    late.release()
    assert not path.exists()


def test_a_folder_without_locks_is_used_without_them(tmp_path):
    lock = FileLock(tmp_path / "missing" / "kernel.lock")
    lock.acquire()
    assert not lock.is_held
    lock.release()


# --- what is said ---


def compile_for(seconds):
    clock = notice.Progress()
    clock.start()
    clock.start()
    assert clock.is_nested
    clock.stop()
    watcher = clock._watcher
    notice.time.sleep(seconds)
    clock.stop()
    if watcher is not None:
        watcher.join()


@pytest.fixture
def impatient(monkeypatch):
    for name in ("NOTICE_AFTER", "REDRAW_EVERY", "LINGER"):
        monkeypatch.setattr(notice, name, 0.01)


def test_compiling_for_long_is_announced_once(impatient, capsys):
    compile_for(0.2)
    assert capsys.readouterr().err == "poise: compiling kernels, which happens once on this machine …\n"


def test_on_a_terminal_a_line_counts_up_and_disappears(impatient, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    compile_for(0.2)
    said = capsys.readouterr().err
    assert "1 done, 0 s …" in said
    assert said.endswith("\r\033[K")


def test_a_short_compilation_and_a_quiet_user_hear_nothing(impatient, capsys, monkeypatch):
    monkeypatch.setattr(notice, "NOTICE_AFTER", 10.0)
    compile_for(0.05)
    monkeypatch.setattr(notice, "NOTICE_AFTER", 0.01)
    monkeypatch.setenv("POISE_QUIET", "1")
    compile_for(0.05)
    assert capsys.readouterr().err == ""
