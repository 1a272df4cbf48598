"""The kinds of tasks and criteria, by the words that name them in scene files."""

from __future__ import annotations

import pkgutil
import re
import sys
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, TypeVar

from poise.errors import TaskError


class Kind:
    """The base of tasks and criteria: a subclass is known by its word as soon as it is defined."""

    kind: ClassVar[str] = ""
    """Word for the class in scene files, by default its name in snake case; "" if a file cannot hold it."""
    former_kinds: ClassVar[tuple[str, ...]] = ()
    """Words that named the class in older scene files, which can still be read."""
    kinds: ClassVar[dict[str, type[Any]]] = {}
    """All classes with the same base, by word."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Note the words of a class; raises `TaskError` if one of them already names a class of poise."""
        super().__init_subclass__(**options)
        if Kind in cls.__bases__:
            cls.kinds = {}
            return
        if "kind" not in vars(cls):
            cls.kind = "" if cls.__name__.startswith("_") else re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        for word in filter(None, (cls.kind, *vars(cls).get("former_kinds", ()))):
            known = cls.kinds.get(word)
            if known is not None and known.__module__.startswith("poise.") and known.__module__ != cls.__module__:
                raise TaskError(f"{cls.__name__}: the kind {word!r} is taken by poise's own; give it another kind = …")
            cls.kinds[word] = cls


Family = TypeVar("Family", bound=Kind)


def all_kinds(base: type[Family]) -> dict[str, type[Family]]:
    """All classes derived from a base, poise's own and those defined elsewhere, by their words in scene files."""
    _import_tasks()
    return dict(sorted(base.kinds.items()))


@cache
def _import_tasks() -> None:
    """Import every module of this package, so that its classes are known."""
    package = sys.modules[__package__]
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{__package__}.{module.name}")
