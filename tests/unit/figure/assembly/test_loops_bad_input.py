"""Messages about impossible mechanisms, from every file format."""

import logging
from pathlib import Path

import pytest

import poise
from poise.errors import FigureError, FormatError
from poise.figure import Figure
from poise.figure.model.builder import Builder, fixed, revolute
from poise.figure.model.pose import Pose
from poise.formats.figure_toml import figure_text, parse_figure
from tests.unit.formats.urdf.test_closures import CLOSED, FIVE_BAR

LINKAGE = """<mujoco model="linkage">
<worldbody><site name="wall" pos="{wall} 0 0"/>
<body name="crank"><joint name="drive" axis="0 0 1"/><geom size=".1"/>
<body name="rod" pos="1 0 0"><joint name="pin" axis="0 0 1"/><geom size=".1"/><site name="end" pos="1 0 0"/></body>
</body></worldbody>
<equality>
{closed}
</equality>
<actuator>{motors}</actuator></mujoco>"""
WHEEL = """<mujoco model="wheel"><worldbody>
<body name="wheel"><joint name="left" axis="0 0 1"/><geom size=".1"/></body>
<body name="rotor"><joint name="right" axis="0 0 1"/><geom size=".1"/></body>
</worldbody><equality><weld body1="wheel" body2="rotor"/></equality>
<actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>"""
MEETS = '<connect name="meets" site1="end" site2="wall"/>'


def short(child: str = "bar") -> Builder:
    """A bar of 1 m that is to end 3 m away."""
    made = Builder("short")
    made.body("ground")
    made.body("bar", parent="ground", joint=revolute("hinge", "z"))
    made.site("tip", "bar", (1.0, 0.0, 0.0))
    frames = {"parent_frame": Pose((3.0, 0.0, 0.0)), "child_frame": Pose((1.0, 0.0, 0.0))}
    made.loop(revolute("pin", "z", active=False), "ground", child, **frames)
    return made


def two_motors() -> Figure:
    """One wheel with a motor on either side."""
    made = Builder("wheel")
    made.body("ground")
    made.body("wheel", parent="ground", joint=revolute("left", "z"))
    made.loop(revolute("right", "z"), "ground", "wheel", parent_frame=Pose(), child_frame=Pose())
    return made.build()


def from_files(folder: Path, robot: str, closures: str) -> Figure:
    (folder / "robot.urdf").write_text(robot)
    (folder / "robot.yaml").write_text(closures)
    return poise.load(folder / "robot.urdf", closures=folder / "robot.yaml")


def from_mjcf(folder: Path, wall: float = 2.0, closed: str = MEETS, motors: str = '<motor joint="drive"/>') -> Figure:
    (folder / "linkage.xml").write_text(LINKAGE.format(wall=wall, closed=closed, motors=motors))
    return poise.load(folder / "linkage.xml")


