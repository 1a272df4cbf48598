"""Mechanisms with loops as files, made here: a four-bar linkage as MJCF, and parallel robots as URDF with closures.

Others that were published are parameters of the same tests, where they are beside the repository.
"""

from pathlib import Path

import pytest

from tests import real_data

FOUR_BAR = """<mujoco model="four_bar_made_here">
<default><geom type="capsule" size=".1" contype="0" conaffinity="0"/></default>
<worldbody><body name="link_1"><geom fromto="0 0 0 0 .6 3.8"/>
  <body name="link_2" pos=".5 0 0"><joint name="hinge_1" axis="1 0 0"/><geom fromto="0 0 0 0 3.5 0"/>
    <body name="link_3" pos="-.5 3.5 0"><joint name="hinge_2" axis="1 0 0"/><geom fromto="0 0 0 0 .4 3.2"/>
      <body name="link_4" pos=".5 .4 3.2"><joint name="hinge_3" axis="1 0 0"/><geom fromto="0 0 0 0 -3.3 .6"/></body>
    </body>
  </body>
</body></worldbody>
<equality><connect body1="link_1" body2="link_4" anchor="0 .6 3.8"/></equality>
<actuator><motor joint="hinge_1"/><motor joint="hinge_2"/></actuator>
</mujoco>"""
"""Four bars of 3.2 to 3.9 m; the rocker's far end is tied to the ground link."""


def link(name: str) -> str:
    """A body of 1 kg."""
    inertia = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial></link>'


def hinge(name: str, parent: str, child: str, at: str, axis: str) -> str:
    """A hinge without limits."""
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}"/><axis xyz="{axis}"/></joint>'
    )


def robot(name: str, hinges: list[tuple[str, str, str, str, str]]) -> str:
    """A URDF of hinges: name, parent, child, place in the parent, axis."""
    links = dict.fromkeys(body for _, parent, child, _, _ in hinges for body in (parent, child))
    parts = [*map(link, links), *(hinge(*each) for each in hinges)]
    return f'<robot name="{name}">{"".join(parts)}</robot>'


FIVE_BAR = [
    ("motor_a", "ground", "a1", "-1 0 0", "0 0 1"),
    ("knee_a", "a1", "a2", "-0.1 1.1 0", "0 0 1"),
    ("tip_a", "a2", "a_tip", "0.9 1 0", "0 0 1"),
    ("motor_b", "ground", "b1", "1 0 0", "0 0 1"),
    ("knee_b", "b1", "b2", "0.2 1 0", "0 0 1"),
]
LEG = [
    ("motor_roll", "pelvis", "hip", "0 0.1 0", "1 0 0"),
    ("motor_thigh", "hip", "thigh", "0 0 -0.05", "0 1 0"),
    ("knee", "thigh", "shank", "0.05 0 -0.2", "0 1 0"),
    ("motor_horn", "hip", "horn", "-0.03 0 -0.05", "0 1 0"),
    ("horn_end", "horn", "rod", "-0.05 0 0.01", "0 1 0"),
    ("rod_end", "rod", "rod_tip", "0.05 0 -0.21", "0 1 0"),
    ("ankle", "shank", "foot", "-0.05 0 -0.2", "0 1 0"),
]
"""A hip that rolls, and below it a five-bar of thigh, shank, rod and horn, all hinges open where they should meet."""
CRANK = hinge("crank_mount", "shank", "crank", "-0.07 0 0.01", "0 1 0").replace("continuous", "fixed")
MADE = {
    "five_bar_made_here": (
        robot("five_bar", [*FIVE_BAR, ("tip_b", "b2", "b_tip", "-1.15 1 0", "0 0 1")]),
        "closed_loop: [[tip_a, tip_b]]\ntype: [6d]\nname_mot: [motor_a, motor_b]\n",
    ),
    "leg_made_here": (
        robot("leg", LEG).replace("</robot>", f"{link('crank')}{CRANK}</robot>"),
        "closed_loop: [[rod_tip, crank]]\ntype: [6d]\nname_mot: [motor_roll, motor_thigh, motor_horn]\n",
    ),
}
"""By name: URDF, closures."""
GEPETTO = ("5bar_linkage", "5bar_linkage_iso6d", "digit_like", "disney_robot", "robot_delta", "wl16_like")
PARALLEL_ROBOTS = [*MADE, *(pytest.param(name, marks=pytest.mark.real_data) for name in GEPETTO)]
FOUR_BARS = ["made here", pytest.param("genesis", marks=pytest.mark.real_data)]


def four_bar(name: str, folder: Path) -> Path:
    """The MJCF file of a four-bar linkage; ours is written to a folder."""
    if name != "made here":
        return real_data.LOOPS / "fourbar" / "four_bar_linkage.xml"
    path = folder / "four_bar.xml"
    path.write_text(FOUR_BAR)
    return path


def parallel_robot(name: str, folder: Path) -> tuple[Path, Path]:
    """The URDF of a parallel robot and its closures; ours are written to a folder."""
    if name not in MADE:
        home = real_data.LOOPS / "gepetto" / name
        return home / "robot.urdf", home / "robot.yaml"
    urdf, yaml = folder / "robot.urdf", folder / "robot.yaml"
    for path, text in zip((urdf, yaml), MADE[name], strict=True):
        path.write_text(text)
    return urdf, yaml
