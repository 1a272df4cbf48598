"""The state of the studio, an immutable object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from poise.engine.scene import Scene
from poise.figure.model.figure import Figure
from poise.figure.model.posture import Posture
from poise.pictures.parts import Appearance, appearance
from poise.studio.session.driver import Mode
from poise.studio.session.freedoms import Freedom, freedoms_of
from poise.studio.session.outcome import Outcome
from poise.studio.session.pull import Pull
from poise.tasks.task import Recruits


@dataclass(frozen=True)
class State:
    """Everything the studio shows at one time; a change replaces the whole object."""

    scene: Scene
    """The figure, its tasks, forces, criteria and obstacles."""
    look: Appearance
    """The surfaces of the figure that are drawn."""
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
    folder: Path | None = None
    """Folder in which meshes of the figure are looked for."""
    recruits: Mapping[str, Recruits] = field(default_factory=dict)
    """Joints that pulls and pins of a body may move, by body; all joints for bodies that are not listed."""
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

    def recruits_for(self, body: int) -> Recruits:
        """The joints that a pull on a body may move; None for all."""
        return self.recruits.get(self.figure.bodies[body].name)


def state_of(scene: Scene, folder: Path | None = None) -> State:
    """The state of a scene in its start posture; `folder` contains the meshes of its figure."""
    figure = scene.figure
    start = figure.neutral() if scene.start is None else figure.posture(scene.start)
    return State(scene, appearance(figure, folder=folder), start, freedoms_of(figure), folder=folder)
