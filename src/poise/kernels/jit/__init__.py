"""The compiler: one decorator for all kernels, its cache on disk, and what works around numba."""
