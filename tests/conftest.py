"""Settings shared by all tests."""

import os

from hypothesis import settings

# The first call of a kernel compiles it, so a deadline would only measure the compiler.
settings.register_profile("poise", deadline=None, derandomize=True, print_blob=True)
# HYPOTHESIS_PROFILE=explore looks in new places on every run, and for longer.
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "poise"))
