import numpy as np
import pytest

from poise.kernels.maths.singular_values import singular_rows


def split(matrix):
    m = len(matrix)
    rows, left, sigma = np.array(matrix, dtype=np.float64), np.empty((m, m)), np.empty(m)
    singular_rows(m, rows, left, sigma)
    return rows, left, sigma


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (3, 3), (3, 40), (6, 7), (3, 2)])
def test_it_agrees_with_lapack(shape):
    rng = np.random.default_rng(shape[0] * 100 + shape[1])
    for _ in range(50):
        matrix = rng.normal(size=shape) * 10.0 ** rng.uniform(-6, 3, size=(shape[0], 1))
        rows, left, sigma = split(matrix)
        known = np.linalg.svd(matrix, compute_uv=False)
        known = np.concatenate([known, np.zeros(shape[0] - len(known))])
        known[known <= 1e-10 * known[0]] = 0.0
        assert np.sort(sigma)[::-1] == pytest.approx(known, rel=1e-9, abs=1e-14 * known[0])
        assert left @ rows == pytest.approx(matrix, abs=1e-13 * known[0])
        assert left.T @ left == pytest.approx(np.eye(shape[0]), abs=1e-13)


def test_parallel_rows_leave_one_singular_value():
    rows, left, sigma = split([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]])
    assert np.sort(sigma)[:2].tolist() == [0.0, 0.0]
    assert sigma.max() == pytest.approx(np.sqrt(6.0 * 14.0))
    assert left @ rows == pytest.approx(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]]), abs=1e-14)


def test_zero_has_no_singular_value():
    rows, left, sigma = split(np.zeros((3, 4)))
    assert sigma.tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(left).all()
    assert (rows == 0.0).all()


def test_small_singular_values_are_accurate():
    rng = np.random.default_rng(0)
    u, v = np.linalg.qr(rng.normal(size=(3, 3)))[0], np.linalg.qr(rng.normal(size=(8, 8)))[0]
    _, _, sigma = split(np.diag([1.0, 1e-4, 1e-8]) @ v[:3])
    assert np.sort(sigma) == pytest.approx([1e-8, 1e-4, 1.0], rel=1e-12)
    _, _, sigma = split(u @ np.diag([1.0, 1e-4, 1e-8]) @ v[:3])
    assert np.sort(sigma) == pytest.approx([1e-8, 1e-4, 1.0], rel=1e-7)
