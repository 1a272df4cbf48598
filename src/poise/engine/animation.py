"""An animation of a scene: keys at times. `poise.animate` solves the frames between them (`poise.motion.keys`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, get_args

from poise.arguments import all_of, number, positive
from poise.errors import TaskError
from poise.figure.model.figure import PostureLike
from poise.tasks.task import Task

Ease = Literal["smooth", "stop", "linear"]
EASES: tuple[Ease, ...] = get_args(Ease)
"""How a motion passes a key: without stopping, coming to rest, or at constant speed with a corner."""
SAME_TIME = 1e-4
"""Times that differ by less are the same [s]."""
LONGEST_ANIMATION = 3600.0
"""Longest animation [s]."""


@dataclass(frozen=True, eq=False)
class Key:
    """What a figure does at one time: a whole posture, tasks with their targets, or both."""

    time: float
    """Time from the start of the animation [s]."""
    posture: PostureLike | None = None
    """The whole posture; None for a key of tasks alone, which leaves the rest of the figure to other keys."""
    tasks: tuple[Task, ...] = ()
    """The tasks that hold here, with their targets. Tasks of two keys with the same kind and label are one task whose
    target moves."""
    ease: Ease = "smooth"
    """How the motion passes the key."""

    def __post_init__(self) -> None:
        """Check the time, the ease and the tasks."""
        number(self.time, "the time of a key", least=0.0, unit="seconds")
        if self.time > LONGEST_ANIMATION:
            raise TaskError(f"the time of a key is at most {LONGEST_ANIMATION:g} s, not {self.time:g}.")
        if self.ease not in EASES:
            raise TaskError(f"the ease of a key is one of {', '.join(EASES)}, not {self.ease!r}.")
        object.__setattr__(self, "tasks", all_of(self.tasks, Task, "task"))
        if self.posture is None and not self.tasks:
            raise TaskError("a key needs a posture, tasks, or both.")

    @property
    def is_whole(self) -> bool:
        """Whether the key has a posture."""
        return self.posture is not None


@dataclass(frozen=True, eq=False)
class Animation:
    """Keys in the order of their times, and how they are played."""

    keys: tuple[Key, ...] = ()
    """The keys; sorted by time, no two at the same time."""
    loop: bool = False
    """Whether the motion goes back to the first key at its end, and begins again."""
    end: float | None = None
    """Time at which the animation ends [s]; that of the last key if None."""
    rate: float = 30.0
    """Frames per second of the motion that is made of it [1/s]."""
    clip: Any = field(default=None, repr=False)
    """A `poise.Clip` of the same figure that plays under the keys: their postures change it near their times."""

    def __post_init__(self) -> None:
        """Sort and check the keys."""
        keys = tuple(sorted(all_of(self.keys, Key, "key"), key=lambda key: key.time))
        object.__setattr__(self, "keys", keys)
        positive(self.rate, "the rate of an animation", unit="frames per second")
        for a, b in pairwise(keys):
            if b.time - a.time < SAME_TIME:
                raise TaskError(f"two keys have the same time, {a.time:g} s: move or delete one of them.")
        if self.end is not None:
            number(self.end, "the end of an animation", least=0.0, unit="seconds")
            if self.end > LONGEST_ANIMATION:
                raise TaskError(f"an animation ends after {LONGEST_ANIMATION:g} s at the latest, not {self.end:g}.")

    @property
    def duration(self) -> float:
        """Time at which it ends [s]; keys after `end` do not count."""
        if self.end is not None:
            return self.end
        if not self.keys and self.clip is not None:
            return float(self.clip.duration)
        return self.keys[-1].time if self.keys else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that moves: no keys, and no clip."""
        return not self.keys and self.clip is None

    def key_at(self, time: float) -> int | None:
        """The number of the key at a time; None if there is none."""
        return next((k for k, key in enumerate(self.keys) if abs(key.time - time) < SAME_TIME), None)

    def with_key(self, key: Key) -> Animation:
        """The animation with another key, in place of one at the same time."""
        others = [other for other in self.keys if abs(other.time - key.time) >= SAME_TIME]
        return replace(self, keys=(*others, key))

    def without_keys(self, numbers: Iterable[int]) -> Animation:
        """The animation without some keys."""
        gone = {self._checked(number) for number in numbers}
        return replace(self, keys=tuple(key for k, key in enumerate(self.keys) if k not in gone))

    def with_key_at(self, number: int, time: float) -> Animation:
        """The animation with one key moved to another time [s]; a key that is there already is replaced."""
        key = self.keys[self._checked(number)]
        return self.without_keys([number]).with_key(replace(key, time=time))

    def with_ease(self, number: int, ease: Ease) -> Animation:
        """The animation with another ease of one key."""
        return self.with_key(replace(self.keys[self._checked(number)], ease=ease))

    def retimed(self, factor: float, since: float = 0.0) -> Animation:
        """The animation with all times after `since` stretched: twice as slow for a factor of 2."""
        positive(factor, "the factor of a retiming")

        def stretched(time: float) -> float:
            return time if time <= since else since + factor * (time - since)

        keys = tuple(replace(key, time=stretched(key.time)) for key in self.keys)
        return replace(self, keys=keys, end=None if self.end is None else stretched(self.end))

    def _checked(self, number: int) -> int:
        if not 0 <= number < len(self.keys):
            raise TaskError(f"there is no key number {number}; the animation has {len(self.keys)}.")
        return number