class TestAMechanismThatCannotClose:
    STAYS_OPEN = "short could not be assembled: its loop joint 'pin' stays open by 2 m or rad."

    def test_assembled(self) -> None:
        result = short().build().assemble({}, restarts=3)
        assert (result.status, result.widest) == ("open", "pin")
        assert result.report().startswith(self.STAYS_OPEN)

    def test_solved(self) -> None:
        with pytest.raises(FigureError, match=self.STAYS_OPEN):
            poise.solve(short().build(), [poise.Position("tip", at=(0.0, 1.0, 0.0))])

    def test_cleaned(self) -> None:
        from poise.figure.assembly.cleaning import cleaned

        with pytest.raises(FigureError, match="'short' is open by 2 m or rad, more than rounding explains"):
            cleaned(short().build())

    def test_its_widest_loop_is_the_one_that_is_named(self) -> None:
        made = short()
        made.body("flap", parent="ground", joint=revolute("lid", "z"))
        made.loop(revolute("rim", "z"), "ground", "flap", parent_frame=Pose((0, 5, 0)), child_frame=Pose((0, 1, 0)))
        assert made.build().assemble({}).widest == "rim"

    def test_in_a_figure_file(self) -> None:
        """Files of our own stay as they are written until they are used."""
        figure = parse_figure(figure_text(short().build()))
        with pytest.raises(FigureError, match=self.STAYS_OPEN):
            poise.solve(figure, [poise.Position("tip", at=(0.0, 1.0, 0.0))])

    def test_beside_a_urdf(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            from_files(tmp_path, FIVE_BAR.replace('xyz="1 0 0"', 'xyz="9 0 0"'), CLOSED)
        assert "five_bar could not be assembled: its loop joint 'tip_a_meets_b_tip' stays open by 5.21" in caplog.text

    def test_in_mjcf(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            from_mjcf(tmp_path, wall=9.0)
        assert "linkage could not be assembled: its loop joint 'meets' stays open by 7 m or rad" in caplog.text


class TestAMotorOnAFixedJoint:
    def test_built(self) -> None:
        with pytest.raises(FigureError, match="joint 'bolt' is fixed and cannot have a motor"):
            fixed("bolt", active=True)

    @pytest.mark.parametrize("part", ["joint", "loop"])
    def test_in_a_figure_file(self, part: str) -> None:
        made = Builder("block")
        made.body("ground")
        made.body("block", parent="ground", joint=fixed("bolt"))
        made.loop(fixed("weld"), "ground", "block", parent_frame=Pose(), child_frame=Pose())
        text = figure_text(made.build())
        assert parse_figure(text).joints["bolt"].kind == "fixed"
        wrong = text.replace(f"[[{part}]]\n", f"[[{part}]]\nactive = true\n")
        with pytest.raises(FormatError, match="is fixed and cannot have a motor") as caught:
            parse_figure(wrong)
        assert caught.value.line == wrong[: wrong.index("active = true")].count("\n") + 1

    @pytest.mark.parametrize(
        ("robot", "closures"),
        [
            (FIVE_BAR.replace('name="motor_a" type="revolute"', 'name="motor_a" type="fixed"'), CLOSED),
            (FIVE_BAR, f"{CLOSED}joint_name: [motor_a]\njoint_type: [FIXED]\n"),
        ],
        ids=["fixed in the URDF", "fixed in the closures"],
    )
    def test_beside_a_urdf(self, tmp_path: Path, robot: str, closures: str) -> None:
        with pytest.raises(FormatError, match="joint 'motor_a' is fixed and cannot have a motor") as caught:
            from_files(tmp_path, robot, closures)
        assert caught.value.line == 3

    def test_in_mjcf_a_body_without_joints_has_no_name_to_drive(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match="bolt"):
            from_mjcf(tmp_path, motors='<motor joint="bolt"/>')

    def test_driven(self) -> None:
        with pytest.raises(FigureError, match="joint 'bolt' is fixed and cannot be driven"):
            poise.load("all_joints").assemble({"bolt": 0.1})


class TestTwoMotorsThatFight:
    def test_they_are_named(self) -> None:
        result = two_motors().assemble({"left": 0.1, "right": 0.3})
        assert (result.status, result.fighting) == ("closest", ("left", "right"))
        assert result.missed == pytest.approx({"left": 0.1, "right": 0.1})
        assert result.report() == (
            "wheel cannot reach these motor values, because 'left' and 'right' drive the same freedom to different "
            "values; the closest assembled posture misses 'left' by 0.1, 'right' by 0.1."
        )

    @pytest.mark.parametrize("apart", [1e-3, 1e-7, 4e-9])
    def test_however_little_they_differ(self, apart: float) -> None:
        result = two_motors().assemble({"left": 0.1, "right": 0.1 + apart})
        assert (result.status, result.fighting) == ("closest", ("left", "right"))
        assert result.missed == pytest.approx({"left": 0.5 * apart, "right": 0.5 * apart}, abs=1e-10)

    def test_agreed_they_do_not_fight(self) -> None:
        result = two_motors().assemble({"left": 0.2, "right": 0.2})
        assert (result.status, result.fighting) == ("assembled", ())

    def test_in_a_figure_file(self, tmp_path: Path) -> None:
        path = tmp_path / "wheel.figure.toml"
        path.write_text(figure_text(two_motors()))
        assert poise.load(path).assemble({"left": 0.1, "right": 0.3}).fighting == ("left", "right")

    def test_beside_a_urdf(self, tmp_path: Path) -> None:
        """Three motors on the two freedoms of a five-bar."""
        figure = from_files(tmp_path, FIVE_BAR, CLOSED.replace("motor_b]", "motor_b, knee_a]"))
        result = figure.assemble({"motor_a": 0.2, "motor_b": -0.1, "knee_a": 0.3})
        assert result.fighting == ("motor_a", "motor_b", "knee_a")

    def test_the_same_motor_twice_beside_a_urdf(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match="name_mot has 'motor_a' twice"):
            from_files(tmp_path, FIVE_BAR, CLOSED.replace("motor_b]", "motor_a]"))

    def test_in_mjcf(self, tmp_path: Path) -> None:
        (tmp_path / "wheel.xml").write_text(WHEEL)
        result = poise.load(tmp_path / "wheel.xml").assemble({"left": 0.1, "right": 0.3})
        assert (result.status, result.fighting) == ("closest", ("left", "right"))

    def test_eight_motors_on_six_freedoms(self) -> None:
        figure = poise.load("dancer")
        motors = [joint.name for joint in figure.joints if joint.active]
        result = figure.assemble({motor: 0.1 * (-1) ** k for k, motor in enumerate(motors)})
        assert set(result.fighting) <= set(motors)
        assert len(result.fighting) > 1

    def test_a_limit_is_no_fight(self) -> None:
        result = poise.load("four_bar").assemble({"drive": 1.7})
        assert (result.fighting, result.stopped) == ((), ("rocker_pin",))
        assert "cannot reach these motor values, because of the limit of 'rocker_pin'; the closest" in result.report()

    def test_the_end_of_the_workspace_is_no_fight(self) -> None:
        """A single motor, stopped by two bars in line."""
        from dataclasses import replace

        bounded = poise.load("four_bar")
        figure = bounded.replaced(joints=[replace(joint, lower=(), upper=()) for joint in bounded.joints], couplings=[])
        result = figure.assemble({"drive": 2.5})
        assert (result.status, result.fighting, result.stopped) == ("closest", (), ())


class TestALoopJointWithoutABody:
    SAYS = "joint 'pin' names the child body 'bra', which does not exist. Did you mean 'bar'?"

    def test_built(self) -> None:
        with pytest.raises(FigureError, match="joint 'pin' names the child body 'bra', which does not exist"):
            short("bra").build()

    def test_in_a_figure_file(self) -> None:
        text = figure_text(short().build())
        before, loop = text.split("[[loop]]")
        wrong = before + "[[loop]]" + loop.replace('"bar"', '"bra"')
        with pytest.raises(FormatError) as caught:
            parse_figure(wrong)
        assert caught.value.reason == self.SAYS
        assert caught.value.line is not None
        assert caught.value.line > before.count("\n")

    def test_beside_a_urdf(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match="'five_bar' has no link or joint 'b_tpi'") as caught:
            from_files(tmp_path, FIVE_BAR, CLOSED.replace("b_tip", "b_tpi"))
        assert caught.value.line == 1

    def test_in_mjcf(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match="rodd") as caught:
            from_mjcf(tmp_path, closed='<connect name="meets" body1="rodd" body2="world" anchor="1 0 0"/>')
        assert caught.value.line == 7
