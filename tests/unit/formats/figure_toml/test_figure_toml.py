"""Figure files: reading handwritten ones, writing, and errors for mistakes."""

import math
from pathlib import Path

import numpy as np
import pytest

from poise.errors import FormatError
from poise.figure.model.builder import Builder, ball, cylindrical, free, planar, revolute, universal
from poise.figure.model.figure import Figure
from poise.figure.model.limits import BallLimits, Ellipse, Polygon, Twist
from poise.figure.model.pose import Pose, turn
from poise.figure.model.shapes import Box, Mesh, Sphere
from poise.figures import BUILT_IN, built_in
from poise.formats.figure_toml import figure_text, parse_figure, read_figure, write_figure
from poise.formats.text import toml_emit
from poise.formats.text.toml_lines import key_lines, nearest_line

LAMP = """\
name = "lamp"
up = "y"
angles = "degrees"

[[body]]
name = "foot"
mass = 0.5
shapes = [{ kind = "box", size = [0.1, 0.02, 0.1] }]

[[body]]
name = "stem"

[[joint]]
name = "turn"
kind = "revolute"
parent = "foot"
child = "stem"
axis = "-y"
at = [0, 0.02, 0]
turned = { axis = "x", degrees = 90 }
limits = [-90, 45]
speed = 180

[[site]]
name = "tip"
body = "stem"
at = [0, 0.3, 0]

[posture.bowed]
turn = 30
"""


def lamp() -> Builder:
    b = Builder("lamp")
    b.body("foot", mass=0.5, shapes=[Box((0.1, 0.02, 0.1))])
    joint = revolute("turn", "-y", limits=(-math.pi / 2, math.pi / 4), speed=math.pi)
    b.body("stem", parent="foot", joint=joint, at=(0, 0.02, 0), turned=turn("x", 90))
    b.site("tip", "stem", at=(0, 0.3, 0))
    b.posture("bowed", {"turn": math.radians(30)})
    return b


def test_a_handwritten_file_is_read():
    assert parse_figure(LAMP) == lamp().build()


def test_the_writer_writes_readable_text():
    written = figure_text(lamp().build())
    assert written.partition("\n")[2] == LAMP


def test_angles_are_radians_where_the_file_does_not_say():
    text = LAMP.replace('angles = "degrees"\n', "").replace("[-90, 45]", "[-1.5, 0.5]")
    joint = parse_figure(text).joints["turn"]
    assert (joint.lower, joint.upper, joint.speed) == ((-1.5,), (0.5,), 180.0)


def test_the_writer_uses_degrees_only_where_they_are_exact():
    tidy = lamp().build()
    assert 'angles = "degrees"' in figure_text(tidy)
    b = Builder("odd")
    b.body("root")
    b.body("limb", parent="root", joint=revolute("j", "x", limits=(-0.1234567890123456, 1.0)))
    odd = b.build()
    assert 'angles = "radians"' in figure_text(odd)
    assert parse_figure(figure_text(odd)) == odd


@pytest.mark.parametrize(
    ("written", "axis"),
    [('"z"', (0, 0, 1)), ('"-x"', (-1, 0, 0)), ("[0, 3, 4]", (0, 0.6, 0.8)), ("[1, 0.0, 0]", (1, 0, 0))],
)
def test_axes_are_words_or_numbers(written, axis):
    figure = parse_figure(LAMP.replace('"-y"', written))
    np.testing.assert_allclose(figure.joints["turn"].axes[0], axis, atol=1e-15)


@pytest.mark.parametrize("written", ["[0.5, 0.5, 0.5, 0.5]", "[2, 2, 2, 2]", "{ axis = [1, 1, 1], degrees = 120 }"])
def test_rotations_are_quaternions_or_turns(written):
    figure = parse_figure(LAMP.replace('{ axis = "x", degrees = 90 }', written))
    np.testing.assert_allclose(figure.joints["turn"].parent_frame.rotation, [0.5] * 4, atol=1e-15)


@pytest.mark.parametrize(
    ("written", "diagonal", "across"),
    [
        ("[1, 2, 3]", [1, 2, 3], [0, 0, 0]),
        ("[1, 2, 3, 0.1, 0.2, 0.3]", [1, 2, 3], [0.1, 0.2, 0.3]),
        ("[[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]", [1, 2, 3], [0.1, 0.2, 0.3]),
    ],
)
def test_inertias_have_three_forms(written, diagonal, across):
    mass = parse_figure(LAMP.replace("mass = 0.5", f"mass = 0.5\ninertia = {written}")).bodies["foot"].mass
    assert np.diag(mass.inertia).tolist() == diagonal
    assert [mass.inertia[0, 1], mass.inertia[0, 2], mass.inertia[1, 2]] == across
    assert not mass.center.any()


