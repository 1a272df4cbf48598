"""Motion tables: names of columns, units, times, and errors for mistakes."""

import numpy as np
import pytest

from poise.errors import FormatError
from poise.figure.model.builder import (
    Builder,
    ball,
    cartesian,
    cylindrical,
    elbow,
    fixed,
    free,
    planar,
    prismatic,
    revolute,
    universal,
)
from poise.figure.model.pose import turn
from poise.formats.table.table import parse_table, read_table, table_clip, write_table
from poise.motion.clip.clip import Clip

KINDS = [
    free("base"),
    ball("neck"),
    revolute("hinge", "x"),
    prismatic("rail", "y"),
    universal("cross", "x", "y"),
    elbow("elbow", "x", "y"),
    cylindrical("screw", "z"),
    planar("puck", "y"),
    cartesian("gantry"),
    fixed("weld"),
]
COLUMNS = (
    "time,base.x,base.y,base.z,base.qw,base.qx,base.qy,base.qz,neck.qw,neck.qx,neck.qy,neck.qz,hinge,rail,"
    "cross.first,cross.second,elbow.flexion,elbow.twist,screw.angle,screw.slide,puck.x,puck.y,puck.angle,"
    "gantry.x,gantry.y,gantry.z"
)


def figure_of(joints, name="machine"):
    builder, parent = Builder(name), None
    for joint in joints:
        parent = builder.body(f"{joint.name}_body", parent=parent, joint=joint, at=(0.0, 0.1, 0.0))
    return builder.build()


LAMP = figure_of([revolute("turn", "y"), revolute("nod", "x"), prismatic("rail", "y"), ball("head")], "lamp")
HEADER = "time,turn,nod,rail,head.qw,head.qx,head.qy,head.qz"


def clip_of(text, **options):
    return table_clip(parse_table(text), LAMP, **options)


def test_every_kind_of_joint_has_named_columns(tmp_path):
    figure = figure_of(KINDS)
    path = tmp_path / "motion.csv"
    write_table(Clip(figure, [figure.random(1).q], 50.0), path)
    lines = path.read_text().splitlines()
    assert lines[:4] == ["# figure: machine", "# rate: 50.0", "# angles: radians", COLUMNS]


def test_written_and_read_to_the_last_bit(tmp_path):
    figure = figure_of(KINDS)
    clip = Clip(figure, [figure.random(seed).q for seed in range(20)], 29.97, "dance")
    write_table(clip, tmp_path / "dance.csv")
    back = read_table(tmp_path / "dance.csv", figure)
    assert back == clip
    assert back.name == "dance"


def test_degrees_are_for_angles_only(tmp_path):
    q = [0.5, -0.25, 0.125, *turn("x", 90)]
    write_table(Clip(LAMP, [q], 60.0), tmp_path / "m.csv", degrees=True)
    row = np.array((tmp_path / "m.csv").read_text().splitlines()[-1].split(","), dtype=float)
    assert np.allclose(row, [0.0, np.degrees(0.5), np.degrees(-0.25), 0.125, *turn("x", 90)])
    assert np.allclose(read_table(tmp_path / "m.csv", LAMP).q, [q], atol=1e-15)


def test_columns_in_any_order_and_joints_without_columns_keep_their_neutral_values():
    clip = clip_of("rail, turn ,time\n0.5,1.0,0\n0.6,2.0,0.1\n")
    assert np.allclose(clip.q, [[1.0, 0.0, 0.5, 1, 0, 0, 0], [2.0, 0.0, 0.6, 1, 0, 0, 0]])
    assert clip.rate == pytest.approx(10.0)


def test_comments_blank_lines_and_other_line_ends():
    text = (
        "\ufeff# made by hand\r\n\r\n# angles: Degrees\r\n#rate:2\r\ntime,turn\r\n0,90\r\n# a note\r\n0.5,180\r\n\r\n"
    )
    clip = clip_of(text.encode())
    assert np.allclose(clip.q[:, 0], [np.pi / 2, np.pi])
    assert clip.rate == 2.0


def test_quoted_names_of_columns(tmp_path):
    figure = figure_of([revolute('say "hi", twice', "x"), revolute("#1", "x")])
    clip = Clip(figure, [[0.1, 0.2], [0.3, 0.4]], 10.0)
    write_table(clip, tmp_path / "m.csv")
    assert np.array_equal(read_table(tmp_path / "m.csv", figure).q, clip.q)


def test_the_rate_comes_from_the_argument_the_comment_or_the_times():
    rows = "0,1\n0.5,2\n1,3\n"
    assert clip_of(f"time,turn\n{rows}").rate == 2.0
    assert clip_of(f"# rate: 2\ntime,turn\n{rows}").rate == 2.0
    assert clip_of("# rate: 7\nturn\n1\n2\n").rate == 7.0
    assert clip_of("# rate: 7\nturn\n1\n2\n", rate=9).rate == 9.0


def test_times_may_start_anywhere_and_be_rounded():
    rows = "".join(f"{100 + round(i / 60, 3):.3f},{i}\n" for i in range(61))
    clip = clip_of(f"time,turn\n{rows}")
    assert clip.rate == pytest.approx(60.0)
    assert len(clip) == 61


def test_a_rate_resamples_uneven_times():
    clip = clip_of("time,turn\n0,0\n0.1,1\n0.5,5\n1.0,10\n", rate=4)
    assert clip.rate == 4.0
    assert np.allclose(clip.q[:, 0], [0.0, 2.5, 5.0, 7.5, 10.0])


