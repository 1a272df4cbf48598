"""The figure and its parts: bodies, joints, limits, couplings, masses, shapes and postures."""