def test_kilograms_alone_are_spread_over_the_shapes():
    spread = parse_figure(LAMP).bodies["foot"].mass
    assert spread.mass == pytest.approx(0.5)
    assert spread.inertia[1, 1] == pytest.approx(0.5 * (0.1**2 + 0.1**2) / 12)
    dense = parse_figure(LAMP.replace("mass = 0.5", "density = 2500")).bodies["foot"].mass
    np.testing.assert_allclose(dense.inertia, spread.inertia)
    point = parse_figure(LAMP.replace("mass = 0.5", "mass = 0.5\ncenter = [0, 0, 0]")).bodies["foot"].mass
    assert not point.inertia.any()


def test_meshes_get_no_share_of_a_mass():
    b = Builder("m")
    b.body("a", shapes=[Mesh("a.stl"), Sphere(0.1)])
    text = figure_text(b.build()).replace('name = "a"', 'name = "a"\nmass = 2')
    assert parse_figure(text).bodies["a"].mass.inertia[0, 0] == pytest.approx(0.4 * 2 * 0.01)
    alone = text.replace(', { kind = "sphere", radius = 0.1 }', "")
    assert parse_figure(alone).bodies["a"].mass.mass == 2
    with pytest.raises(FormatError, match="a density needs shapes other than meshes"):
        parse_figure(alone.replace("mass = 2", "density = 2"))


def everything() -> Figure:
    b = Builder("everything", up="z", description='with "quotes"', placement=Pose((1, 2, 3), turn("z", 30)))
    b.body("base", joint=free("float", strength=5.0))
    limits = BallLimits(Ellipse(0.5, 0.25), Twist.between([-1.0, 0.125], 1.0), turn("x", 20), turn("y", -20))
    b.body("a", parent="base", joint=ball("ellipse", limits))
    corners = ((0.5, 0.0, 1.0), (0.0, 0.5, 1.0), (-0.5, -0.5, 1.0))
    b.body("b", parent="a", joint=ball("polygon", BallLimits(Polygon(corners))))
    b.body("c", parent="b", joint=ball("anyhow", BallLimits()))
    b.body("d", parent="c", joint=cylindrical("screw", "y", limits=[(-1, 1), (0, math.inf)]))
    b.body("e", parent="d", joint=planar("puck", (1, 2, 3), limits=[(-1, 1), (-2, 2), (-3, 3)]))
    b.body("f", parent="e", joint=universal("cross", "x", (0, 1, 1), active=False))
    b.loop(ball("strut"), "f", "base", parent_frame=Pose((0, 1, 0)), child_frame=Pose((0, 0, 1)))
    b.couple("mixed order", {"cross.first": 1.0, "screw.angle": 2.0, "cross.second": 0.5})
    b.bound("some", {"ellipse.twist": 1.0, "puck.x": 2.0}, upper=3.0)
    b.posture("a.b c", {"float": [0, 1, 0, 1, 0, 0, 0], "screw": [0.5, 0.25]})
    b.posture("empty", {})
    return b.build()


def test_every_part_of_a_figure_is_saved(tmp_path: Path):
    figure = everything()
    path = tmp_path / "everything.figure.toml"
    figure.save(path)
    again = read_figure(path)
    assert again == figure
    assert figure.rerooted("e") == parse_figure(figure_text(figure.rerooted("e")))


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_figure_is_kept(name: str):
    figure = built_in(name)
    assert parse_figure(figure_text(figure)) == figure


def test_a_table_with_a_wrong_name_is_named_before_what_is_missing_without_it():
    text = figure_text(everything()).replace("[[joint]]", "[[joints]]")
    with pytest.raises(FormatError, match=r"the unknown key 'joints'\. Did you mean 'joint'\?"):
        parse_figure(text)


def test_terms_of_couplings_keep_their_order():
    coupling = parse_figure(figure_text(everything())).couplings["mixed order"]
    assert [(term.joint, term.coordinate) for term in coupling.terms] == [
        ("cross", "first"),
        ("screw", "angle"),
        ("cross", "second"),
    ]


def test_saving_replaces_the_whole_file_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "lamp.figure.toml"
    lamp().build().save(path)
    before = path.read_bytes()

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FormatError, match="cannot be written: No space left on device"):
        everything().save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_saving_needs_the_right_name_and_a_folder(tmp_path: Path):
    with pytest.raises(FormatError, match=r"end in \.figure\.toml"):
        write_figure(lamp().build(), tmp_path / "lamp.urdf")
    with pytest.raises(FormatError, match="cannot be written: No such file"):
        write_figure(lamp().build(), tmp_path / "nowhere" / "lamp.figure.toml")


