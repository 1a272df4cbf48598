"""The panel of obstacles: planes, spheres, boxes and cylinders that the figure avoids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from nicegui import ui

from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Box, Cylinder, Sphere
from poise.pictures.camera import world_axes
from poise.studio.panels.fields import Entered, Field, Number, Numbers, Switch, attempt, small_button
from poise.studio.session.changes import scene_change
from poise.studio.session.edits.obstacles import (
    OBSTACLE_KINDS,
    AnyObstacle,
    new_obstacle,
    with_obstacle,
    with_obstacle_in_place,
    with_solid,
    without_obstacle,
)
from poise.studio.session.session import Session
from poise.tasks.obstacles import Obstacle, Plane

NEW_OBSTACLE_DISTANCE = 0.35
"""Distance of a new obstacle in front of the figure's middle, as a share of the figure's size."""
NEW_PLANE_DEPTH = 0.01
"""Distance of a new plane below the figure, which is the distance that the figure keeps from obstacles [m]."""
SMALLEST_OBSTACLE = 0.005
"""Smallest radius or edge of an obstacle [m]."""
Edit = Callable[[AnyObstacle, object], AnyObstacle]


class ObstaclesPanel:
    """The panel of obstacles."""

    def __init__(self, session: Session, choose: Callable[[int], object]) -> None:
        """Build the panel inside the current NiceGUI element; `choose` shows the handles of an obstacle."""
        self.session, self.choose = session, choose
        self.built: object = None
        self.fields: list[tuple[Field, int, Callable[[AnyObstacle], object]]] = []
        ui.label("Obstacles").classes("text-subtitle2")
        with ui.row().classes("w-full gap-0"):
            for kind in OBSTACLE_KINDS:
                ui.button(
                    kind.capitalize(), icon="add", on_click=lambda kind=kind: attempt(lambda: self._add(kind))
                ).props("flat dense no-caps size=sm").mark(f"add {kind}")
        self.area = ui.column().classes("w-full gap-1")
        self.solid = Switch("Solid: does not pass through itself or the floor", self._set_solid)

    def _set_solid(self, on: bool) -> None:
        self.session.update(scene_change(with_solid, on))

    def follow(self) -> None:
        """Update the panel to the session's state."""
        obstacles = self.session.state.scene.obstacles
        self.solid.show(self.session.state.scene.solid)
        key = [(type(each), type(getattr(each, "shape", None)), each.name) for each in obstacles]
        if key != self.built:
            self.built = key
            self._build(obstacles)
        for field, number, value_of in self.fields:
            field.show(value_of(obstacles[number]))

    def _build(self, obstacles: tuple[AnyObstacle, ...]) -> None:
        self.area.clear()
        self.fields = []
        with self.area:
            for number, obstacle in enumerate(obstacles):
                with ui.column().classes("poise-task w-full gap-0"):
                    self._row(number, obstacle)

    def _row(self, number: int, obstacle: AnyObstacle) -> None:
        with ui.row().classes("w-full items-center no-wrap"):
            ui.label(obstacle.name or f"obstacle {number + 1}").classes("text-body2 ellipsis col")
            small_button("open_with", "Move and rotate", lambda: self.choose(number))
            small_button("delete", "Remove", lambda: attempt(lambda: self._remove(number)))
        if isinstance(obstacle, Plane):
            self._field(number, lambda e: Number("Height [m]", e, step=0.05), lambda o: o.offset, _with_offset)  # type: ignore[union-attr]
            return
        self._field(number, lambda e: Numbers("Position [m]", e), lambda o: o.pose.position, _with_place)  # type: ignore[union-attr]
        if isinstance(obstacle.shape, Box):
            self._field(number, lambda e: Numbers("Edges [m]", e), lambda o: o.shape.size, _with_edges)  # type: ignore[union-attr]
        elif isinstance(obstacle.shape, Sphere | Cylinder):
            self._field(
                number, lambda e: Number("Radius [m]", e, low=SMALLEST_OBSTACLE, step=0.01), _radius, _with_radius
            )

    def _field(
        self, number: int, make: Callable[[Entered], Field], get: Callable[[AnyObstacle], object], put: Edit
    ) -> None:
        def entered(value: object) -> None:
            new = put(self.session.state.scene.obstacles[number], value)
            self.session.update(scene_change(with_obstacle_in_place, number, new))

        self.fields.append((make(entered), number, get))

    def _add(self, kind: str) -> None:
        state = self.session.state
        forward = world_axes(state.figure.up)[0]
        points = state.look.vertices(state.figure.frames(state.posture))
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        up = state.figure.up_vector
        ground = middle + (float((points @ up).min()) - NEW_PLANE_DEPTH - float(middle @ up)) * up
        ahead = middle + NEW_OBSTACLE_DISTANCE * state.look.extent * forward
        new = new_obstacle(state.scene, kind, ground if kind == "plane" else np.asarray(ahead), state.look.extent)
        self.session.update(scene_change(with_obstacle, new))
        self.follow()

    def _remove(self, number: int) -> None:
        self.session.update(scene_change(without_obstacle, number))


def _with_offset(obstacle: AnyObstacle, value: object) -> AnyObstacle:
    assert isinstance(obstacle, Plane)
    return Plane(obstacle.normal, float(value), name=obstacle.name)  # type: ignore[arg-type]


def _with_place(obstacle: AnyObstacle, value: object) -> AnyObstacle:
    assert isinstance(obstacle, Obstacle)
    return obstacle.moved(Pose(value, obstacle.pose.rotation))  # type: ignore[arg-type]


def _with_edges(obstacle: AnyObstacle, value: object) -> AnyObstacle:
    assert isinstance(obstacle, Obstacle)
    edges = tuple(max(SMALLEST_OBSTACLE, float(edge)) for edge in value)  # type: ignore[attr-defined]
    return replace(obstacle, shape=replace(obstacle.shape, size=edges))  # type: ignore[call-arg]


def _radius(obstacle: AnyObstacle) -> object:
    return obstacle.shape.radius  # type: ignore[union-attr]


def _with_radius(obstacle: AnyObstacle, value: object) -> AnyObstacle:
    assert isinstance(obstacle, Obstacle)
    return replace(obstacle, shape=replace(obstacle.shape, radius=float(value)))  # type: ignore[arg-type, call-arg]
