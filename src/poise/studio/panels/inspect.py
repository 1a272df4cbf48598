"""The window with the parts of a figure: their tree, limits and speeds of the joints, and the least distances."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from nicegui import ui

from poise.errors import PoiseError
from poise.figure.collision.collisions import Collisions, Nearness
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.studio.panels.notices import say_problem
from poise.studio.panels.viewport import Viewport
from poise.studio.session.session import Session
from poise.studio.session.state import State

REACH = 0.5
"""Largest distance of two parts that is listed [m]."""
MOST_LISTED = 40
"""Largest number of pairs that are listed."""
INDENT = 12
"""Indentation of a body under its parent [pixels]."""
COLUMNS = ("Joint", "Kind", "Lower", "Upper", "Speed", "Strength")


def parts_window(session: Session, viewport: Viewport, edit: Callable[[str], object]) -> None:
    """Open the window; a body is highlighted while the pointer is over its name, and edited when it is clicked."""
    state = session.state
    with ui.dialog(value=True).props("seamless position=right") as dialog, ui.card().classes("poise-parts"):
        with ui.row().classes("w-full items-center no-wrap"):
            ui.label(f"Parts of {state.figure.name}").classes("text-subtitle1 ellipsis")
            ui.space()
            ui.button(icon="close", on_click=dialog.close).props('flat round dense aria-label="Close the parts"')
        with ui.tabs().props("dense no-caps align=left") as tabs:
            for name in ("Tree", "Limits and speeds", "Distances"):
                ui.tab(name)
        with ui.tab_panels(tabs, value="Tree", animated=False).classes("w-full poise-parts-panels"):
            with ui.tab_panel("Tree").classes("q-pa-none"), ui.column().classes("w-full gap-0"):
                _tree(state.figure, viewport, edit)
            with ui.tab_panel("Limits and speeds").classes("q-pa-none"):
                _limits(state.figure)
            with ui.tab_panel("Distances").classes("q-pa-none"):
                _distances(session)
    dialog.on("hide", lambda: viewport.highlight(None))
    dialog.on("hide", dialog.delete)


def _tree(figure: Figure, viewport: Viewport, edit: Callable[[str], object]) -> None:
    depth: dict[str | None, int] = {}
    for name, joint in figure.tree_order:
        parent = None if joint is None else joint.parent
        depth[name] = depth.get(parent, -1) + 1
        words = name.replace("_", " ") if joint is None else f"{name.replace('_', ' ')} · {_joint_words(joint)}"
        row = ui.button(words, on_click=lambda name=name: edit(name), color=None)
        row.props("flat dense no-caps align=left").classes("w-full poise-part").mark(f"part {name}")
        row.style(f"padding-left: {4 + INDENT * depth[name]}px")
        number = figure.bodies.index(name)
        for event in ("mouseenter", "focus"):
            row.on(event, lambda number=number: viewport.highlight(number))
        for event in ("mouseleave", "blur"):
            row.on(event, lambda: viewport.highlight(None))


def _joint_words(joint: Joint) -> str:
    return joint.kind if joint.name == joint.child else f"{joint.name.replace('_', ' ')}, {joint.kind}"


def _limits(figure: Figure) -> None:
    """A row for every coordinate of every joint."""
    rows = [row for joint in figure.joints if joint.nv for row in limit_rows(joint)]
    with ui.element("table").classes("poise-table"):
        with ui.element("tr"):
            for word in COLUMNS:
                with ui.element("th"):
                    ui.label(word)
        for row in rows:
            with ui.element("tr"):
                for word in row:
                    with ui.element("td"):
                        ui.label(word)


def limit_rows(joint: Joint) -> list[tuple[str, ...]]:
    """Name, kind, limits, speed and strength of every coordinate of a joint, in words."""
    name = joint.name.replace("_", " ")
    if not joint.scalars:
        limits = "swing and twist" if joint.kind == "ball" and joint.ball_limits is not None else "–"
        return [(name, joint.kind, limits, "", _amount(joint.speed, "turn", "/s"), _plain(joint.strength, "N m"))]
    rows: list[tuple[str, ...]] = []
    for word, kind, low, high in zip(joint.coordinates, joint.scalars, joint.lower, joint.upper, strict=True):
        label = name if len(joint.scalars) == 1 else f"{name} {word}"
        strength = _plain(joint.strength, "N m" if kind == "turn" else "N")
        rows.append(
            (label, joint.kind, _amount(low, kind), _amount(high, kind), _amount(joint.speed, kind, "/s"), strength)
        )
    return rows


def _amount(value: float, kind: str, per: str = "") -> str:
    if not math.isfinite(value):
        return "–"
    return f"{math.degrees(value):.1f} °{per}" if kind == "turn" else f"{value:.3f} m{per}"


def _plain(value: float, unit: str) -> str:
    return f"{value:.3g} {unit}" if math.isfinite(value) else "–"


def _distances(session: Session) -> None:
    found = ui.column().classes("w-full gap-0")
    with found:
        ui.label("Measures all pairs of parts that could collide, in the present posture.").classes("poise-line")

    async def measure() -> None:
        button.set_enabled(False)
        try:
            rows = await asyncio.to_thread(least_distances, session.state)
        except PoiseError as problem:
            say_problem(str(problem))
            rows = []
        button.set_enabled(True)
        found.clear()
        with found:
            if not rows:
                ui.label(f"No two parts are nearer than {REACH:g} m.").classes("poise-line")
            for row in rows:
                _distance(row)

    button = ui.button("Measure", icon="straighten", on_click=measure)
    button.props("flat dense no-caps").mark("measure distances")


def _distance(row: Nearness) -> None:
    with ui.row().classes("w-full items-center no-wrap gap-2"):
        ui.label(f"{row.a} – {row.b}".replace("_", " ")).classes("text-caption col ellipsis")
        value = ui.label(f"{1e3 * row.distance:.1f} mm").classes("text-caption poise-number")
        if row.distance < 0.0:
            value.classes("poise-bad")


def least_distances(state: State) -> list[Nearness]:
    """The nearest points of every pair of parts and obstacles, the least distances first."""
    measured = Collisions(state.figure, state.scene.obstacles, reach=REACH).at(state.posture)
    least: dict[tuple[str, str], Nearness] = {}
    for row in sorted(measured, key=lambda row: row.distance):
        least.setdefault((row.a, row.b), row)
    return list(least.values())[:MOST_LISTED]
