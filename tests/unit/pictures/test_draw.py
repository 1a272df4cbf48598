from pathlib import Path

import numpy as np
import pytest

from poise.errors import PoiseError
from poise.figure.model.builder import Builder, revolute
from poise.figure.model.pose import Pose, turn, vector
from poise.figure.model.shapes import Mesh, Sphere
from poise.pictures import Picture, contact_sheet, draw, strip
from poise.pictures.parts import appearance
from poise.pictures.theme import DARK_THEME, LIGHT_THEME, Theme

from .figures import four_bar, post, stick, with_mesh
from .test_meshes import binary_stl

SMALL = (48, 40)


def looks_like(picture: Picture, color: tuple[float, float, float], tolerance: int = 25) -> np.ndarray:
    """(h, w) where the picture has about this colour."""
    return (np.abs(picture.pixels.astype(int) - np.array(color) * 255) < tolerance).all(axis=2)


def reddish(picture: Picture) -> np.ndarray:
    red, green, blue = np.moveaxis(picture.pixels.astype(int), 2, 0)
    return (red > 1.8 * green) & (red > 1.8 * blue)


def test_a_picture_shows_the_figure_inside_its_border() -> None:
    picture = draw(post(), size=SMALL, joints=False)
    assert picture.pixels.shape == (40, 48, 3)
    assert picture.pixels.dtype == np.uint8
    ys, xs = np.nonzero(reddish(picture))
    assert len(ys) > 10
    assert xs.min() > 0
    assert xs.max() < 47
    assert ys.min() > 0


def test_the_same_question_draws_the_same_bytes() -> None:
    assert draw(post(), size=SMALL).pixels.tobytes() == draw(post(), size=SMALL).pixels.tobytes()


def test_a_posture_moves_the_drawn_ball() -> None:
    low, high = (reddish(draw(post(), {"lift": angle}, size=SMALL, view="front")) for angle in (-1.2, 1.2))
    assert np.nonzero(high)[0].mean() < np.nonzero(low)[0].mean() - 4.0


def test_a_figure_lying_in_another_world_is_drawn_alike() -> None:
    # Turning y to z and z to x takes a world of animation to a world of robotics.
    turned = Pose(vector((0.0, 0.0, 0.0)), turn((1.0, 1.0, 1.0), 120.0))
    animated, robot = draw(post("y"), size=SMALL), draw(post("z", turned), size=SMALL)
    assert np.abs(animated.pixels.astype(int) - robot.pixels.astype(int)).mean() < 0.2


def test_views_differ() -> None:
    views = {
        view: draw(post(), size=SMALL, view=view).pixels.tobytes() for view in ("front", "side", "top", "three-quarter")
    }
    assert len(set(views.values())) == 4


def test_bodies_without_shapes_are_drawn_as_bones() -> None:
    look = appearance(stick())
    assert all(part.is_bone for part in look.parts)
    assert len(look.parts) == 2
    tall = np.ptp(look.vertices(stick().frames(stick().neutral()))[:, 1])
    assert tall == pytest.approx(0.7, rel=0.05)
    assert all(part.is_bone for part in appearance(post(), skeleton=True).parts)
    assert not any(part.is_bone for part in appearance(post()).parts)


@pytest.mark.parametrize(
    ("active", "wanted", "other"),
    [(True, LIGHT_THEME.active, LIGHT_THEME.passive), (False, LIGHT_THEME.passive, LIGHT_THEME.active)],
)
def test_active_and_passive_joints_have_their_colours(active: bool, wanted: tuple, other: tuple) -> None:
    picture = draw(stick(active=active), size=(160, 160))
    assert looks_like(picture, wanted).any()
    assert not looks_like(picture, other).any()


def test_loops_are_marked_and_open_ones_stand_out() -> None:
    closed, opened = draw(four_bar(), size=(160, 160)), draw(four_bar(gap=0.05), size=(160, 160))
    assert looks_like(closed, LIGHT_THEME.loop).any()
    assert not looks_like(closed, LIGHT_THEME.gap).any()
    assert looks_like(opened, LIGHT_THEME.gap).any()


