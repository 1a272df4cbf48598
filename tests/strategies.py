"""Hypothesis strategies: random figures of every kind, and random postures of them, legal and wild."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from poise.errors import FigureError
from poise.figure.model.body import Body, Site
from poise.figure.model.figure import Figure
from poise.figure.model.joints import KINDS, Coupling, Joint, Kind, Term
from poise.figure.model.mass import Mass
from poise.figure.model.posture import Posture
from poise.kernels.body.limits import ball_split, nearest_turn, twist_interval
from tests import random_parts as parts

Draw = st.DrawFn
SCALAR: tuple[Kind, ...] = ("revolute", "prismatic", "universal", "elbow", "cylindrical", "planar", "cartesian")
ODD_NAMES = ("left hand", "a.b", 'quo"ted', "Ωμέγα", "new\nline", "", "back\\slash", "x")


@dataclass(frozen=True)
class Recipe:
    """What kinds of figures to make."""

    kinds: tuple[Kind, ...] = KINDS
    bodies: int = 12
    couplings: int = 2
    loops: int = 2
    base: tuple[str, ...] = ("root", "free", "fixed", "world")
    """How the first body hangs: not at all, or from the world by a free joint, a fixed one, or one of any kind."""
    odd_names: bool = True
    ball_couplings: bool = False


ANY = Recipe()


@st.composite
def figures(draw: Draw, recipe: Recipe = ANY) -> Figure:
    """A figure: the choices are hypothesis', the numbers come from one drawn seed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, recipe.bodies))
    bodies = [_body(draw, rng, i) for i in range(count)]
    joints = _joints(draw, rng, bodies, recipe)
    given: dict[str, Any] = {
        "sites": [_site(draw, rng, bodies, i) for i in range(draw(st.integers(0, 3)))],
        "loops": [_loop(draw, rng, bodies, i) for i in range(draw(st.integers(0, recipe.loops)))],
        "up": draw(st.sampled_from("xyz")),
        "placement": parts.pose(rng),
        "description": draw(st.sampled_from(["", "a figure", 'with "quotes"\nand lines'])),
    }
    figure = Figure(draw(st.sampled_from(["thing", *ODD_NAMES])), bodies, joints, **given)
    couplings = draw(st.integers(0, recipe.couplings))
    if couplings:
        figure = _coupled(draw, rng, figure, couplings, recipe)
    return figure.replaced(postures=_named_postures(draw, rng, figure)) if draw(st.booleans()) else figure


def _body(draw: Draw, rng: np.random.Generator, i: int) -> Body:
    weight = parts.mass(rng) if i == 0 or draw(st.integers(0, 3)) else Mass()
    return Body(f"b{i}", weight, parts.shapes(rng))


def _joints(draw: Draw, rng: np.random.Generator, bodies: list[Body], recipe: Recipe) -> list[Joint]:
    joints = []
    base = draw(st.sampled_from(recipe.base))
    if base != "root":
        kind: Kind = draw(st.sampled_from(recipe.kinds)) if base == "world" else base  # type: ignore[assignment]
        joints.append(_joint(draw, rng, "base", kind, None, "b0"))
    for i in range(1, len(bodies)):
        kind = draw(st.sampled_from(recipe.kinds))
        parent = f"b{draw(st.integers(0, i - 1))}"
        name = ODD_NAMES[i % len(ODD_NAMES)] if recipe.odd_names and i % 3 == 0 else f"j{i}"
        joints.append(_joint(draw, rng, name, kind, parent, f"b{i}"))
    return list(draw(st.permutations(joints))) if len(joints) < 5 else joints


def _joint(draw: Draw, rng: np.random.Generator, name: str, kind: Kind, parent: str | None, child: str) -> Joint:
    lower, upper = parts.scalar_limits(rng, kind)
    return Joint(
        name,
        kind,
        parent,
        child,
        parts.axes(rng, kind),
        parent_frame=parts.pose(rng),
        child_frame=parts.pose(rng),
        lower=lower,
        upper=upper,
        ball_limits=parts.ball_limits(rng) if kind == "ball" else None,
        active=bool(rng.integers(2)),
        speed=float(rng.choice([math.inf, 2.0, rng.uniform(0.1, 9.0)])),
        strength=float(rng.choice([math.inf, 10.0, rng.uniform(0.1, 99.0)])),
        reversed=kind != "free" and draw(st.integers(0, 3)) == 0,
    )


def _site(draw: Draw, rng: np.random.Generator, bodies: list[Body], i: int) -> Site:
    return Site(f"s{i}", draw(st.sampled_from(bodies)).name, parts.pose(rng))


