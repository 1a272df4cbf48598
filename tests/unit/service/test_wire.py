"""Messages as text and as bytes, and those that wait."""

import asyncio
import json

import numpy as np
import pytest

from poise.errors import FormatError
from poise.service.inbox import Inbox
from poise.service.wire import pack, unpack


@pytest.mark.parametrize("binary", [False, True])
def test_arrays_arrive(binary):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "deep": [{"b": np.array([1.5])}], "empty": np.empty((0, 4))}
    packed = pack({"do": "this", **arrays}, binary=binary)
    assert isinstance(packed, bytes) is binary
    found = unpack(packed)
    np.testing.assert_array_equal(found["a"], arrays["a"])
    np.testing.assert_array_equal(found["deep"][0]["b"], [1.5])
    assert np.shape(found["empty"])[0] == 0
    assert found["do"] == "this"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("{", "is not JSON"),
        ("[1]", "is a JSON object"),
        ("[" * 100_000, "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"{}\n1234567", "no whole numbers of 8 bytes"),
        (json.dumps({"a": {"shape": [2], "at": 0}}).encode() + b"\n" + bytes(8), "needs 2 numbers"),
        (json.dumps({"a": {"shape": [-1], "at": 0}}).encode() + b"\n", "stands for no array"),
        (json.dumps({"a": {"shape": 3, "at": 0}}).encode() + b"\n", "stands for no array"),
        (json.dumps({"a": {"shape": [10**9, 10**12], "at": 0}}).encode() + b"\n", "numbers behind the first line"),
    ],
)
def test_what_is_wrong_with_a_message_is_said(message, sentence):
    with pytest.raises(FormatError, match=sentence):
        unpack(message)


def waiting(*messages: dict) -> tuple[list[dict], list[dict]]:
    """The messages that are left to answer, and those that were replaced."""

    async def put() -> tuple[list[dict], list[dict]]:
        inbox = Inbox()
        replaced = [found for message in messages if (found := await inbox.put(message)) is not None]
        return [await inbox.get() for _ in range(len(messages) - len(replaced))], replaced

    return asyncio.run(put())


def test_the_newest_of_solves_that_pile_up_counts_with_the_targets_of_all():
    first = {"id": 1, "do": "solve", "figure": 1, "targets": {"a": 1, "b": 1}, "pose": "p"}
    second = {"id": 2, "do": "solve", "figure": 1, "targets": {"b": 2}}
    left, replaced = waiting(first, second)
    assert left == [{"id": 2, "do": "solve", "figure": 1, "targets": {"a": 1, "b": 2}, "pose": "p"}]
    assert replaced == [first]


def test_nothing_else_is_replaced():
    solve = {"do": "solve", "figure": 1}
    for other in (
        {"do": "solve", "figure": 2},
        {"do": "tasks", "figure": 1},
        {"do": "solve", "figure": 1, "targets": 3},
    ):
        assert waiting(solve, other, dict(solve)) == ([solve, other, solve], [])