def test_a_mesh_is_drawn_from_its_file_and_a_missing_one_as_bones(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_bytes(binary_stl())
    found = appearance(with_mesh("a.stl"), folder=tmp_path)
    assert [part.is_bone for part in found.parts] == [False]
    assert found.notes == ()
    lost = draw(with_mesh("package://nobody/b.stl"), size=SMALL, folder=tmp_path)
    assert len(lost.notes) == 1
    assert "the mesh file 'package://nobody/b.stl' does not exist" in lost.notes[0]
    assert looks_like(lost, LIGHT_THEME.bone, 90).any()


def test_a_body_whose_visual_mesh_is_missing_is_drawn_with_its_collision_shapes() -> None:
    made = Builder("covered")
    made.body("thing", shapes=[Mesh("lost.stl", role="visual"), Sphere(0.2, role="collision")])
    look = appearance(made.build())
    assert [part.is_bone for part in look.parts] == [False]
    assert np.abs(look.parts[0].surface.vertices).max() == pytest.approx(0.2)
    assert len(look.notes) == 1


def test_themes_differ_in_their_backdrop() -> None:
    assert draw(post(), size=SMALL, theme="dark").pixels[:3].mean() < 60
    assert draw(post(), size=SMALL, theme="light").pixels[:3].mean() > 220
    assert isinstance(DARK_THEME, Theme)


def test_labels_add_names_and_sites() -> None:
    plain, named = (draw(post(), size=(120, 120), labels=labels) for labels in (False, True))
    assert (plain.pixels != named.pixels).any(axis=2).sum() > 40


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"size": (10, 100)}, "16 to 8192 pixels, not 10x100"),
        ({"theme": "darkk"}, "Did you mean 'dark'"),
        ({"view": "back"}, "no view 'back'"),
        ({"posture": "rised"}, "Did you mean 'raised'"),
    ],
)
def test_a_wrong_question_is_answered_in_a_sentence(options: dict, reason: str) -> None:
    with pytest.raises(PoiseError, match=reason):
        draw(post(), **options)


def test_a_picture_is_saved_under_a_name_with_an_ending(tmp_path: Path) -> None:
    picture = draw(post(), size=SMALL)
    assert picture.save(tmp_path / "a") == tmp_path / "a.png"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(PoiseError, match="cannot be written"):
        picture.save(tmp_path / "nowhere" / "a.png")
    with pytest.raises(PoiseError, match="cannot be written"):
        picture.save(tmp_path / "a.nonsense")


def test_a_strip_draws_all_postures_from_one_place() -> None:
    row = strip(post(), [post().neutral(), "raised"], size=SMALL, joints=False)
    height, width, _ = row.pixels.shape
    assert width == 2 * SMALL[0]
    assert height > SMALL[1]  # the title below
    low, high = (np.nonzero(reddish(Picture(half)))[0].mean() for half in np.split(row.pixels, 2, axis=1))
    assert high < low
    with pytest.raises(PoiseError, match="at least one posture"):
        strip(post(), [])


def test_a_contact_sheet_has_room_for_every_picture() -> None:
    one = draw(post(), size=SMALL)
    sheet = contact_sheet([("a", one), ("b", one), ("", one)], columns=2)
    assert sheet.pixels.shape[1] == 2 * SMALL[0]
    assert sheet.pixels.shape[0] > 2 * SMALL[1]
    untitled = contact_sheet([("", one)])
    assert (untitled.pixels == one.pixels).all()
    with pytest.raises(PoiseError, match="at least one picture"):
        contact_sheet([])


def test_bones_of_a_root_meet_in_the_middle_of_its_child_joints() -> None:
    made = Builder("legs", placement=Pose(vector((0.0, -1.0, 0.0))))
    made.body("hips")
    for side, x in (("left", 0.1), ("right", -0.1)):
        made.body(side, parent="hips", joint=revolute(f"{side}_hip", "x"), at=(x, 1.0, 0.0))
    figure = made.build()
    points = appearance(figure, skeleton=True).vertices(figure.frames(figure.neutral()))
    assert points[:, 1].min() > -0.05
