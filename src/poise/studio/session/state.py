"""What the studio shows at one moment."""

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
    """Everything at one moment; it never changes, there will be another."""

    scene: Scene
    look: Appearance
    posture: Posture
    freedoms: tuple[Freedom, ...]
    pulls: tuple[Pull, ...] = ()
    """Points that somebody drags."""
    outcome: Outcome = field(default_factory=Outcome)
    mode: Mode = field(default_factory=Mode)
    """Who moves the figure, and how."""
    folder: Path | None = None
    """Where meshes of the figure are looked for."""
    recruits: Mapping[str, Recruits] = field(default_factory=dict)
    """Joints that pulls and pins of a body may move, by body; all where none is said."""
    shown: frozenset[str] = frozenset()
    """What is drawn besides the usual."""
    figure_number: int = 0
    """Grows by one with every new figure."""
    scene_number: int = 0
    """Grows by one whenever what is asked changes."""
    step: int = 0
    """Grows by one with every change."""

    @property
    def figure(self) -> Figure:
        """Who is posed."""
        return self.scene.figure

    def recruits_for(self, body: int) -> Recruits:
        """Joints that a pull on a body may move."""
        return self.recruits.get(self.figure.bodies[body].name)


def state_of(scene: Scene, folder: Path | None = None) -> State:
    """A scene at its start; meshes of its figure are looked for in `folder`."""
    figure = scene.figure
    start = figure.neutral() if scene.start is None else figure.posture(scene.start)
    return State(scene, appearance(figure, folder=folder), start, freedoms_of(figure), folder=folder)
