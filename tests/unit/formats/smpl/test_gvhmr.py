"""Results of GVHMR: files of PyTorch read without it."""

import io
import pickle
import sys
import types
import zipfile

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise.errors import FormatError
from poise.formats.smpl.torch_file import read_torch


class FloatStorage:
    pass


def _rebuild_tensor_v2(*arguments):
    raise AssertionError("only its name is used")


FloatStorage.__module__, _rebuild_tensor_v2.__module__ = "torch", "torch._utils"


class Tensor:
    """Pickled as PyTorch pickles a tensor; a transposed array keeps its storage."""

    def __init__(self, array):
        self.array = np.asarray(array, dtype=np.float32)

    def __reduce__(self):
        store = Storage(self.array.base if self.array.base is not None else self.array)
        strides = tuple(stride // 4 for stride in self.array.strides)
        return _rebuild_tensor_v2, (store, 0, self.array.shape, strides, False, {})


class Storage:
    def __init__(self, array):
        self.array = array


class Pickler(pickle.Pickler):
    def __init__(self, stream, stores):
        super().__init__(stream, protocol=2)
        self.stores = stores

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        self.stores.append(value.array)
        return "storage", FloatStorage, str(len(self.stores) - 1), "cpu", value.array.size


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Write a file as torch.save does."""
    torch = types.ModuleType("torch")
    torch.FloatStorage, torch._utils = FloatStorage, types.ModuleType("torch._utils")
    torch._utils._rebuild_tensor_v2 = _rebuild_tensor_v2

    def write(content, name="result.pt"):
        stream, stores = io.BytesIO(), []
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "torch", torch)
            patch.setitem(sys.modules, "torch._utils", torch._utils)
            Pickler(stream, stores).dump(content)
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("result/data.pkl", stream.getvalue())
            for key, array in enumerate(stores):
                archive.writestr(f"result/data/{key}", np.ascontiguousarray(array).tobytes())
        return tmp_path / name

    return write


def result(frames=5):
    rng = np.random.default_rng(0)
    return {
        "body_pose": rng.normal(size=(frames, 63)) * 0.2,
        "betas": np.zeros((frames, 10)),
        "global_orient": rng.normal(size=(frames, 3)) * 0.1,
        "transl": rng.normal(size=(frames, 3)),
    }


def test_arrays_come_back_transposed_ones_too(save):
    flat = np.arange(6.0, dtype=np.float32)
    file = save({"a": Tensor([[1.0, 2.0], [3.0, 4.0]]), "b": {"c": Tensor(flat.reshape(2, 3).T)}, "n": 7, "t": "x"})
    content = read_torch(file)
    np.testing.assert_array_equal(content["a"], [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(content["b"]["c"], flat.reshape(2, 3).T)
    assert (content["n"], content["t"]) == (7, "x")


def test_a_result_of_gvhmr_is_the_same_motion_with_z_up(save):
    given = result()
    tensors = {key: Tensor(value) for key, value in given.items()}
    clip = poise.load_clip(save({"smpl_params_global": tensors, "K_fullimg": Tensor(np.eye(3))}))
    assert clip.figure.up == "z"
    assert clip.rate == 30.0
    place = clip.positions(["pelvis"])[:, 0]
    np.testing.assert_allclose(place, given["transl"][:, [0, 2, 1]] * (1.0, -1.0, 1.0), atol=1e-6)
    up = Rotation.from_rotvec(given["global_orient"]).apply((0.0, 1.0, 0.0))
    spine = clip.positions(["spine1"])[:, 0] - place
    np.testing.assert_allclose(
        spine / np.linalg.norm(spine, axis=1, keepdims=True), up[:, [0, 2, 1]] * (1, -1, 1), atol=1e-5
    )


def test_what_is_no_result_is_one_sentence(save, tmp_path):
    with pytest.raises(FormatError, match="no 'smpl_params_global'"):
        poise.load_clip(save({"x": 1}))
    given = {key: Tensor(value) for key, value in result().items()} | {"transl": Tensor(np.zeros((4, 3)))}
    with pytest.raises(FormatError, match="has 4, 5 and 5 frames"):
        poise.load_clip(save({"smpl_params_global": given}))
    (tmp_path / "none.pt").write_bytes(b"not a zip")
    with pytest.raises(FormatError, match="cannot be read"):
        poise.load_clip(tmp_path / "none.pt")
    with zipfile.ZipFile(tmp_path / "evil.pt", "w") as archive:
        archive.writestr("x/data.pkl", pickle.dumps(print))
    with pytest.raises(FormatError, match=r"it asks for builtins\.print"):
        poise.load_clip(tmp_path / "evil.pt")
    (tmp_path / "walk.fbx").write_bytes(b"Kaydara")
    with pytest.raises(FormatError, match="convert it to glTF or BVH"):
        poise.load_clip(tmp_path / "walk.fbx")


def test_a_tensor_larger_than_its_storage_is_refused(save):
    class Liar(Tensor):
        def __reduce__(self):
            return _rebuild_tensor_v2, (Storage(np.zeros(4, dtype=np.float32)), 0, (100, 100), (100, 1), False, {})

    with pytest.raises(FormatError, match="larger than its storage"):
        read_torch(save({"a": Liar(0.0)}))
