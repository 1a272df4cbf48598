"""Pictures of scenes show the marks of all tasks, and cut none of them off."""

import numpy as np
import pytest

from poise.engine.scene import Scene
from poise.errors import PoiseError
from poise.figure.model.pose import Pose
from poise.figure.model.shapes import Box, Mesh
from poise.figures import built_in
from poise.pictures import draw_scene
from poise.pictures.goals import Marks, marks_of, plane_patch
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.place import Frame, Position
from poise.tasks.posture import Hold

SIZE = (120, 120)
HUMAN = built_in("human")
STANDING = HUMAN.posture("standing")


def marks(*tasks) -> Marks:
    return marks_of(tasks, STANDING)


def test_lines_join_missed_targets_to_their_points():
    hand = HUMAN.pose_of("right_hand", STANDING).position
    found = marks(Position("right_hand", (-1, 1, 0)), Position("right_hand", hand))
    assert [target.tolist() for target in found.targets] == [[-1, 1, 0], hand.tolist()]
    assert len(found.gaps) == 1
    np.testing.assert_allclose(found.gaps[0], [hand, (-1, 1, 0)])


def test_a_target_of_some_axes_is_the_nearest_place_that_would_do():
    hand = HUMAN.pose_of("right_hand", STANDING).position
    found = marks(Position("right_hand", (0, 2, 0), "y"))
    np.testing.assert_allclose(found.targets[0], [hand[0], 2, hand[2]])


def test_targets_given_in_another_frame_are_drawn_in_the_world():
    chest = HUMAN.pose_of("chest", STANDING)
    found = marks(
        Position("left_hand", (0, 0.3, 0), relative_to="chest"), Frame("left_hand", Pose((0, 0.3, 0)), "chest")
    )
    for target in found.targets:
        np.testing.assert_allclose(target, chest.apply((0, 0.3, 0)))


def test_sights_footprints_and_weights():
    found = marks(
        LookAt("eyes", at=(0, 1, 2)),
        LookAt("eyes", direction=(0, 0, 1)),
        CenterOfMass(over=["left_foot", "right_foot"]),
        CenterOfMass(at=(0, 1, 0)),
        Hold("sitting"),
        Position("right_hand", (9, 9, 9), active=False),
    )
    eyes = HUMAN.pose_of("eyes", STANDING).position
    np.testing.assert_allclose(found.sights, [[eyes, (0, 1, 2)], [eyes, np.add(eyes, (0, 0, 0.5))]])
    assert len(found.footprints) == len(found.weights) == 1
    center, below = found.weights[0]
    np.testing.assert_allclose(center, HUMAN.center_of_mass(STANDING))
    np.testing.assert_allclose(below[[0, 2]], center[[0, 2]])
    assert below[1] == pytest.approx(0.0, abs=1e-9)
    assert len(found.targets) == 3


def test_the_ground_gets_no_patch():
    points = np.array([[-1.0, 0, -1], [1, 2, 1]])
    assert plane_patch(Plane("y"), HUMAN, points) is None
    patch = plane_patch(Plane("-z", -3.0), HUMAN, points)
    np.testing.assert_allclose(patch[:, 2], 3.0)
    np.testing.assert_allclose(np.linalg.norm(np.roll(patch, -1, axis=0) - patch, axis=1), 2.0)


def pictures_of(*scenes: Scene, **options) -> list[bytes]:
    return [draw_scene(scene, "reaching", size=SIZE, **options).pixels.tobytes() for scene in scenes]


def test_everything_asked_changes_the_picture():
    wall = Plane("-z", -1.0)
    table = Obstacle(Box((0.5, 0.05, 0.5)), Pose((0, 0.8, 0.3)))
    pictures = pictures_of(
        Scene(HUMAN),
        Scene(HUMAN, start="sitting"),
        Scene(HUMAN, obstacles=[table]),
        Scene(HUMAN, obstacles=[wall]),
        Scene(HUMAN, [CenterOfMass(over="left_foot")]),
        Scene(HUMAN, [LookAt("eyes", at=(0, 1, 0.5))]),
        Scene(HUMAN, [Position("right_hand", (0, 1, 0.5))]),
    )
    assert len(set(pictures)) == len(pictures)
    assert pictures_of(Scene(HUMAN), view="side") != pictures_of(Scene(HUMAN), theme="dark")


def test_without_the_start_only_the_posture_shows():
    bare = pictures_of(Scene(HUMAN, start="reaching"))
    assert bare == pictures_of(Scene(HUMAN, start="reaching"), start=False)


def test_a_mesh_that_is_not_there_leaves_a_note():
    picture = draw_scene(Scene("arm", obstacles=[Obstacle(Mesh("gone.stl"), name="chair")]), "folded", size=SIZE)
    assert any("obstacle 'chair' is not drawn" in note for note in picture.notes)


def test_pictures_of_no_size_are_refused():
    with pytest.raises(PoiseError, match="16 to 8192 pixels"):
        draw_scene(Scene("arm"), "folded", size=(3, 3))
