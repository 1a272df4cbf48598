"""Robots by name: "g1", "h1", "panda", "ur5", "talos", "so101" and others.

A name is looked up in MuJoCo Menagerie, then in robot_descriptions, then in example-robot-data (`places`). The names
that these packages use themselves are known too: "unitree_g1", "g1_description". What is not on this machine is
answered with the command that brings it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from poise.errors import FigureError
from poise.formats.catalog.places import described_robots, example_robots, menagerie_models


class Model(NamedTuple):
    """Where the packages have a robot; "" where they do not have it."""

    menagerie: str = ""
    """Folder in MuJoCo Menagerie."""
    described: str = ""
    """Module of robot_descriptions, without "_description"."""
    example: str = ""
    """File in example-robot-data."""


ROBOTS: dict[str, Model] = {
    "g1": Model("unitree_g1", "g1_mj", "g1_description/urdf/g1_29dof_rev_1_0.urdf"),
    "g1_hands": Model("", "", "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf"),
    "h1": Model("unitree_h1", "h1_mj"),
    "h1_2": Model("", "h1_2_mj"),
    "t1": Model("booster_t1", "booster_t1_mj"),
    "n1": Model("fourier_n1", "n1_mj"),
    "gr1": Model("", "gr1"),
    "op3": Model("robotis_op3", "op3_mj"),
    "apollo": Model("apptronik_apollo", "apollo_mj"),
    "adam_lite": Model("pndbotics_adam_lite", "adam_lite_mj"),
    "berkeley_humanoid": Model("berkeley_humanoid", "berkeley_humanoid"),
    "toddlerbot": Model("toddlerbot_2xc", "toddlerbot_2xc_mj"),
    "talos": Model("pal_talos", "talos_mj", "talos_data/robots/talos_full_v2.urdf"),
    "icub": Model("", "icub", "icub_description/robots/icub.urdf"),
    "romeo": Model("", "romeo", "romeo_description/urdf/romeo_small.urdf"),
    "simple_humanoid": Model("", "simple_humanoid", "simple_humanoid_description/urdf/simple_humanoid.urdf"),
    "atlas": Model("", "atlas_v4"),
    "valkyrie": Model("", "valkyrie"),
    "cassie": Model("agility_cassie", "cassie_mj"),
    "bolt": Model("", "bolt", "bolt_description/robots/bolt.urdf"),
    "a1": Model("unitree_a1", "a1_mj", "a1_description/urdf/a1.urdf"),
    "b1": Model("", "b1", "b1_description/urdf/b1.urdf"),
    "go1": Model("unitree_go1", "go1_mj", "go1_description/urdf/go1.urdf"),
    "go2": Model("unitree_go2", "go2_mj", "go2_description/urdf/go2.urdf"),
    "spot": Model("boston_dynamics_spot", "spot_mj"),
    "anymal_b": Model("anybotics_anymal_b", "anymal_b_mj", "anymal_b_simple_description/robots/anymal.urdf"),
    "anymal": Model("anybotics_anymal_c", "anymal_c_mj", "anymal_c_simple_description/urdf/anymal.urdf"),
    "hyq": Model("", "hyq", "hyq_description/robots/hyq_no_sensors.urdf"),
    "solo": Model("", "solo", "solo_description/robots/solo12.urdf"),
    "laikago": Model("", "laikago", "laikago_description/urdf/laikago.urdf"),
    "panda": Model("franka_emika_panda", "panda_mj", "panda_description/urdf/panda.urdf"),
    "fr3": Model("franka_fr3", "fr3_mj"),
    "ur3": Model("", "ur3_official", "ur_description/urdf/ur3_robot.urdf"),
    "ur5": Model("", "ur5_official", "ur_description/urdf/ur5_robot.urdf"),
    "ur5e": Model("universal_robots_ur5e", "ur5e_mj"),
    "ur10": Model("", "ur10_official", "ur_description/urdf/ur10_robot.urdf"),
    "ur10e": Model("universal_robots_ur10e", "ur10e_mj"),
    "iiwa": Model("kuka_iiwa_14", "iiwa14_mj"),
    "xarm7": Model("ufactory_xarm7", "xarm7_mj", "xarm_description/urdf/xarm7.urdf"),
    "kinova": Model("kinova_gen3", "gen3_mj", "kinova_description/robots/kinova.urdf"),
    "z1": Model("unitree_z1", "z1_mj", "z1_description/urdf/z1.urdf"),
    "sawyer": Model("rethink_robotics_sawyer", "sawyer_mj"),
    "baxter": Model("", "baxter", "baxter_description/urdf/baxter.urdf"),
    "aloha": Model("aloha", "aloha_mj"),
    "so100": Model("trs_so_arm100", "so_arm100_mj", "so_arm_description/urdf/so100.urdf"),
    "so101": Model("robotstudio_so101", "so_arm101_mj", "so_arm_description/urdf/so101.urdf"),
    "tiago": Model("pal_tiago", "tiago", "tiago_description/robots/tiago.urdf"),
    "pr2": Model("", "pr2", "pr2_description/urdf/pr2.urdf"),
    "stretch": Model("hello_robot_stretch", "stretch_mj"),
    "centauro": Model("", "", "centauro_description/urdf/centauro.urdf"),
    "allegro": Model("wonik_allegro", "allegro_hand_mj", "allegro_hand_description/urdf/allegro_left_hand.urdf"),
    "shadow_hand": Model("shadow_hand", "shadow_hand_mj"),
    "leap_hand": Model("leap_hand", "leap_hand_mj"),
}
"""Robots by the names that people use."""


class Found(NamedTuple):
    """A robot on this machine."""

    name: str
    path: Path
    source: str
    """The package it is from."""


def find_robot(name: str) -> Path | None:
    """The file of a robot, or None if the name is not known.

    Raises:
        FigureError: The robot is known but not on this machine; the message has the command that brings it.
    """
    key = _usual_name(name.lower().replace("-", "_"))
    menagerie, described = menagerie_models(), described_robots()
    model = ROBOTS.get(key, Model(key, key.removesuffix("_description")))
    here = [
        menagerie.get(model.menagerie),
        next((described[m] for m in (f"{model.described}_description", model.described) if m in described), None),
        _example(model.example or key),
    ]
    found = next((path for path in here if path is not None), None) if key else None
    if found is None and key in ROBOTS:
        raise FigureError(f"robot {name!r} is not on this machine. To get it: {command_for(key)}")
    return found


def _usual_name(name: str) -> str:
    """The key of a robot in `ROBOTS`, also by the names that packages have for it; else the name itself."""
    if name in ROBOTS or not name:
        return name
    bare = name.removesuffix("_description")
    return next((key for key, model in ROBOTS.items() if bare in (key, model.menagerie, model.described)), name)


def _example(file: str) -> Path | None:
    """A file of example-robot-data, given by its path there or by the stem of its name."""
    folder = example_robots()
    if folder is None:
        return None
    if "/" in file:
        return folder / file if (folder / file).is_file() else None
    return next((path for path in sorted(folder.glob("*/*/*.urdf")) if path.stem.lower() == file), None)


def command_for(name: str) -> str:
    """The command that brings a known robot to this machine."""
    model = ROBOTS[name]
    if model.example:
        return "pip install example-robot-data"
    if model.menagerie:
        return f"pip install mujoco-menagerie && python -m mujoco_menagerie prefetch {model.menagerie}"
    return f"pip install robot_descriptions && python -m robot_descriptions pull {model.described}_description"


def robots_here() -> list[Found]:
    """All robots that can be loaded by name on this machine, in the order of their names."""
    out: dict[str, Found] = {}
    menagerie, described = menagerie_models(), described_robots()
    for name, model in ROBOTS.items():
        module = f"{model.described}_description"
        example = _example(model.example) if model.example else None
        if model.menagerie in menagerie:
            out[name] = Found(name, menagerie[model.menagerie], "mujoco-menagerie")
        elif module in described:
            out[name] = Found(name, described[module], "robot_descriptions")
        elif example is not None:
            out[name] = Found(name, example, "example-robot-data")
    known = {found.path for found in out.values()}
    for source, models in (("mujoco-menagerie", menagerie), ("robot_descriptions", described)):
        for name, path in models.items():
            if path not in known:
                out.setdefault(name, Found(name, path, source))
    return sorted(out.values(), key=lambda found: found.name)