def _loop(draw: Draw, rng: np.random.Generator, bodies: list[Body], i: int) -> Joint:
    ends = draw(st.permutations([None, *(body.name for body in bodies)]))
    child = next(end for end in ends if end is not None)
    parent = ends[0] if ends[0] != child else None
    return _joint(draw, rng, f"loop{i}", draw(st.sampled_from(KINDS)), parent, child)


def _coupled(draw: Draw, rng: np.random.Generator, figure: Figure, count: int, recipe: Recipe) -> Figure:
    """`figure` with couplings that one legal posture meets, so that some posture does."""
    witness = figure.random(rng)
    known = _coordinates(figure, witness, recipe.ball_couplings)
    if not known:
        return figure
    couplings = []
    for i in range(count):
        keys = draw(st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=3, unique=True))
        terms = tuple(Term(joint, float(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 2.0)), part) for joint, part in keys)
        value = sum(term.factor * known[joint, part] for term, (joint, part) in zip(terms, keys, strict=True))
        below, above = rng.choice([0.0, 0.0, 0.1, 1.0, math.inf], 2)
        if math.isinf(below) and math.isinf(above):
            above = 0.2
        couplings.append(Coupling(f"c{i}", terms, float(value - below), float(value + above)))
    return _with_as_many(figure, couplings, recipe)


def _with_as_many(figure: Figure, couplings: list[Coupling], recipe: Recipe) -> Figure:
    """`figure` with the first couplings that it takes.

    Those of scalars are met by a convex set of postures, and the figure must find one. With those of ball joints the
    set may have parts, and from where the joints are at zero the way to the part of the witness may be barred.
    """
    try:
        return figure.replaced(couplings=couplings)
    except FigureError:
        if not recipe.ball_couplings:
            raise
        return _with_as_many(figure, couplings[:-1], recipe)


def _coordinates(figure: Figure, witness: Posture, balls: bool) -> dict[tuple[str, str], float]:
    """Values of all coordinates that couplings can name, in one posture."""
    found = {}
    for joint in figure.joints:
        if joint.scalars:
            values = witness.q[figure.q_slice(joint.name)]
            found |= {(joint.name, part): float(value) for part, value in zip(joint.coordinates, values, strict=True)}
        elif balls and joint.ball_limits is not None:
            bounds = figure.compiled.bounds
            ball = bounds.ball_start.tolist().index(figure.q_slice(joint.name).start)
            x, y, twist = ball_split(bounds, ball, witness._q)
            if joint.ball_limits.twist is not None:
                twist = nearest_turn(twist, sum(twist_interval(bounds, ball, x, y)) / 2.0)
            found |= {(joint.name, part): value for part, value in zip(joint.coordinates, (x, y, twist), strict=True)}
    return found


def _named_postures(draw: Draw, rng: np.random.Generator, figure: Figure) -> dict[str, dict[str, tuple[float, ...]]]:
    names = draw(st.lists(st.sampled_from(["neutral", "bowed", "a.b c", ""]), max_size=3, unique=True))
    found = {}
    for name in names:
        legal = figure.random(rng)
        joints = draw(st.lists(st.sampled_from(figure.joints.names), unique=True)) if len(figure.joints) else []
        chosen = figure.joints.names if name == "neutral" else joints
        found[name] = {joint: tuple(legal.q[figure.q_slice(joint)].tolist()) for joint in chosen}
    return found


@st.composite
def legal_postures(draw: Draw, figure: Figure) -> Posture:
    """A posture inside all limits and couplings."""
    return figure.random(draw(st.integers(0, 2**32 - 1)))


@st.composite
def wild_postures(draw: Draw, figure: Figure) -> Posture:
    """A posture that need not respect anything: far values, rotations near half a turn, and the rest."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([0.01, 1.0, 4.0, 1e3]))
    values: dict[str, np.ndarray] = {}
    for joint in figure.joints:
        q = rng.normal(size=joint.nq) * scale
        if joint.kind in ("ball", "free"):
            q[-4:] = parts.rotation(rng)
        if joint.nq:
            values[joint.name] = q
    q = np.concatenate([values[name] for name in figure.moving_joints]) if values else np.empty(0)
    return figure.posture(q)


@st.composite
def figures_with_posture(draw: Draw, recipe: Recipe = ANY) -> tuple[Figure, Posture]:
    """A figure and any posture of it."""
    figure = draw(figures(recipe))
    return figure, draw(st.one_of(legal_postures(figure), wild_postures(figure)))
