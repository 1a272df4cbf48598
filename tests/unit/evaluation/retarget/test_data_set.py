"""Folders of clips: what is written, what goes on where it stopped, and what a worker that ends costs."""

import csv
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import poise
from poise.cli.app import run
from poise.errors import FormatError, TaskError
from poise.evaluation.retarget.data_set import (
    RECORDS,
    find_jobs,
    read_record,
    retarget_job,
    retarget_jobs,
    write_manifest,
)
from poise.formats.bvh.writer import write_bvh
from poise.motion.retarget.retarget import retarget_all
from tests.unit.formats.smpl.test_smpl import new_file as amass_archive
from tests.unit.motion.retarget.stick_man import BONES, stepping

HUMAN = poise.load("human")
MIRRORED = {bone: bone.replace("Left", "?").replace("Right", "Left").replace("?", "Right") for bone in BONES}


def write_clips(folder, count, frames=8):
    """Clips in two folders: cut, mirrored, warped in time and scaled, all different."""
    for k in range(count):
        clip = stepping(
            frames=frames + 4 + k % 5,
            rate=24.0 + k % 7,
            rename=MIRRORED if k % 2 else None,
            scale=0.8 + 0.01 * (k % 40),
        )
        place = folder / ("a" if k % 3 else "b")
        place.mkdir(parents=True, exist_ok=True)
        write_bvh(clip[k % 4 :], place / f"{k:03}.bvh")


def jobs_of(folder, **options):
    return find_jobs(folder / "clips", folder / "out", **options)


def manifest(folder):
    with (folder / "out" / "manifest.csv").open(encoding="utf-8") as stream:
        return {row["clip"]: row for row in csv.DictReader(stream)}


def test_every_clip_gets_a_motion_and_a_row_and_failures_are_listed(tmp_path):
    write_clips(tmp_path / "clips", 3)
    (tmp_path / "clips" / "bad.bvh").write_text("HIERARCHY\n")
    told = []
    records = retarget_jobs(jobs_of(tmp_path), HUMAN, {}, cores=1, report=told.append)
    assert [record.clip for record in records] == [job.name for job in jobs_of(tmp_path)] == list(manifest(tmp_path))
    assert told == records
    bad = next(record for record in records if record.clip == "bad.bvh")
    assert "ends before its MOTION section" in bad.error
    for record in records:
        if record is not bad:
            motion = poise.load_clip(tmp_path / "out" / record.motion)
            assert len(motion) == record.frames
            assert manifest(tmp_path)[record.clip]["tracking_mm"] == str(record.tracking_mm)


