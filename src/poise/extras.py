"""Packages that only some features need: each belongs to an extra of poise, such as `poise[collision]`.

The `__init__` of a package of poise, or the function that calls an optional package, names what it needs with
`require`, so that whoever lacks it reads one sentence.
"""

from __future__ import annotations

from importlib.util import find_spec

from poise.errors import MissingPackageError

EXTRAS = {
    "PIL": ("Pillow", "pictures"),
    "coal": ("coal", "collision"),
    "distributed": ("distributed", "dask"),
    "lxml": ("lxml", "robots"),
    "matplotlib": ("matplotlib", "pictures"),
    "mujoco": ("mujoco", "mjcf"),
    "nicegui": ("nicegui", "studio"),
    "rerun": ("rerun-sdk", "rerun"),
    "scipy": ("scipy", "motion"),
    "serial": ("pyserial", "robots"),
    "uvicorn": ("uvicorn", "serve"),
    "xacrodoc": ("xacrodoc", "xacro"),
    "yaml": ("PyYAML", "robots"),
}
"""By the name of a module: the package that contains it, and the extra that installs it."""


def require(module: str, feature: str, *, extra: str = "") -> None:
    """Check that a module of an optional package can be imported.

    Args:
        module: The module, one of `EXTRAS`.
        feature: What needs it, as the subject of a sentence in the singular, such as "reading URDF".
        extra: The extra to name, if it is not the one of the module but one that has all the feature needs.

    Raises:
        MissingPackageError: The package is not installed; the sentence says how to install it.
    """
    package, home = EXTRAS[module]
    if find_spec(module) is None:
        raise MissingPackageError(f"{feature} needs {package}: pip install 'poise[{extra or home}]'.")
