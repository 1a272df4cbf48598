"""Requirements on every built-in figure."""

from pathlib import Path

import numpy as np
import pytest

import poise
from poise.errors import FigureError
from poise.figure.model.shapes import Shape
from poise.figures import BUILT_IN, built_in

NAMES = sorted(BUILT_IN)
MASSES = {
    "adelino": (0.5, 1.5),
    "snake": (1.0, 5.0),
    "arm": (20.0, 60.0),
    "hand": (0.4, 1.5),
    "cyclist": (75.0, 90.0),
    "human": (70.0, 70.0),
    "walker": (2.0, 4.0),
    "dancer": (4.0, 12.0),
    "boxer": (4.0, 12.0),
}


def test_the_promised_names_are_there() -> None:
    promised = (
        "adelino snake arm hand cyclist human four_bar five_bar delta stewart all_joints serial12 boxer dancer walker"
    )
    assert set(BUILT_IN) == {*promised.split(), *(f"erik_{letter}" for letter in "abcdefg")}


@pytest.mark.parametrize("name", NAMES)
def test_has_a_name_a_sentence_and_shapes(name: str) -> None:
    figure = built_in(name)
    assert figure.name == name
    assert figure.up == "y"
    assert figure.description.endswith(".") and len(figure.description) > 20
    shapes: list[Shape] = [shape for body in figure.bodies for shape in body.shapes]
    assert shapes and all(shape.color is not None for shape in shapes)
    assert len(figure.sites) > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_catalogue_says_what_the_figure_is(name: str) -> None:
    figure = built_in(name)
    mass = float(f"{figure.mass:.3g}")
    facts = (figure.nv, len(figure.moving_joints), len(figure.loops), mass, figure.description)
    assert BUILT_IN[name][1:] == facts, "poise/figures/catalogue.py has other facts"


@pytest.mark.parametrize("name", NAMES)
def test_neutral_and_named_postures_are_legal_and_closed(name: str) -> None:
    figure = built_in(name)
    for posture in (figure.neutral(), *(figure.posture(p) for p in figure.posture_names)):
        assert figure.violations(posture) == []
        assert figure.closure_error(posture) <= 1e-12


@pytest.mark.parametrize("name", [name for name in NAMES if not len(built_in(name).loops)])
def test_random_postures_are_legal(name: str) -> None:
    figure = built_in(name)
    for seed in range(30):
        assert figure.violations(figure.random(seed)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_moving_body_has_plausible_mass(name: str) -> None:
    figure = built_in(name)
    low, high = MASSES.get(name, (0.05, 100.0))
    assert low <= figure.mass <= high
    for body in figure.bodies:
        assert np.linalg.eigvalsh(body.mass.inertia).min() >= 0.0
    assert np.isfinite(figure.center_of_mass(figure.neutral())).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hand"])
def test_nothing_sticks_far_into_the_ground(name: str) -> None:
    figure = built_in(name)
    for posture in (figure.neutral(), *(figure.posture(p) for p in figure.posture_names)):
        frames = figure.frames(posture)
        assert frames.position[:, 1].min() > -0.02


@pytest.mark.parametrize("name", NAMES)
def test_survives_a_file(name: str, tmp_path: Path) -> None:
    figure = built_in(name)
    figure.save(tmp_path / f"{name}.figure.toml")
    back = poise.load(tmp_path / f"{name}.figure.toml")
    assert back.posture_names == figure.posture_names
    for posture in (figure.random(1), figure.neutral()):
        there, here = back.frames(posture.q), figure.frames(posture)
        assert np.allclose(there.position, here.position, atol=1e-12)
        assert np.allclose(there.rotation, here.rotation, atol=1e-12)
    assert back == figure


def test_is_made_once() -> None:
    assert built_in("adelino") is built_in("adelino")


def test_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(FigureError, match=r"no built-in figure 'humen'.*Did you mean 'human'.*stewart"):
        built_in("humen")


@pytest.mark.parametrize("name", ["erik_c", "adelino", "walker", "boxer", "dancer", "hand"])
def test_can_float(name: str) -> None:
    figure = built_in(name)
    floating = figure.with_floating_base()
    assert floating.nv == figure.nv + 6
    assert floating.closure_error(floating.neutral()) <= 1e-12
