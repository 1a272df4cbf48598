"""Scene files: reading handwritten ones, writing, and errors for mistakes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.engine.animation import Animation, Key
from poise.engine.scene import Origin, Scene
from poise.errors import FormatError, TaskError
from poise.figure.model.builder import Builder, revolute
from poise.figure.model.pose import Pose, turn
from poise.figure.model.shapes import Box, Capsule, Mesh, Sphere
from poise.figures import built_in
from poise.forces.loads import Force, Gravity, Support
from poise.formats.scene_toml import parse_scene, scene_text
from poise.formats.scene_toml.kinds import fields_of, sections
from poise.tasks.avoid import Avoid
from poise.tasks.criteria import Comfort, Extend, Flex, Gradient, LeastTorque, NearPosture
from poise.tasks.custom import Custom
from poise.tasks.equilibrium import Equilibrium
from poise.tasks.look_at import LookAt
from poise.tasks.mass import CenterOfMass, MomentOfInertia
from poise.tasks.obstacles import Obstacle, Plane
from poise.tasks.place import Frame, Orientation, Position
from poise.tasks.posture import Hold
from poise.tasks.steady import StayStill, TurnSlowly

REACH = """\
figure = "human"
angles = "degrees"
start = "standing"

[[task]]
kind = "center_of_mass"
over = ["left_foot", "right_foot"]
margin = 0.02

[[task]]
name = "grab"
kind = "position"
site = "right_hand"
at = [-0.4, 1.2, 0.5]
axes = "xz"
weight = [1, 2]
priority = 2
joints = "nearest branch"

[[task]]
kind = "orientation"
site = "left_hand"
rotation = { axis = "x", degrees = 90 }
priority = 3

[[task]]
kind = "hold"
posture = { left_elbow = 20, neck = [1, 0, 0, 0] }
joints = ["left_elbow", "neck"]
priority = 4

[[obstacle]]
name = "table"
kind = "box"
size = [0.6, 0.05, 0.4]
at = [0, 0.8, 0.5]