def test_resampling_goes_the_short_way_between_rotations():
    rows = "\n".join(f"{time},{','.join(map(str, q))}" for time, q in ((0, turn("z", 20)), (1, -turn("z", 60))))
    clip = clip_of(f"time,head.qw,head.qx,head.qy,head.qz\n{rows}\n", rate=2)
    assert abs(clip[1]["head"] @ turn("z", 40)) == pytest.approx(1.0, abs=1e-12)


def test_a_table_may_name_a_built_in_figure(tmp_path):
    import poise

    snake = poise.load("snake")
    clip = Clip(snake, [snake.random(seed).q for seed in range(3)], 24.0, "slither")
    write_table(clip, tmp_path / "slither.csv")
    assert read_table(tmp_path / "slither.csv") == clip


def test_a_table_of_another_figure_needs_it(tmp_path):
    for comment in ("", "# figure: lamp\n", "# figure: ../arm.urdf\n"):
        (tmp_path / "m.csv").write_text(f"{comment}time,turn\n0,1\n1,2\n")
        with pytest.raises(FormatError, match="give the figure that its joint values are of"):
            read_table(tmp_path / "m.csv")


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("\n# nothing\n", None, "has no header"),
        ("time,turn\n", 1, "a header and no frames"),
        ('time,"turn\n0,1\n', 1, "must be a line of comma-separated names"),
        ("time,turn,turn\n0,1,2\n", 1, "two columns are named 'turn'"),
        ("time,tunr\n0,1\n1,2\n", 1, "figure 'lamp' has no joint value 'tunr'. Did you mean 'turn'?"),
        ("\ntime,head\n0,1\n1,2\n", 2, "no joint value 'head'. Did you mean 'head.q"),
        ("time\n0\n1\n", 1, "no column is a joint of figure 'lamp'"),
        (
            "time,head.qw,head.qx\n0,1,0\n1,1,0\n",
            1,
            "the column 'head.qy' is missing: the table must have all values of joint 'head'",
        ),
        ("time,turn\n0,1\n1\n", 3, "has 1 values and the header has 2 columns"),
        ("time,turn\n0,1\n1,2,3\n", 3, "has 3 values and the header has 2 columns"),
        ("time,turn\n0,1\n\n# x\n1,\n", 5, "'' in column 'turn' is not a finite number"),
        ("time,turn\n0,one\n1,2\n", 2, "'one' in column 'turn' is not a finite number"),
        ("time;turn\n0;1\n1;2\n", 2, "not a finite number. Separate columns by commas, not by semicolons"),
        ("time,turn\n0,1\n1,nan\n", 3, "'nan' in column 'turn' is not a finite number"),
        ("time,turn\n0,1\n1,-inf\n", 3, "'-inf' in column 'turn' is not a finite number"),
        ("time,turn\n0,1\n1,1e99\n", 3, "'1e99' in column 'turn' is not a finite number"),
        ("time,turn\n0,1\n1,1_0\n", 3, "'1_0' in column 'turn' is not a finite number"),
        ("time,turn\n0,1\n1,2\n1,3\n", 4, "the time must increase from line to line"),
        ("time,turn\n0,1\n-1,2\n", 3, "the time must increase from line to line"),
        ("time,turn\n0,1\n0.1,2\n1,3\n", 3, "are not those of 2 frames per second; give rate="),
        ("# rate: 50\ntime,turn\n0,1\n1,2\n", 4, "are not those of 50 frames per second; give rate="),
        ("time,turn\n0,1\n", None, "has one frame, which gives no rate; give rate="),
        ("time,turn\n0,1\n1e-320,1\n", None, "times of all frames are the same"),
        ("turn\n1\n", None, "no column 'time' and no comment '# rate: …'"),
        ("# rate: fast\nturn\n1\n", 1, "positive number of frames per second, not 'fast'"),
        ("# rate: -5\nturn\n1\n", 1, "positive number of frames per second, not '-5'"),
        ("#\n# angles: turns\ntime,turn\n0,1\n1,2\n", 2, "radians or degrees, not in 'turns'"),
        (
            "# rate: 1\nhead.qw,head.qx,head.qy,head.qz\n0,0,0,0\n",
            None,
            "for joint 'head'; its length must be positive and finite",
        ),
    ],
)
def test_mistakes_raise_errors_with_file_and_line(text, line, sentence):
    with pytest.raises(FormatError) as caught:
        table_clip(parse_table(text, "some.csv"), LAMP)
    assert sentence in caught.value.reason
    assert caught.value.line == line
    assert str(caught.value).startswith("some.csv:")


def test_bytes_that_are_not_text_are_refused():
    with pytest.raises(FormatError, match="not UTF-8") as caught:
        parse_table(b"time,turn\n0,1\n1,\xff\n", "some.csv")
    assert caught.value.line == 3


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, np.inf])
def test_a_rate_must_be_positive(rate):
    with pytest.raises(FormatError, match="positive number of frames per second"):
        clip_of("turn\n1\n", rate=rate)


def test_more_frames_than_fit_are_refused_before_they_are_made():
    with pytest.raises(FormatError, match="at 60 frames per second are too many frames"):
        clip_of("time,turn\n0,0\n1,1\n1e9,2\n", rate=60)


def test_names_that_a_table_cannot_have_are_refused(tmp_path):
    for joints in (
        [revolute("time", "x")],
        [cartesian("a"), revolute("a.x", "x")],
        [revolute("two\nlines", "x")],
        [revolute(" spaced", "x")],
    ):
        figure = figure_of(joints)
        with pytest.raises(FormatError, match=r"would be named|a table needs joint names without"):
            write_table(Clip(figure, [figure.neutral().q], 60.0), tmp_path / "m.csv")
        assert not (tmp_path / "m.csv").exists()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        read_table(tmp_path / "none.csv", LAMP)
