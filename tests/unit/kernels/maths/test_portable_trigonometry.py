"""Sines, cosines and their inverses against extended precision, and the same bits compiled and interpreted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.kernels.jit.cache import KERNELS_FOLDER, dependencies
from poise.kernels.maths.portable_trigonometry import (
    angle_apart,
    arc_cosine,
    arc_sine,
    arc_tangent,
    cosine,
    golden_ratio,
    rotation_vector,
    sine,
    sine_cosine,
    turn_about,
)
from poise.kernels.maths.quaternion import Quaternion, about, to_rotation_vector
from poise.kernels.maths.vector import Vector

COUNT = 20_000
extended = pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="this machine has no extended precision")


def units(found: np.ndarray, exact: np.ndarray) -> float:
    """Largest error in units of the last place."""
    place = np.spacing(np.abs(exact.astype(np.float64))).astype(np.longdouble)
    return float((np.abs(found.astype(np.longdouble) - exact) / place).max())


@extended
@pytest.mark.parametrize("most", [0.8, 4.0, 50.0, 1e6])
def test_sines_and_cosines_are_right_to_one_unit_in_the_last_place(most: float) -> None:
    x = np.random.default_rng(1).uniform(-most, most, COUNT)
    found = np.array([sine_cosine(one) for one in x])
    assert units(found[:, 0], np.sin(x.astype(np.longdouble))) < 1.0
    assert units(found[:, 1], np.cos(x.astype(np.longdouble))) < 1.0


@extended
def test_sines_are_right_beside_whole_quarter_turns() -> None:
    x = np.arange(-60, 61) * (0.5 * math.pi)
    found = np.array([sine_cosine(one) for one in x])
    assert units(found[:, 0], np.sin(x.astype(np.longdouble))) < 1.0
    assert units(found[:, 1], np.cos(x.astype(np.longdouble))) < 1.0


@extended
def test_arc_tangents_are_right_in_all_quadrants_and_at_all_slopes() -> None:
    rng = np.random.default_rng(2)
    y, x = rng.normal(size=COUNT) * 10.0 ** rng.uniform(-9.0, 3.0, COUNT), rng.normal(size=COUNT)
    found = np.array([arc_tangent(*point) for point in zip(y, x, strict=True)])
    assert units(found, np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))) < 1.5


@extended
def test_arc_cosines_and_arc_sines_are_right_up_to_their_ends() -> None:
    rng = np.random.default_rng(3)
    near = 1.0 - 10.0 ** rng.uniform(-15.0, 0.0, COUNT)
    x = np.concatenate([rng.uniform(-1.0, 1.0, COUNT), near, -near])
    assert units(np.array([arc_cosine(one) for one in x]), np.arccos(x.astype(np.longdouble))) < 2.5
    assert units(np.array([arc_sine(one) for one in x]), np.arcsin(x.astype(np.longdouble))) < 2.5


def test_whole_and_half_turns_are_those_of_the_standard_library() -> None:
    for y, x in [(0.0, 1.0), (-0.0, 1.0), (0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]:
        assert math.copysign(1.0, arc_tangent(y, x)) == math.copysign(1.0, math.atan2(y, x))
        assert arc_tangent(y, x) == math.atan2(y, x)
    assert [arc_cosine(x) for x in (-1.0, 0.0, 1.0)] == [math.pi, 0.5 * math.pi, 0.0]
    assert [arc_sine(x) for x in (-1.0, 0.0, 1.0)] == [-0.5 * math.pi, 0.0, 0.5 * math.pi]
    assert (sine(0.0), cosine(0.0)) == (0.0, 1.0)


@given(st.floats(-1e50, 1e50))
def test_any_angle_has_a_sine_and_a_cosine(x: float) -> None:
    s, c = sine_cosine(x)
    assert s * s + c * c == pytest.approx(1.0, abs=1e-15)
    if abs(x) < 1e9:
        assert (s, c) == (pytest.approx(math.sin(x), abs=3e-16), pytest.approx(math.cos(x), abs=3e-16))


def interpreted(function: Callable[..., object]) -> Callable[..., object]:
    return getattr(function, "py_func", function)


@given(st.floats(-1e9, 1e9), st.floats(-10.0, 10.0))
def test_compiled_and_interpreted_functions_give_the_same_bits(x: float, y: float) -> None:
    assert interpreted(sine_cosine)(x) == sine_cosine(x)
    assert interpreted(arc_tangent)(y, x) == arc_tangent(y, x)


@pytest.mark.parametrize("module", ["gaze/expressive/solve.py", "gaze/erik/erik.py", "gaze/batch_arrays.py"])
def test_what_runs_on_a_gpu_calls_no_function_of_a_library(module: str) -> None:
    called = re.compile(r"math\.(sin|cos|tan|atan|atan2|acos|asin|exp|log|pow|hypot)\(|\*\* ?[^*]|\bpow\(")
    taken = re.compile(r"\b(about|from_rotation_vector|to_rotation_vector|angle_of|angle_between)\b[,)\n]")
    for source in (KERNELS_FOLDER / name for name in sorted(dependencies(module))):
        if source.stem not in {"quaternion", "vector", "compile"}:
            code = source.read_text(encoding="utf-8")
            assert not called.search(code), source.name
            assert not taken.search("\n".join(re.findall(r"^from .*? import (?:\(.*?\)|.*?$)", code, re.M | re.S))), (
                source.name
            )


def test_rotations_are_those_of_the_quaternions() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        angle = rng.uniform(-3.0, 3.0)
        q = turn_about(Vector(*axis), angle)
        np.testing.assert_allclose(q, about(Vector(*axis), angle), atol=1e-15)
        np.testing.assert_allclose(rotation_vector(q), to_rotation_vector(q), atol=1e-15)
    assert rotation_vector(Quaternion(1.0, 0.0, 0.0, 0.0)) == Vector(0.0, 0.0, 0.0)
    assert angle_apart(Vector(1.0, 0.0, 0.0), Vector(0.0, -2.0, 0.0)) == 0.5 * math.pi


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7, 64])
def test_the_golden_ratio_meets_its_equation(dimensions: int) -> None:
    g = golden_ratio(dimensions)
    assert g ** (dimensions + 1) == pytest.approx(1.0 + g, rel=1e-14)
