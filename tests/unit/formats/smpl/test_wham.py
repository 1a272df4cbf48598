"""Results of WHAM: files of joblib read without it, against a writer that stores arrays as joblib does."""

import io
import pickle
from collections import defaultdict

import numpy as np
import pytest

import poise
from poise.errors import FormatError
from poise.formats.smpl.joblib_file import read_joblib
from tests.unit.formats.smpl.test_smpl import stepping


class NumpyArrayWrapper:
    """The header of an array, under the name that joblib gives it."""


NumpyArrayWrapper.__module__ = "joblib.numpy_pickle"


class Writer(pickle._Pickler):
    """Writes the header of an array and then, outside the pickle's frames, its numbers."""

    def __init__(self, stream, alignment):
        super().__init__(stream, protocol=4)
        self.stream, self.alignment = stream, alignment

    def save(self, value, *more):
        if not isinstance(value, np.ndarray):
            return super().save(value, *more)
        header, order = NumpyArrayWrapper(), "C" if value.flags.c_contiguous else "F"
        vars(header).update(subclass=np.ndarray, shape=value.shape, order=order, dtype=value.dtype, allow_mmap=True)
        if self.alignment:
            header.numpy_array_alignment_bytes = self.alignment
        super().save(header, *more)
        self.framer.commit_frame(force=True)
        if self.alignment:
            gap = self.alignment - (self.stream.tell() + 1) % self.alignment
            self.stream.write(bytes([gap]) + b"\xff" * gap)
        self.stream.write(value.tobytes(order))
        return None

    def save_global(self, value, name=None):
        if value is NumpyArrayWrapper:  # a class of another module, which need not be installed
            return self._save_name("joblib.numpy_pickle", value)
        return super().save_global(value, name)

    def _save_name(self, module, value):
        self.save(module)
        self.save(value.__name__)
        self.write(pickle.STACK_GLOBAL)
        self.memoize(value)


def write(content, path, alignment=16):
    stream = io.BytesIO()
    Writer(stream, alignment).dump(content)
    path.write_bytes(stream.getvalue())
    return path


def turned(values):
    """z up to y up."""
    return values[:, [0, 2, 1]] * (1.0, 1.0, -1.0)


def result():
    """Two people who step on the spot; the second is seen longer."""
    people = defaultdict(dict)
    for number, frames in ((3, 12), (7, 40)):
        pose, trans = stepping(frames)
        pose[:, :3] = 0.0  # stands with y up
        people[number] = {
            "pose": pose[:, :72],
            "pose_world": np.asfortranarray(pose[:, :72], dtype=np.float32),
            "trans_world": turned(trans).astype(np.float32),
            "betas": np.zeros((frames, 10), dtype=np.float32),
            "verts": np.zeros((frames, 5, 3), dtype=np.float32),
            "frame_ids": np.arange(frames),
        }
    return people


@pytest.mark.parametrize("alignment", [None, 16])
def test_arrays_of_joblib_come_back(tmp_path, alignment):
    content = read_joblib(write(result(), tmp_path / "x.pkl", alignment))
    for number, person in result().items():
        assert person.keys() == content[number].keys()
        for key, array in person.items():
            np.testing.assert_array_equal(content[number][key], array)


def test_the_person_who_is_seen_longest_or_the_one_that_is_named(tmp_path):
    path = write(result(), tmp_path / "wham_output.pkl")
    clip, other = poise.load_clip(path), poise.load_clip(path, name="3")
    assert (len(clip), len(other)) == (40, 12)
    assert (clip.figure.up, clip.rate) == ("z", 30.0)
    with pytest.raises(FormatError, match="its people are 3, 7"):
        poise.load_clip(path, name="4")


def test_a_result_of_wham_is_the_motion_of_the_same_poses_in_an_archive(tmp_path):
    pose, trans = stepping()
    np.savez(tmp_path / "same.npz", poses=pose, trans=trans, mocap_framerate=30.0)
    ours, same = poise.load_clip(write(result(), tmp_path / "x.pkl")), poise.load_clip(tmp_path / "same.npz")
    np.testing.assert_allclose(
        ours.positions(["head", "left_ankle", "right_wrist"]),
        same.positions(["head", "left_ankle", "right_wrist"]),
        atol=1e-5,
    )


def test_what_is_no_result_is_one_sentence(tmp_path):
    with pytest.raises(FormatError, match="not a result of WHAM"):
        poise.load_clip(write({1: {"pose": np.zeros((2, 72))}}, tmp_path / "x.pkl"))
    with pytest.raises(FormatError, match=r"it asks for builtins\.print"):
        (tmp_path / "evil.pkl").write_bytes(pickle.dumps(print))
        poise.load_clip(tmp_path / "evil.pkl")
    whole = write(result(), tmp_path / "x.pkl").read_bytes()
    for length in (10, len(whole) // 2, len(whole) - 40):
        (tmp_path / "cut.pkl").write_bytes(whole[:length])
        with pytest.raises(FormatError):
            poise.load_clip(tmp_path / "cut.pkl")
