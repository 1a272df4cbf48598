"""Changes of the scene's animation: functions that return the state with other keys, or at another time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from poise.engine.animation import Animation, Ease, Key
from poise.engine.scene import joint_values
from poise.errors import TaskError
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.studio.session.edits.scene import with_parts
from poise.studio.session.postures import carried_over
from poise.studio.session.state import State, with_scene
from poise.tasks.task import Task

FIRST_LENGTH = 10.0
"""Length of the timeline of a short animation [s]."""
LEAST_GAP = 1.0
"""Time after the last key that the timeline shows [s]."""


def animation_of(state: State) -> Animation:
    """The animation of the scene; one without keys if there is none."""
    return state.scene.animation or Animation()


def timeline_length(animation: Animation) -> float:
    """Length of the timeline [s]."""
    last = animation.keys[-1].time if animation.keys else 0.0
    return animation.end if animation.end is not None else max(FIRST_LENGTH, last + LEAST_GAP)


def time_of_posture(state: State) -> float:
    """The time of the first key that has the present posture; 0 if there is none [s]."""
    for key in animation_of(state).keys:
        if key.posture is not None and state.figure.posture(key.posture) == state.posture:
            return key.time
    return 0.0


def on_frame(animation: Animation, time: float) -> float:
    """The time of the nearest frame of an animation, not before its start [s]."""
    return max(round(float(time) * animation.rate), 0) / animation.rate


def with_animation(state: State, animation: Animation) -> State:
    """The state with another animation."""
    return with_scene(state, with_parts(state.scene, animation=animation))


def with_key_now(state: State, only: Iterable[int] | None = None) -> State:
    """The state with a key at its time: of the posture and all tasks, or of the tasks with these numbers alone."""
    animation, tasks = animation_of(state), state.scene.tasks
    time = on_frame(animation, state.time)
    there = animation.key_at(time)
    ease: Ease = "smooth" if there is None else animation.keys[there].ease
    if only is None:
        key = whole_key(time, state.posture, tasks, ease)
    else:
        chosen = tuple(task for number, task in enumerate(tasks) if number in set(only) and task.active)
        if not chosen:
            raise TaskError("there is no task to key: choose a task that is switched on.")
        key = _with_tasks(animation.keys[there], chosen) if there is not None else Key(time, None, chosen, ease)
    return with_animation(replace(state, time=time), animation.with_key(key))


def whole_key(time: float, posture: Posture, tasks: Iterable[Task], ease: Ease = "smooth") -> Key:
    """A key of a posture and the tasks that are switched on; a scene file has the same joint values bit for bit."""
    active = tuple(task for task in tasks if task.active)
    return Key(time, joint_values(posture, posture.figure), active, ease)


def _with_tasks(key: Key, tasks: Sequence[Task]) -> Key:
    """The key with tasks in place of those with the same kinds and labels."""
    new = {(type(task), task.label) for task in tasks}
    return replace(key, tasks=(*(task for task in key.tasks if (type(task), task.label) not in new), *tasks))


def without_key_now(state: State) -> State:
    """The state without the key at its time; the same state if there is none."""
    animation = animation_of(state)
    number = animation.key_at(state.time)
    return state if number is None else with_animation(state, animation.without_keys([number]))


def with_moved_key(state: State, number: int, time: float, *, later_too: bool = False) -> State:
    """The state with a key at the frame nearest to a time, and at that time itself [s].

    With `later_too`, all keys after it move by as much.
    """
    animation = animation_of(state)
    there = on_frame(animation, time)
    if not 0 <= number < len(animation.keys):
        raise TaskError(f"there is no key number {number}.")
    if later_too:
        first = animation.keys[number - 1].time + 1.0 / animation.rate if number else 0.0
        there = max(there, on_frame(animation, first))
        shift = there - animation.keys[number].time
        keys = [replace(key, time=key.time + shift) if k >= number else key for k, key in enumerate(animation.keys)]
        end = None if animation.end is None else animation.end + shift
        return with_animation(replace(state, time=there), replace(animation, keys=tuple(keys), end=end))
    return with_animation(replace(state, time=there), animation.with_key_at(number, there))


def with_copied_key(state: State, key: Key, time: float) -> State:
    """The state with a copy of a key at the frame nearest to a time, and its own time there [s]."""
    animation = animation_of(state)
    there = on_frame(animation, time)
    return with_animation(replace(state, time=there), animation.with_key(replace(key, time=there)))


def with_ease_now(state: State, ease: Ease) -> State:
    """The state with another ease of the key at its time; the same state if there is none."""
    animation = animation_of(state)
    number = animation.key_at(state.time)
    if number is None or animation.keys[number].ease == ease:
        return state
    return with_animation(state, animation.with_ease(number, ease))


def at_time(state: State, time: float, posture: Posture, tasks: Sequence[Task]) -> State:
    """The state at another time of its animation, with the posture and the tasks of that time [s]."""
    return replace(with_scene(state, with_parts(state.scene, tasks=tasks)), time=time, posture=posture)


def carried_animation(animation: Animation | None, old: Figure, figure: Figure) -> Animation | None:
    """The animation for a changed figure: joints that both figures have keep their values; a clip is left out."""
    if animation is None:
        return None
    keys = [
        key if key.posture is None else replace(key, posture=carried_over(old.posture(key.posture), figure))
        for key in animation.keys
    ]
    return replace(animation, keys=tuple(keys), clip=None)
