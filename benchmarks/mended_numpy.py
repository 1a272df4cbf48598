"""Imported before numba: restores a name that numpy 2.5 removed and that older numba releases import."""

import numpy as np

vars(np).setdefault("row_stack", np.vstack)