MISTAKES = [
    ('name = "lamp"', 'nmae = "lamp"', 1, "the file has no 'name'."),
    ('up = "y"', 'upp = "y"', 2, "the file has the unknown key 'upp'. Did you mean 'up'?"),
    ('up = "y"', 'up = "w"', 2, "'up' of the file is 'w'. It can be x, y, z."),
    ('"degrees"\n', '"grads"\n', 3, "It can be radians, degrees."),
    ("mass = 0.5", 'mass = "heavy"', 7, "'mass' of body 'foot' must be a number, not 'heavy'."),
    ("mass = 0.5", "mass = true", 7, "must be a number, not true."),
    ("mass = 0.5", "mass = -1", 7, "a mass must be zero or a positive number of kilograms, not -1.0."),
    ("mass = 0.5", "mass = nan", 7, "must be a number, not nan."),
    ("mass = 0.5", f"mass = {'9' * 400}", 7, "must be a number, not 999"),
    ("mass = 0.5", "mass = 0.5\ndensity = 3", 8, "has a 'density' beside a 'mass'"),
    ("mass = 0.5", "mass = 0.5\ninertia = [1, 2]", 8, "must be 3 or 6 numbers in brackets, not [1, 2]."),
    ('kind = "box"', 'kind = "bux"', 8, "is 'bux'. Did you mean 'box'?"),
    ("size = [0.1, 0.02, 0.1]", "size = [0.1, 0, 0.1]", 8, "the size of a shape must be a positive number"),
    ("size =", "sise =", 8, "has no 'size'."),
    ('name = "stem"', 'name = "foot"', 10, "two bodies named 'foot'"),
    ('kind = "revolute"', 'kind = "revolut"', 15, "Did you mean 'revolute'?"),
    ('kind = "revolute"', 'kind = "universal"', 21, "is universal and takes 2 pairs of limits"),
    (
        'parent = "foot"',
        'parent = "fot"',
        13,
        "parent body 'fot', which does not exist. Did you mean 'foot'?",
    ),
    ('child = "stem"', 'child = "foot"', 5, "bodies 'foot' form a cycle"),
    ('axis = "-y"', 'axis = "w"', 18, "must be three numbers or one of x, y, z, -x, -y, -z, not 'w'."),
    ('axis = "-y"', "axis = [0, 0, 0]", 18, "has no direction"),
    ('axis = "-y"', 'axes = ["x", "y"]', 13, "is revolute and needs 1 axes, not 2."),
    ("at = [0, 0.02, 0]", "at = [0, 0.02]", 19, "'at' of joint 'turn' must be 3 numbers in brackets, not [0, 0.02]."),
    ("at = [0, 0.02, 0]", "at = [0, inf, 0]", 19, "a position must be 3 finite numbers"),
    ("degrees = 90", "degrees = inf", 20, "a turn must be a finite number of degrees"),
    ("degrees = 90", "degres = 90", 20, "has no 'degrees'."),
    (
        "limits = [-90, 45]",
        "limits = [90, 45]",
        13,
        "its lower limit 1.571 rad (90°) above its upper limit 0.7854 rad (45°)",
    ),
    ("speed = 180", "speed = 0", 13, "the speed limit must be positive, not 0 rad/s (0°/s)."),
    ("speed = 180", "active = 1", 22, "'active' of joint 'turn' must be true or false, not 1."),
    ("speed = 180", "swing = 3", 22, "'swing' of joint 'turn' must be a table, not 3."),
    ("speed = 180", "swing = { ellipse = [1, 2] }", 13, "only ball joints have swing and twist limits"),
    ("speed = 180", "swing = { elipse = [1, 2] }", 22, "has no 'ellipse'."),
    ('body = "stem"', 'body = "stam"', 24, "is on the body 'stam', which does not exist. Did you mean 'stem'?"),
    ("turn = 30", "turm = 30", 30, "has no joint 'turm'. Did you mean 'turn'?"),
    ("turn = 30", "turn = [30, 40]", 30, "'turn' of posture 'bowed' must be 1 numbers"),
    ("turn = 30", "turn = inf", 30, "must be finite, not inf."),
    ("[posture.bowed]", "[[posture.bowed]]", 29, "posture 'bowed' must be a table"),
    ("[posture.bowed]", '[[posture]]\nname = "bowed"', 29, "write [posture.NAME], not [[posture]]."),
    ("limits = [-90, 45]", 'limits = "90"', 21, "takes 1 pair of limits: one [low, high] per coordinate"),
    ("[posture.bowed]\nturn = 30", "posture = 3", 28, "'posture' must be a table, not 3."),
    ('name = "lamp"', 'name = "lamp', 1, "is not TOML"),
    ("turn = 30", "turn = ", 30, "is not TOML"),
]


