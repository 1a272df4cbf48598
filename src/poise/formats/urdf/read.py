"""Reads figures from URDF files.

Every link becomes a body. The root link is fixed to the world; `figure.with_floating_base()` gives it a free joint.
Meshes keep the file names that the URDF has.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from poise.figure.model.body import Body
from poise.figure.model.figure import Figure
from poise.figure.model.joints import Joint
from poise.figure.model.names import suggestion
from poise.formats.text.files import read_bytes
from poise.formats.text.xml_reader import Element, parse_xml
from poise.formats.urdf.closures import parse_closures, with_closures
from poise.formats.urdf.collada_up import with_upright_meshes
from poise.formats.urdf.joints import read_joint, read_mimics
from poise.formats.urdf.links import read_colors, read_link


def read_urdf(path: Path, closures: Path | None = None) -> Figure:
    """Read the figure in a URDF file, with the loops and motors of a closures file."""
    figure = parse_urdf(read_bytes(path), path)
    if closures is None:
        return figure
    return with_closures(figure, parse_closures(read_bytes(closures), closures))


def parse_urdf(source: bytes | str, path: Path | None = None) -> Figure:
    """Parse the figure in a URDF document; `path` is its file, whose folder the names of meshes are relative to."""
    robot = parse_xml(source, path)
    _check_document(robot)
    # Huge numbers may overflow before a check refuses them.
    with np.errstate(all="ignore"):
        return _read_robot(robot)


def _read_robot(robot: Element) -> Figure:
    link_elements = _by_name(robot, "link")
    joint_elements = _by_name(robot, "joint")
    if not link_elements:
        raise robot.error("this robot has no links.")
    colors = read_colors(robot)
    bodies = [read_link(element, colors) for element in link_elements.values()]
    joints = {name: read_joint(element) for name, element in joint_elements.items()}
    _check_tree(bodies, joints, robot, link_elements, joint_elements)
    couplings = read_mimics(joint_elements, joints)
    with robot.locating_errors():
        folder = None if robot.path is None else robot.path.resolve().parent
        bodies = with_upright_meshes(bodies, folder)
        return Figure(_name_of(robot), bodies, joints.values(), couplings=couplings, up="z", folder=folder)


def _name_of(robot: Element) -> str:
    given = (robot.node.get("name") or "").strip()
    return given or (robot.path.stem if robot.path is not None else "robot")


def _check_document(robot: Element) -> None:
    """Refuse a document that is not a URDF, or a xacro file that is not expanded."""
    if robot.tag != "robot":
        raise robot.error(f"a URDF file must start with <robot>, not with <{robot.tag}>.")
    macros = (element for element in robot.everything() if "xacro" in element.namespace or "xacro:" in element.tag)
    # Simulator plug-ins may contain "${", so only the parts of the robot are searched for it.
    parts = (inside for part in robot.children("link", "joint", "material") for inside in part.everything())
    unexpanded = (element for element in parts if any("${" in value for value in element.attributes().values()))
    for element in (*macros, *unexpanded):
        raise element.error(
            "this is a xacro file: name it .xacro and load it with `pip install 'poise[xacro]'`, or expand it first."
        )


def _by_name(robot: Element, tag: str) -> dict[str, Element]:
    """Elements with this tag, by their names, which must be unique."""
    found: dict[str, Element] = {}
    for element in robot.children(tag):
        name = element.text("name")
        if name in found:
            raise element.error(f"there are two {tag}s named {name!r}; the first is on line {found[name].line}.")
        found[name] = element
    return found


def _check_tree(
    bodies: list[Body],
    joints: dict[str, Joint],
    robot: Element,
    links: dict[str, Element],
    elements: dict[str, Element],
) -> None:
    """Check that the links of all joints exist, and that the links form one tree."""
    above: dict[str, Joint] = {}
    for name, joint in joints.items():
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                hint = suggestion(str(link), links)
                raise elements[name].error(
                    f"joint {name!r} names the {role} link {link!r}, which does not exist.{hint}"
                )
        if joint.child in above:
            first = above[joint.child].name
            raise elements[name].error(f"link {joint.child!r} has two parents: joint {first!r} and joint {name!r}.")
        above[joint.child] = joint
    roots = [body.name for body in bodies if body.name not in above]
    if len(roots) > 1:
        named = ", ".join(map(repr, roots[:4]))
        raise links[roots[1]].error(f"the links {named} have no parent joint; a URDF must have one root link.")
    _refuse_circles(above, elements)


def _refuse_circles(above: dict[str, Joint], elements: dict[str, Element]) -> None:
    """Refuse links that are their own ancestors."""
    safe: set[str] = set()
    for start in above:
        walked: dict[str, Joint] = {}
        link: str | None = start
        while link in above and link not in safe:
            joint = above[link]
            if link in walked:
                names = list(walked)
                circle = " → ".join([link, *reversed(names[names.index(link) :])])
                raise elements[joint.name].error(f"the links form a circle: {circle}.")
            walked[link] = joint
            link = joint.parent
        safe.update(walked)
