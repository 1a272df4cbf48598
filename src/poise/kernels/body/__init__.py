"""The kinematic tree of a figure: frames, Jacobians, limits, couplings and second derivatives."""
