"""What the studio shows at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from poise.engine.scene import Scene
from poise.figure.figure import Figure
from poise.figure.posture import Posture
from poise.pictures.parts import Appearance, appearance
from poise.studio.freedoms import Freedom, freedoms_of
from poise.studio.outcome import Outcome
from poise.studio.pull import Pull


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


def state_of(scene: Scene, folder: Path | None = None) -> State:
    """A scene at its start; meshes of its figure are looked for in `folder`."""
    figure = scene.figure
    start = figure.neutral() if scene.start is None else figure.posture(scene.start)
    return State(scene, appearance(figure, folder=folder), start, freedoms_of(figure))