def test_clips_that_have_a_record_are_not_solved_again_but_those_that_failed_are(tmp_path):
    write_clips(tmp_path / "clips", 2)
    (tmp_path / "clips" / "bad.bvh").write_text("HIERARCHY\n")
    retarget_jobs(jobs_of(tmp_path), HUMAN, {}, cores=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.npz")}
    write_bvh(stepping(frames=6), tmp_path / "clips" / "bad.bvh")
    records = retarget_jobs(jobs_of(tmp_path), HUMAN, {}, cores=1)
    assert not any(record.error for record in records)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_the_command_goes_on_only_if_asked_to(tmp_path, capsys):
    write_clips(tmp_path / "clips", 2)
    command = ["retarget", str(tmp_path / "clips"), "human", "-o", str(tmp_path / "out"), "--cores", "1"]
    assert run(command) == 0
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.npz")}
    assert run([*command, "--resume"]) == 0
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert run([*command, "--shard", "1/2"]) == 0
    changed = [path for path in written if path.stat().st_mtime_ns != written[path]]
    assert len(changed) == 1
    assert "1 of 1 clips are retargeted" in capsys.readouterr().out


def test_shards_share_all_clips_without_overlap(tmp_path):
    write_clips(tmp_path / "clips", 7)
    parts = [jobs_of(tmp_path, shard=(part, 3)) for part in (1, 2, 3)]
    names = [job.name for part in parts for job in part]
    assert sorted(names) == [job.name for job in jobs_of(tmp_path)]
    for wrong in ((0, 3), (4, 3)):
        with pytest.raises(TaskError, match="such as 3/16"):
            jobs_of(tmp_path, shard=wrong)
    assert run(["retarget", str(tmp_path / "clips"), "human", "-o", str(tmp_path / "out"), "--shard", "three"]) == 2


def test_archives_of_the_smpl_family_are_clips_and_other_archives_and_outputs_are_not(tmp_path):
    (tmp_path / "clips").mkdir()
    amass_archive(tmp_path / "clips" / "step.npz")
    np.savez(tmp_path / "clips" / "shape.npz", betas=np.zeros(16), gender="neutral")
    command = ["retarget", str(tmp_path / "clips"), "human", "-o", str(tmp_path / "clips" / "out"), "--for", "mimickit"]
    for _ in range(2):
        assert [job.name for job in find_jobs(tmp_path / "clips", tmp_path / "clips" / "out")] == ["step.npz"]
        run([*command, "--cores", "1"])


def test_the_body_model_is_used_for_all_clips(tmp_path):
    (tmp_path / "clips").mkdir()
    amass_archive(tmp_path / "clips" / "step.npz")
    (tmp_path / "model.npz").write_bytes(b"not an archive")
    command = ["retarget", str(tmp_path / "clips"), "human", "-o", str(tmp_path / "out"), "--cores", "1"]
    assert run([*command, "--body-model", str(tmp_path / "model.npz")]) == 2
    assert "model.npz" in manifest(tmp_path)["step.npz"]["error"]


def test_two_clips_that_would_be_one_file_are_refused(tmp_path):
    (tmp_path / "clips").mkdir()
    for ending in ("bvh", "BVH"):
        write_bvh(stepping(frames=4), tmp_path / "clips" / "one.bvh")
        (tmp_path / "clips" / "one.bvh").rename(tmp_path / "clips" / f"x.{ending}")
    if len(list((tmp_path / "clips").iterdir())) < 2:
        pytest.skip("this file system does not tell the case of letters")
    with pytest.raises(FormatError, match="same file"):
        jobs_of(tmp_path)


def test_any_executor_solves_clips():
    clips = [stepping(frames=6), stepping(frames=6, scale=0.0), stepping(frames=8)]
    with ThreadPoolExecutor(1) as pool:
        one, bad, other = retarget_all(clips, HUMAN, executor=pool)
    assert isinstance(bad, poise.PoiseError)
    np.testing.assert_array_equal(one.q, poise.retarget(clips[0], HUMAN).q)
    assert len(other) == 8


def test_a_record_that_cannot_be_read_counts_as_none(tmp_path):
    write_clips(tmp_path / "clips", 1)
    (job,) = jobs_of(tmp_path)
    job.record.parent.mkdir(parents=True)
    job.record.write_text("{half")
    job.motion.parent.mkdir(parents=True, exist_ok=True)
    assert not retarget_job(job, HUMAN, {}).error
    assert read_record(job.record).clip == job.name
    assert write_manifest(tmp_path / "out").is_file()


@pytest.mark.filterwarnings("ignore")  # of the cluster, when a worker dies
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_loses_nothing_and_repeats_nothing(tmp_path, count):
    distributed = pytest.importorskip("distributed", reason="needs poise[dask]")
    write_clips(tmp_path / "clips", count)
    jobs, seen, killed = jobs_of(tmp_path), {}, []

    def kill_one_half_way(workers):
        while len(list((tmp_path / "out" / RECORDS).rglob("[!.]*.json"))) < count // 2:
            time.sleep(0.02)
        seen.update({p: p.stat().st_mtime_ns for p in (tmp_path / "out" / RECORDS).rglob("[!.]*.json")})
        os.kill(workers[0], signal.SIGKILL)
        killed.append(workers[0])

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        killer = threading.Thread(target=kill_one_half_way, args=(pids,), daemon=True)
        killer.start()
        told = []
        records = retarget_jobs(
            jobs, HUMAN, {}, client.get_executor(pure=False, retries=3), report=lambda record: told.append(record.clip)
        )
        killer.join(60.0)
    assert killed
    assert sorted(told) == [job.name for job in jobs]
    assert not [record.error for record in records if record.error]
    assert {path: path.stat().st_mtime_ns for path in seen} == seen
    assert len(manifest(tmp_path)) == count
    assert all(job.motion.is_file() for job in jobs)
    assert not list((tmp_path / "out").rglob(".*.npz"))
