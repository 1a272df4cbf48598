import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import PoiseError
from poise.pictures.camera import VIEWS, View, checked_view, framing, world_axes

MARGIN = 0.07


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(VIEWS),
    st.sampled_from(["x", "y", "z"]),
    st.integers(100, 900),
    st.integers(100, 900),
    st.floats(1e-3, 1e3),
)
def test_framing_is_the_nearest_camera_that_shows_everything(
    seed: int, view: View, up: str, width: int, height: int, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    points = scale * (rng.normal(size=(20, 3)) + rng.normal(size=3))
    camera = framing(points, up, view, (width, height), MARGIN)  # type: ignore[arg-type]
    screen = camera.project(points)
    assert (screen[:, 2] > 0.0).all()
    use = np.abs(2.0 * screen[:, :2] / (width, height) - 1.0).max(axis=0)
    assert use.max() == pytest.approx(1.0 - 2.0 * MARGIN, rel=1e-6)


@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_up_is_up_and_front_faces_the_viewer(up: str) -> None:
    forward, left, upward = world_axes(up)  # type: ignore[arg-type]
    assert np.cross(upward, forward) == pytest.approx(left)
    origin, high, leftish, ahead = framing_points = np.array([np.zeros(3), upward, left, forward])
    camera = framing(framing_points, up, "front", (200, 200))  # type: ignore[arg-type]
    zero, above, side, near = camera.project(np.array([origin, high, leftish, ahead]))
    assert above[1] < zero[1]
    assert side[0] > zero[0]  # the figure's left is the viewer's right
    assert near[2] > zero[2]


def test_a_single_point_has_a_camera_too() -> None:
    camera = framing(np.zeros((1, 3)), "y", "three-quarter", (100, 100))
    assert np.isfinite(camera.project(np.zeros((1, 3)))).all()


def test_points_behind_the_camera_have_no_nearness() -> None:
    camera = framing(np.eye(3), "y", "front", (100, 100))
    behind = camera.eye + camera.axes[2]
    assert camera.project(behind)[0, 2] == 0.0


def test_an_unknown_view_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PoiseError, match=r"no view 'fron'\. Did you mean 'front'\? Views: front, side, top"):
        checked_view("fron")
