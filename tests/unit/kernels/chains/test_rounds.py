import numpy as np

from poise.kernels.chains.rounds import PATIENCE, PROGRESS, keep, stalled


def test_rounds_are_looked_at_together():
    for rounds in range(1, PATIENCE):
        assert stalled(rounds, PATIENCE, 2.0, 1.0) == (False, 1.0)
    assert stalled(PATIENCE, PATIENCE, 0.5, 1.0) == (False, 0.5)
    assert stalled(2 * PATIENCE, PATIENCE, 1.0 - 0.5 * PROGRESS, 1.0) == (True, 1.0 - 0.5 * PROGRESS)


def test_a_trace_keeps_as_many_postures_as_it_has_rows():
    trace = np.zeros((2, 3))
    for taken in range(4):
        keep(taken, np.full(3, taken + 1.0), trace)
    assert trace.tolist() == [[1.0] * 3, [2.0] * 3]
