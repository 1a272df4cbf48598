"""Compilation by numba: the decorator of all kernels, its disk cache, and the workarounds for numba's costs."""
