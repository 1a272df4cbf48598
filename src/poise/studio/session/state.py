"""The state of the studio, an immutable object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from poise.engine.scene import Scene
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.pictures.parts import Appearance, appearance
from poise.studio.session.driver import Mode
from poise.studio.session.freedoms import Freedom, freedoms_of
from poise.studio.session.outcome import Outcome
from poise.tasks.task import Recruits

if TYPE_CHECKING:
    from poise.studio.session.pulls import Pull

APPEARANCES_KEPT = 4
"""Number of figures whose surfaces are kept."""


@dataclass(frozen=True)
class State:
    """Everything the studio shows at one time; a change replaces the whole object."""

    scene: Scene
    """The figure, its tasks, forces, criteria and obstacles."""
    posture: Posture
    """The present posture."""
    freedoms: tuple[Freedom, ...]
    """The figure's degrees of freedom, as the sliders show them."""
    pulls: tuple[Pull, ...] = ()
    """Points and joints that are being dragged."""
    outcome: Outcome = field(default_factory=Outcome)
    """The status light, its sentence, and the verdicts on the tasks."""
    mode: Mode = field(default_factory=Mode)
    """The settings of the present mode."""
    recruits: Mapping[str, Recruits] = field(default_factory=dict)
    """Joints that pulls and pins of a body may move, by body; all joints for bodies that are not listed."""
    time: float = 0.0
    """Time of the animation that is shown [s]."""
    shown: frozenset[str] = frozenset()
    """Optional drawings that are switched on, such as "torques"."""
    figure_number: int = 0
    """Counts changes of the figure."""
    scene_number: int = 0
    """Counts changes of the scene."""
    step: int = 0
    """Counts all changes."""

    @property
    def figure(self) -> Figure:
        """The figure of the scene."""
        return self.scene.figure

    @property
    def look(self) -> Appearance:
        """The surfaces of the figure that are drawn; not part of the state, because they take most of its memory."""
        return appearance_of(self.figure)

    def recruits_for(self, body: int) -> Recruits:
        """The joints that a pull on a body may move; None for all."""
        return self.recruits.get(self.figure.bodies[body].name)


@lru_cache(maxsize=APPEARANCES_KEPT)
def appearance_of(figure: Figure) -> Appearance:
    """The surfaces of a figure that are drawn; those of the last few figures are kept."""
    return appearance(figure)


def state_of(scene: Scene) -> State:
    """The state of a scene in its start posture."""
    figure = scene.figure
    start = figure.neutral() if scene.start is None else figure.posture(scene.start)
    appearance_of(figure)  # reads its meshes, which may be missing
    return State(scene, start, freedoms_of(figure))


def has_work(state: State) -> bool:
    """Whether the scene has anything that could move the figure."""
    scene = state.scene
    return bool(scene.tasks or scene.criteria or scene.obstacles or state.pulls)


def with_scene(state: State, scene: Scene) -> State:
    """The state with another scene of the same figure; all drags end."""
    return replace(state, scene=scene, scene_number=state.scene_number + 1, pulls=())


def continued(now: State, other: State) -> State:
    """Another state to show after the present one: nothing is dragged, and the counters go on."""
    is_new = other.figure is not now.figure
    return replace(
        other,
        pulls=(),
        shown=now.shown,
        figure_number=now.figure_number + is_new,
        scene_number=now.scene_number + 1,
    )