[[obstacle]]
kind = "plane"
normal = "y"
"""


def everything() -> Scene:
    """A scene with every kind of part, most arguments away from their defaults."""
    human = built_in("human")
    tasks = [
        Position("right_hand", [0.1, 0.2, 1 / 3], axes=[[1, 0, 0], [0, 0.6, 0.8]], offset=(0, 0.1, 0), priority=2),
        Position("left_hand", np.array([0.1, 0.2, 0.3]), relative_to="chest", weight=[1.0, 2.0, 0.5], gain=0.5),
        Orientation("head", (2.0, 0.0, 1.0, 0.0), axes="xz", active=False),
        Frame("left_foot", Pose((0.1, 0, 0), turn("y", 30))),
        Frame("right_foot", Pose()),
        LookAt("eyes", at=(0, 1, 2), axis=(0, 0, 2)),
        LookAt("eyes", direction=(0, 0, 1), name="stare"),
        CenterOfMass(over="left_foot", margin=0.01, priority=3),
        CenterOfMass(at=(0, 1, 0), axes="xz"),
        MomentOfInertia("y", 1.5),
        Hold("sitting", joints=["spine", "chest"]),
        Hold({"left_elbow": 0.3, "left_shoulder": turn("z", 10)}),
        Hold(human.random(3)),
        Hold(human.random(4).q, joints=["neck"]),
        Avoid("self", margin=0.02, exclude=[("left_hand", "head")]),
    ]
    obstacles = [
        Plane((0, 1, 1), 0.1, name="slope"),
        Obstacle(Sphere(0.1), Pose((1, 0, 0)), name="ball"),
        Obstacle(Box((1, 2, 3), pose=Pose((0, 1, 0)), color=(1, 0, 0))),
        Obstacle(Capsule(0.1, 0.2), Pose((0, 0, 1), turn("x", 45))),
        Obstacle(Mesh("chair.stl", (1, 1, 2)), convex=False),
    ]
    forces = [
        Support("left_foot", 0.25, friction=0.5, normal=(0, 1, 0.1), contacts=[(0, 0, 0), (0.1, 0, 0)]),
        Force("right_hand", (0, -20, 0), axes="site"),
        Gravity((0, -1.62, 0)),
        Support("right_foot"),
    ]
    start = human.random(1)
    return Scene(human, tasks, start=start, forces=forces, obstacles=obstacles, description="All — at once")


def test_a_hand_written_scene_is_read():
    scene = parse_scene(REACH)
    assert scene.figure is built_in("human")
    stand, grab, turned, hold = scene.tasks
    assert isinstance(stand, CenterOfMass)
    assert (stand.supports, stand.margin, stand.priority) == (("left_foot", "right_foot"), 0.02, 1)
    assert isinstance(grab, Position)
    assert (grab.name, grab.site, grab.at, grab.axes, grab.weight) == (
        "grab", "right_hand", [-0.4, 1.2, 0.5], "xz", [1.0, 2.0],
    )  # fmt: skip
    assert (grab.priority, grab.joints) == (2, "nearest branch")
    assert isinstance(turned, Orientation)
    np.testing.assert_allclose(turned.rotation, [np.sqrt(0.5), np.sqrt(0.5), 0, 0])
    assert isinstance(hold, Hold)
    assert hold.posture["left_elbow"] == (np.radians(20),)
    assert scene.start == "standing"
    assert scene.obstacles == (Obstacle(Box((0.6, 0.05, 0.4)), Pose((0, 0.8, 0.5)), name="table"), Plane("y"))


def test_written_scenes_read_back_equal():
    scene = everything()
    text = scene_text(scene)
    again = parse_scene(text)
    assert again == scene
    assert scene_text(again) == text
    assert again.tasks[2].active is False


def test_a_hand_written_scene_is_written_in_degrees_and_without_defaults():
    text = scene_text(parse_scene(REACH))
    assert 'angles = "degrees"' in text
    assert "left_elbow = 20" in text
    for default in ("gain", "active", "relative_to", "offset"):
        assert default not in text
    assert parse_scene(text) == parse_scene(REACH)


@pytest.mark.parametrize(
    "change",
    [
        ("margin = 0.02", "margin = 0.03"),
        ('axes = "xz"', 'axes = "xy"'),
        ("left_elbow = 20", "left_elbow = 21"),
        ("[-0.4, 1.2, 0.5]", "[-0.4, 1.2, 0.6]"),
        ('start = "standing"', 'start = "sitting"'),
        ("size = [0.6", "size = [0.7"),
        ("priority = 4", "priority = 5"),
        ('name = "grab"', 'name = "grip"'),
    ],
)
def test_scenes_that_differ_are_not_equal(change):
    assert parse_scene(REACH.replace(*change)) != parse_scene(REACH)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
    st.sampled_from(["x", "yz", "xyz"]),
    st.integers(1, 9),
    st.floats(1e-3, 1e3),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
)
def test_any_position_task_survives(at, axes, priority, weight, name):
    scene = Scene("arm", [Position("tip", at, axes, priority=priority, weight=weight, name=name)])
    assert parse_scene(scene_text(scene)) == scene


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ('kind = "center_of_mass"', 'kind = "center_of_mas"', 6, "Did you mean 'center_of_mass'?"),
        ('site = "right_hand"', 'sit = "right_hand"', 13, "unknown key 'sit'. Did you mean 'site'?"),
        ('site = "right_hand"', 'site = "right_hnad"', 13, "Did you mean 'right_hand'?"),
        ('site = "right_hand"\n', "", 10, "task 'grab' has no 'site'."),
        ("at = [-0.4, 1.2, 0.5]", "at = [-0.4, 1.2]", 14, "'at' of task 'grab' must be 3 numbers"),
        ("at = [-0.4, 1.2, 0.5]", "at = [-0.4, 1.2, nan]", 14, "must be a number"),
        ("at = [-0.4, 1.2, 0.5]", "at = [-0.4, 1.2, inf]", 14, "must be finite"),
        ('axes = "xz"', 'axes = "xw"', 15, "axes must be some of x, y and z"),
        ('axes = "xz"', "axes = [[1, 2]]", 15, "'axes' of task 'grab' must be 3 numbers"),
        ("weight = [1, 2]", "weight = [1, 2, 3]", 10, "weight must be one number or 2 numbers, not 3"),
        ("priority = 2", "priority = 0", 10, "priority must be a whole number of 1 or more"),
        ("priority = 2", "priority = 2.0", 17, "'priority' of task 'grab' must be a whole number"),
        ('joints = "nearest branch"', 'joints = ["rigt_elbow"]', 18, "Did you mean 'right_elbow'?"),
        ('joints = "nearest branch"', "joints = [3]", 18, "must be a name, or names in brackets"),
        ("over = [", 'over = ["left_fot", ', 7, "no site or body 'left_fot'"),
        ("degrees = 90 }", "degree = 90 }", 23, "has no 'degrees'"),
        ("left_elbow = 20", "left_elbw = 20", 28, "Did you mean 'left_elbow'?"),
        ("posture = {", 'posture = "sittin" #', 28, "Did you mean 'sitting'?"),
        ('start = "standing"', 'start = "standin"', 3, "Did you mean 'standing'?"),
        ('start = "standing"', 'start = "nowhere.json"', None, "nowhere.json: does not exist."),
        ('figure = "human"', 'figure = "humen"', 1, "Did you mean 'human'?"),
        ('figure = "human"', 'figure = "robot.urdf"', 1, "names the file 'robot.urdf', which does not exist"),
        ('figure = "human"\n', "", 1, "the file has no 'figure'."),
        ('angles = "degrees"', 'angels = "degrees"', 2, "Did you mean 'angles'?"),
        ('kind = "box"', 'kind = "bax"', 34, "Did you mean 'box'?"),
        ("size = [0.6, 0.05, 0.4]", "radius = 0.6", 35, "unknown key 'radius'"),
        ("size = [0.6, 0.05, 0.4]", "size = [0.6, 0.05, -0.4]", 32, "must be a positive number"),
        ('normal = "y"', "normal = [0, 0, 0]", 38, "has no direction"),
        ('normal = "y"', 'normal = "up"', 40, "one of x, y, z"),
    ],
)  # fmt: skip
def test_mistakes_raise_errors_with_their_line(before, after, line, words):
    assert before in REACH
    text = REACH.replace(before, after, 1)
    with pytest.raises(FormatError) as caught:
        parse_scene(text, None)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ('[[force]]\nsite = "right_hnd"', "Did you mean 'right_hand'?"),
        ('[[force]]\nsite = "right_hand"\naxes = "word"', "must be 'world' or 'site'"),
        ('[[support]]\nsite = "left_foot"\nfriction = -1', "friction of support"),
        ('[[support]]\nsite = "left_foot"\nshares = 1', "Did you mean 'share'?"),
        ('[[criterion]]\nkind = "comfrt"', "Did you mean 'comfort'?"),
        ('[[criterion]]\nkind = "flex"\njoints = "kneee"', "no joint 'kneee'"),
        ('[[criterion]]\nkind = "least_torque"\nstrength = -1', "a strength must be a positive number"),
        ('[[task]]\nkind = "equilibrium"\nforces = []', "write them as [[force]] and [[support]]"),
        ("[[task]]", "task 5 has no 'kind'."),
        ('[[task]]\nkind = "frame"\nsite = "head"', "task 5 has no 'at'."),
        ('[[task]]\nkind = "look_at"\nsite = "eyes"', "give either a point (at=) or a direction"),
    ],
)
def test_mistakes_in_other_tables(extra, words):
    with pytest.raises(FormatError) as caught:
        parse_scene(f"{REACH}\n{extra}\n")
    assert words in str(caught.value)
    assert caught.value.line > REACH.count("\n")


def test_gravity_is_three_numbers():
    scene = parse_scene(f"gravity = [0, -1.62, 0]\n{REACH}")
    assert scene.forces == (Gravity((0, -1.62, 0)),)
    with pytest.raises(FormatError, match="'gravity' of the file must be 3 numbers"):
        parse_scene(f"gravity = 9.81\n{REACH}")


def test_every_argument_of_every_part_has_a_codec():
    for kinds in sections().values():
        for kind, maker in kinds.items():
            if maker.__module__.startswith("poise."):
                assert fields_of(maker, kind)


def test_custom_tasks_cannot_be_saved():
    def dance(posture):
        return [0.0]

    with pytest.raises(TaskError, match="'custom dance' is a Custom, which a scene file cannot hold"):
        scene_text(Scene("arm", [Custom(dance)]))


def test_former_kinds_are_still_read():
    text = 'figure = "arm"\n[[task]]\nkind = "still"\n[[task]]\nkind = "slow"\nspeed = 2.0\nrate = 60.0\n'
    scene = parse_scene(text)
    assert scene == Scene("arm", [StayStill(), TurnSlowly(speed=2.0, rate=60.0)])
    assert [line for line in scene_text(scene).splitlines() if "kind" in line] == [
        'kind = "stay_still"', 'kind = "turn_slowly"',
    ]  # fmt: skip


def small() -> Builder:
    b = Builder("small")
    b.body("foot")
    b.body("stem", parent="foot", joint=revolute("turn", "y"))
    b.site("tip", "stem", at=(0, 0, 0.3))
    return b


def test_figures_from_files_are_named_relative_to_the_scene(tmp_path: Path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "scenes").mkdir()
    small().build().save(tmp_path / "figures" / "small.figure.toml")
    scene = Scene(tmp_path / "figures" / "small.figure.toml", [Position("tip", (0.3, 0, 0))])
    scene.save(tmp_path / "scenes" / "turn.toml")
    text = (tmp_path / "scenes" / "turn.toml").read_text(encoding="utf-8")
    assert 'figure = "../figures/small.figure.toml"' in text
    assert str(tmp_path) not in text
    again = Scene.load(tmp_path / "scenes" / "turn.toml")
    assert again == scene
    again.save(tmp_path / "turn.toml")
    assert 'figure = "figures/small.figure.toml"' in (tmp_path / "turn.toml").read_text(encoding="utf-8")


def test_a_scene_may_be_saved_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    small().build().save(tmp_path / "small.figure.toml")
    monkeypatch.chdir(tmp_path)
    scene = Scene("small.figure.toml")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    scene.save(tmp_path / "scene.toml")
    assert Scene.load("../scene.toml") == scene


def test_meshes_of_obstacles_are_found_beside_the_scene(tmp_path: Path):
    (tmp_path / "chair.stl").write_bytes(b"solid")
    path = tmp_path / "scene.toml"
    path.write_text('figure = "arm"\n[[obstacle]]\nkind = "mesh"\npath = "chair.stl"\n', encoding="utf-8")
    scene = Scene.load(path)
    assert Path(scene.obstacles[0].shape.path) == tmp_path.resolve() / "chair.stl"
    scene.save(path)
    assert 'path = "chair.stl"' in path.read_text(encoding="utf-8")
    assert Scene.load(path) == scene


def test_a_floating_base_is_saved():
    arm = built_in("arm").with_floating_base()
    text = scene_text(Scene(arm, [Position("tip", (0, 1, 0))]))
    assert "floating = true" in text
    scene = parse_scene(text)
    assert scene.figure == arm
    assert scene.origin == Origin("arm", floating=True)


def test_a_figure_without_a_file_cannot_be_saved_in_a_scene():
    with pytest.raises(FormatError, match="'small' is not built in and was not loaded from a file"):
        scene_text(Scene(small().build()))
    with pytest.raises(FormatError, match=r"end in \.toml"):
        Scene("arm").save("scene.json")


def test_a_start_posture_can_be_a_file_that_solve_wrote(tmp_path: Path):
    from poise.formats.table.posture_json import write_posture

    human = built_in("human")
    posture = human.random(2)
    write_posture(posture, tmp_path / "posture.json")
    (tmp_path / "scene.toml").write_text('figure = "human"\nstart = "posture.json"\n', encoding="utf-8")
    start = human.posture(Scene.load(tmp_path / "scene.toml").start)
    np.testing.assert_allclose(start.q, posture.q, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "is not a posture, which is values by joint"),
        ('{"left_elbow": NaN}', "NaN is not a finite number"),
        ('{"left_elbow": true}', "must be a number or a list of numbers"),
        ('{"left_elbow": [1, 2]}', "takes 1 finite numbers"),
        ('{"left_elbw": 1}', "Did you mean 'left_elbow'?"),
        ('{"left_elbow": 1', "is not JSON"),
        ("[" * 100_000, "nests arrays too deeply"),
        ("é".encode("latin-1"), "is not JSON"),
    ],
)
def test_a_wrong_posture_file_raises_a_clear_error(tmp_path: Path, text: str | bytes, words: str):
    from poise.formats.table.posture_json import read_posture

    path = tmp_path / "posture.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as caught:
        read_posture(path, built_in("human"))
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_equilibrium_and_criteria_come_back_equal():
    scene = Scene(
        "human",
        [Equilibrium(priority=2, level=True, margin=0.01)],
        forces=[Support("left_foot"), Support("right_foot")],
        criteria=[
            NearPosture({"left_elbow": 0.3}, joints=["left_elbow"]),
            Comfort(weight=2.0),
            Flex("left_knee"),
            Extend(["right_knee"]),
            LeastTorque(strength={"left_elbow": 30.0}),
        ],
    )
    text = scene_text(scene)
    assert 'kind = "least_torque"' in text
    assert parse_scene(text) == scene


def test_forces_of_one_criterion_and_functions_cannot_be_written():
    feet = [Support("left_foot"), Support("right_foot")]
    with pytest.raises(TaskError, match="one set of forces"):
        scene_text(Scene("human", criteria=[LeastTorque(forces=feet)]))
    with pytest.raises(TaskError, match="Gradient, which a scene file cannot hold"):
        scene_text(Scene("human", criteria=[Gradient(lambda posture: np.zeros(posture.figure.nv))]))


def test_equilibrium_without_supports_is_a_mistake_of_the_file():
    with pytest.raises(FormatError, match="can only rest on supports"):
        parse_scene('figure = "human"\n[[task]]\nkind = "equilibrium"\n')


def test_an_animation_reads_back_equal(tmp_path: Path) -> None:
    figure = poise.human()
    hand = Position("right_hand", (-0.4, 1.2, 0.5), priority=2)
    keys = [
        Key(0.0, "standing", [hand]),
        Key(1.25, figure.posture("crouching"), [replace(hand, at=(0.1, 0.7, 0.4))], "stop"),
        Key(2.0, None, [LookAt("eyes", direction="z")], "linear"),
    ]
    clip = poise.Motion(figure, [figure.posture("standing").q, figure.posture("waving").q], 10.0)
    for under in (None, clip):
        scene = Scene("human", animation=Animation(keys, loop=True, end=3.5, rate=24.0, clip=under))
        scene.save(tmp_path / "moving.toml")
        found = Scene.load(tmp_path / "moving.toml")
        assert found == scene
        assert found.animation is not None
        assert [key.time for key in found.animation.keys] == [0.0, 1.25, 2.0]
    assert Scene("human", animation=Animation(keys[:2])) != scene


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ("[[key]]\ntime = -1\nposture = 'standing'", 2, "time of a key"),
        ("[[key]]\nposture = 'standing'", 2, "no 'time'"),
        ("[[key]]\ntime = 1", 2, "needs a posture"),
        ("[[key]]\ntime = 1\nposture = 'standin'", 4, "standin"),
        ("[[key]]\ntime = 1\nease = 'fast'\nposture = 'standing'", 4, "smooth, stop, linear"),
        ("[[key]]\ntime = 1\n[[key.task]]\nkind = 'position'\nsite = 'nose'\nat = [0, 0, 0]", 6, "nose"),
        ("[animation]\nloops = true\n[[key]]\ntime = 1\nposture = 'standing'", 3, "Did you mean 'loop'"),
        ("[[key]]\ntime = 1\nposture = 'standing'\n[[key]]\ntime = 1\nposture = 'standing'", None, "same time"),
    ],
)
def test_mistakes_in_keys_name_their_line(lines: str, line: int | None, words: str) -> None:
    with pytest.raises(FormatError, match=words) as problem:
        parse_scene(f"figure = 'human'\n{lines}\n")
    assert line is None or problem.value.line == line
