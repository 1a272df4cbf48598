"""Named memory: fields in Python and in kernels, shapes, copies."""

from typing import Annotated

import numpy as np
import pytest

from poise.kernels.jit.compile import kernel
from poise.kernels.jit.memory import Memory, type_key

Array = np.ndarray


class Notes(Memory):
    count: int
    largest: float
    values: Annotated[Array, float, "rows", "columns"]
    cube: Annotated[Array, float, "rows", "columns", "rows"]
    order: Annotated[Array, int, "columns"]


@kernel
def fill(notes: Notes) -> int:
    """Number all values, and keep the last one."""
    for i in range(notes.values.shape[0]):
        for j in range(notes.values.shape[1]):
            notes.count += 1
            notes.values[i, j] = notes.count
            notes.cube[i, j, 1] = -notes.count
            notes.order[j] = 10 * i + j
    notes.largest = notes.values[notes.values.shape[0] - 1, notes.values.shape[1] - 1]
    return notes.count


def test_kernels_and_python_see_the_same_numbers_and_arrays():
    notes = Notes(rows=2, columns=3)
    notes.count = 10
    assert fill(notes) == notes.count == 16
    assert notes.largest == 16.0
    assert np.array_equal(notes.values, [[11.0, 12.0, 13.0], [14.0, 15.0, 16.0]])
    assert np.array_equal(notes.cube[:, :, 1], -notes.values)
    assert not notes.cube[:, :, 0].any()
    assert notes.order.tolist() == [10, 11, 12]


def test_a_copy_has_the_contents_and_shares_nothing():
    notes = Notes(rows=2, columns=3)
    fill(notes)
    copied = notes.copy()
    fill(copied)
    assert notes.count == 6
    assert copied.count == 12
    assert notes.values[0, 0] == 1.0
    assert copied.values[0, 0] == 7.0


def test_an_empty_array_and_an_unknown_name():
    notes = Notes(rows=0, columns=3)
    assert notes.values.shape == (0, 3)
    with pytest.raises(AttributeError, match="no field 'vaules'"):
        _ = notes.vaules  # type: ignore[attr-defined]


def test_equal_keys_mean_equal_types():
    notes, frozen = Notes(rows=1, columns=2), np.zeros(3)
    frozen.flags.writeable = False
    values = [1.0, 1, np.zeros(3), np.zeros(3, dtype=np.int64), np.zeros((3, 1)), np.zeros((3, 2)).T, frozen, notes]
    values += [(np.zeros(3), notes), (np.zeros(3), np.zeros(3)), (notes, np.zeros(3))]
    keys = [type_key(value) for value in values]
    assert len(set(keys)) == len(keys)
    assert type_key((np.ones(5), Notes(rows=2, columns=2))) == type_key((np.zeros(3), notes))
