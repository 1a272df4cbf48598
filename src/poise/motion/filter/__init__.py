"""The motion filter: smooth set-points inside limits of position, velocity, acceleration and jerk."""
