"""Compilation by numba: the decorator of all kernels, its disk cache, and the workarounds for slow parts of numba."""