@pytest.mark.parametrize(("right", "wrong", "line", "sentence"), MISTAKES, ids=[f"{m[1][:30]}" for m in MISTAKES])
def test_a_mistake_is_named_with_file_and_line(right, wrong, line, sentence):
    assert right in LAMP
    text = LAMP.replace(right, wrong, 1)
    if wrong == "posture = 3":
        text, line = "posture = 3\n" + LAMP.replace(right, "", 1), 1
    with pytest.raises(FormatError) as caught:
        parse_figure(text, "lamp.figure.toml")
    assert sentence in caught.value.reason
    assert caught.value.line == line
    assert str(caught.value).startswith(f"lamp.figure.toml:{line}: ")


COUPLING = '\n[[coupling]]\nname = "c"\nterms = { turn = 1 }\nequals = 0\n'


@pytest.mark.parametrize(
    ("right", "wrong", "line", "sentence"),
    [
        ("turn = 1", "turm = 1", 34, "has no joint 'turm'"),
        ("turn = 1", "turn.angel = 1", 34, "has no coordinate 'angel'. Did you mean 'angle'?"),
        ("turn = 1", "turn = 0", 34, "must be finite and not 0"),
        ("equals = 0", "equals = 0\nlower = 1", 35, "has 'equals' beside 'lower' or 'upper'"),
        ("equals = 0", "", 32, "has neither a lower nor an upper bound"),
        ("equals = 0", "lower = 500", 32, "couplings that cannot be satisfied inside its limits"),
    ],
)
def test_mistakes_in_couplings(right, wrong, line, sentence):
    with pytest.raises(FormatError) as caught:
        parse_figure(LAMP + COUPLING.replace(right, wrong))
    assert sentence in caught.value.reason
    assert caught.value.line == line


def test_bytes_may_have_a_mark_and_windows_line_ends():
    assert parse_figure(b"\xef\xbb\xbf" + LAMP.replace("\n", "\r\n").encode()) == lamp().build()
    with pytest.raises(FormatError, match="is not UTF-8 text") as caught:
        parse_figure(b'name = "x"\nup = "\xff"\n')
    assert caught.value.line == 2


def test_deep_nesting_is_refused():
    with pytest.raises(FormatError, match="too deeply"):
        parse_figure("name = " + "[" * 100_000 + "]" * 100_000)


def test_every_key_has_its_line():
    text = """\
a = 1
"b c".'d' = { x = [1,
  2, { y = "]" }], z = '''
}''' }
[t]
k = [ # ] not yet
  "#", "\\"]",
]
[[list]]
v = 1
[[list.inner]]
w = 2
[[list]]
v = 3 # [x]
s = \"\"\"
x = 4
\"\"\"
u.v = 1979-05-27 07:32:00
"""
    lines = key_lines(text)
    expected = {
        ("a",): 1,
        ("b c", "d", "x"): 2,
        ("b c", "d", "x", 1): 3,
        ("b c", "d", "x", 2, "y"): 3,
        ("b c", "d", "z"): 3,
        ("t",): 5,
        ("t", "k", 1): 7,
        ("list",): 9,
        ("list", 0, "v"): 10,
        ("list", 0, "inner", 0): 11,
        ("list", 0, "inner", 0, "w"): 12,
        ("list", 1): 13,
        ("list", 1, "v"): 14,
        ("list", 1, "s"): 15,
        ("list", 1, "u", "v"): 18,
    }
    assert {path: lines.get(path) for path in expected} == expected
    assert ("x",) not in lines
    assert nearest_line(lines, ("list", 1, "missing", 3)) == 13
    assert nearest_line(lines, ("nowhere",)) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e22, "1e+22"),
        (math.inf, "inf"),
        (True, "true"),
        ("tab\there", '"tab\\there"'),
        ("\x01", '"\\u0001"'),
        ([1, [2, "x"]], '[1, [2, "x"]]'),
        ({"a b": 1, toml_emit.Dotted(("x", "y.z")): 2}, '{ "a b" = 1, x."y.z" = 2 }'),
        ({}, "{}"),
    ],
)
def test_values_are_emitted_as_a_person_would(value, text):
    assert toml_emit.inline(value) == text
