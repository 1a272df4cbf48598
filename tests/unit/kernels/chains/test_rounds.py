import numpy as np

from poise.kernels.chains.rounds import MIN_ERROR_DECREASE, ROUNDS_PER_STALL_CHECK, record_posture, stalled


def test_rounds_are_looked_at_together():
    for rounds in range(1, ROUNDS_PER_STALL_CHECK):
        assert stalled(rounds, ROUNDS_PER_STALL_CHECK, 2.0, 1.0) == (False, 1.0)
    assert stalled(ROUNDS_PER_STALL_CHECK, ROUNDS_PER_STALL_CHECK, 0.5, 1.0) == (False, 0.5)
    assert stalled(2 * ROUNDS_PER_STALL_CHECK, ROUNDS_PER_STALL_CHECK, 1.0 - 0.5 * MIN_ERROR_DECREASE, 1.0) == (
        True,
        1.0 - 0.5 * MIN_ERROR_DECREASE,
    )


def test_a_trace_keeps_as_many_postures_as_it_has_rows():
    trace = np.zeros((2, 3))
    for taken in range(4):
        record_posture(taken, np.full(3, taken + 1.0), trace)
    assert trace.tolist() == [[1.0] * 3, [2.0] * 3]
