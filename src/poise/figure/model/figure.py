"""The figure: an articulated body with limits, masses and shapes [Baerlocher 2001, ch. 3]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poise.arguments import seed, shown
from poise.errors import FigureError
from poise.figure.model.body import Body, Site
from poise.figure.model.compiled import Compiled, compile_figure
from poise.figure.model.facing import facing_of
from poise.figure.model.joints import Coupling, Joint
from poise.figure.model.names import Named, look_up
from poise.figure.model.pose import LARGEST, SMALLEST_QUATERNION, FloatArray, Frames, Pose, unit_vector, vector
from poise.figure.model.posture import (
    JointValues,
    Posture,
    Violation,
    checked_values,
    find_violations,
    follow_couplings,
)
from poise.figure.model.structure import check_references, tree_order
from poise.figure.model.viewable import View, Viewable
from poise.kernels.body import queries
from poise.kernels.body.clamp import clamp, clamp_joints
from poise.kernels.body.tree import difference, integrate
from poise.kernels.maths.vector import Vector

if TYPE_CHECKING:
    from poise.figure.anatomy.roles import Role
    from poise.figure.assembly.assembler import Assembler
    from poise.figure.assembly.result import Assembly

UpAxis = Literal["x", "y", "z"]
PostureLike: TypeAlias = "Posture | str | Mapping[str, ArrayLike] | ArrayLike"

STANDARD_GRAVITY = 9.80665
"""[m/s²]"""
LONGEST_NAME = 1000
"""Largest number of characters of a figure's name, which error messages quote."""
_NO_PREVIOUS = np.empty(0)
"""Tells the `clamp` kernel that there is no previous posture."""


class Figure(Viewable):
    """A tree of bodies connected by joints, with sites, masses, shapes, limits, couplings, and loop joints.

    A figure is immutable; `replaced`, `rerooted`, `with_floating_base` and `Builder` create new ones.
    """

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        bodies: Iterable[Body],
        joints: Iterable[Joint],
        *,
        sites: Iterable[Site] = (),
        loops: Iterable[Joint] = (),
        couplings: Iterable[Coupling] = (),
        postures: Mapping[str, JointValues] | None = None,
        up: UpAxis = "y",
        placement: Pose | None = None,
        description: str = "",
        folder: str | Path | None = None,
    ) -> None:
        """Check the description and build the arrays for the kernels.

        Args:
            name: Name of the figure.
            bodies: The rigid parts.
            joints: The tree joints; every body but the root is the child of exactly one.
            sites: Named frames on bodies.
            loops: Joints that close loops between bodies already in the tree.
            couplings: Linear relations between joints.
            postures: Named postures as joint values; one named "neutral" replaces the posture of all zeros.
            up: The world axis that points up.
            placement: World frame of a root without a joint, and parent frame of joints whose parent is the world.
            description: One sentence about the figure.
            folder: Folder to which the names of its mesh files are relative, usually that of the figure's own file;
                None for the current folder. Figures that differ in nothing else are equal.
        """
        if not isinstance(name, str):
            raise FigureError(f"the name of a figure must be text, not {shown(name)}.")
        if len(name) > LONGEST_NAME:
            raise FigureError(f"the name of a figure has at most {LONGEST_NAME} characters, not {len(name)}.")
        owner = f"figure {name!r}"
        if up not in ("x", "y", "z"):
            raise FigureError(f"{owner}: up must be x, y or z, not {up!r}.")
        self.name, self.up, self.description = name, up, description
        self.placement = placement or Pose()
        self.folder = None if folder is None else Path(folder)
        self.bodies = Named(tuple(bodies), "body", owner)
        self.joints = Named(tuple(joints), "joint", owner)
        self.sites = Named(tuple(sites), "site", owner)
        self.loops = Named(tuple(loops), "loop joint", owner)
        self.couplings = Named(tuple(couplings), "coupling", owner)
        check_references(self)
        self.tree_order = tree_order(self)
        self.compiled: Compiled = compile_figure(self)
        self._postures: dict[str, JointValues] = {}
        self._named: dict[str, Posture] = {}
        self._neutral = self._find_neutral(dict(postures or {}))
        for posture_name, values in (postures or {}).items():
            self._postures[posture_name] = checked_values(self, posture_name, values)
        self._finished = True

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse changes after construction."""
        if "_finished" in self.__dict__:
            raise AttributeError(f"a figure cannot be changed: create another with replaced({name}=…).")
        super().__setattr__(name, value)

    def _find_neutral(self, postures: dict[str, JointValues]) -> Posture:
        """The posture named neutral, or the legal posture nearest to all joints at zero."""
        q = np.array([value for joint in self.joints for value in joint.rest()], dtype=np.float64)
        rest = Posture(self, q)
        if "neutral" in postures:
            values = checked_values(self, "neutral", postures["neutral"])
            for name, value in values.items():
                q[self.q_slice(name)] = value
            self._checked_q(q)
            return rest
        bounds, zero = self.compiled.bounds, q.copy()
        if clamp_joints(bounds, q):
            return rest
        q[:] = zero
        if clamp(bounds, _NO_PREVIOUS, q) == 0:
            broken = "; ".join(str(violation) for violation in self.violations(rest))
            raise FigureError(
                f"figure {self.name!r} has couplings that cannot be satisfied inside its limits: {broken}."
            )
        return rest

    # Structure

    @property
    def nq(self) -> int:
        """Number of coordinates of a posture; a ball joint has four, a quaternion."""
        return int(self.compiled.bounds.lower.shape[0])

    @property
    def nv(self) -> int:
        """Number of degrees of freedom of the tree, which is the length of a velocity; a ball joint has three."""
        return int(self.compiled.tree.dof_node.shape[0])

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.compiled.tree.subtree_mass[0])

    @property
    def roots(self) -> tuple[str, ...]:
        """Bodies without a parent body."""
        return tuple(body for body, joint in self.tree_order if joint is None or joint.parent is None)

    @cached_property
    def moving_joints(self) -> tuple[str, ...]:
        """Names of all joints but the fixed ones, in the order of q."""
        return tuple(joint.name for joint in self.joints if joint.nq)

    @property
    def posture_names(self) -> tuple[str, ...]:
        """Names that `posture` accepts: the postures that the figure's description defines."""
        return tuple(self._postures)

    @property
    def up_vector(self) -> FloatArray:
        """(3,) unit vector that points up."""
        return vector(self.up)

    def q_slice(self, joint: str) -> slice:
        """Where the values of a joint are in the coordinates `q` of a posture."""
        return look_up(self.compiled.q_slices, joint, "joint", f"figure {self.name!r}")

    def v_slice(self, joint: str) -> slice:
        """Where the rates of a joint are in a velocity (nv,)."""
        return look_up(self.compiled.v_slices, joint, "joint", f"figure {self.name!r}")

    # Postures

    def neutral(self) -> Posture:
        """The posture named neutral, or the legal posture nearest to all joints at zero."""
        return self._neutral

    def random(self, rng: np.random.Generator | int | None = None) -> Posture:
        """A random legal posture: uniform in each joint, then projected onto the couplings.

        Joints without limits are drawn within half a turn or half a metre, a free base within a metre.
        """
        from poise.figure.model.posture import random_values

        generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(_seed(rng))
        q = random_values(self, generator)
        clamp(self.compiled.bounds, _NO_PREVIOUS, q)
        return Posture(self, q)

    def posture(self, source: PostureLike) -> Posture:
        """A posture from a name, from joint values by name, from nq numbers, or from another figure's posture.

        Joints that are not named keep their neutral value, unless an equality coupling to named joints determines it.
        Values outside the limits are kept: see `violations` and `clamp`.
        """
        if isinstance(source, Posture):
            return source if source.figure is self else self.adopt(source)
        if isinstance(source, str):
            return self._posture_named(source)
        if isinstance(source, Mapping):
            return self.posture_from(self._neutral, source)
        q = _real_numbers(source)
        if q is None or q.ndim == 0:
            its_own = "give its posture, " if hasattr(source, "posture") else "give "
            raise FigureError(
                f"{shown(source)} is no posture of figure {self.name!r}: {its_own}a name, joint values by name, or "
                f"{self.nq} numbers."
            )
        if q.shape != (self.nq,):
            raise FigureError(f"a posture of figure {self.name!r} has {self.nq} numbers, not {q.shape}.")
        return Posture(self, self._checked_q(q))

    def _posture_named(self, name: str) -> Posture:
        """A named posture, cached; the neutral one also if the figure's description does not name it."""
        if name == "neutral":
            return self._neutral
        if name not in self._named:
            values = look_up(self._postures, name, "posture", f"figure {self.name!r}")
            self._named[name] = self.posture({**values})
        return self._named[name]

    def posture_from(self, start: Posture, values: Mapping[str, ArrayLike]) -> Posture:
        """The posture `start` with some joints set to new values.

        A joint that an equality coupling ties to those in `values` is computed from the coupling.
        """
        q = start.q.copy()
        for name, value in values.items():
            place = self.q_slice(name)
            count, numbers = place.stop - place.start, _real_numbers(value)
            if numbers is None or numbers.size != count:
                words = f"{count} numbers" if count > 1 else "a number"
                raise FigureError(f"joint {name!r} takes {words}, not {shown(value)}.")
            q[place] = numbers.ravel()
        q = self._checked_q(q)
        follow_couplings(self, q, set(values))
        return Posture(self, q)

    def _checked_q(self, q: FloatArray) -> FloatArray:
        """`q` with normalised quaternions; refuses numbers that are too large or not finite."""
        for joint in self.joints:
            part = q[self.compiled.q_slices[joint.name]]
            if not (np.abs(part) <= LARGEST).all():
                raise FigureError(f"joint {joint.name!r} of figure {self.name!r} has the value {part.tolist()}.")
            if joint.kind in ("ball", "free"):
                quaternion = part[-4:]
                size = float(np.linalg.norm(quaternion))
                if size < SMALLEST_QUATERNION:
                    raise FigureError(f"joint {joint.name!r} has a zero quaternion; (1, 0, 0, 0) is no rotation.")
                quaternion /= size
        return q

    def adopt(self, posture: Posture) -> Posture:
        """Convert the posture of a figure with the same joints, so that every body keeps its world pose.

        Joints keep their values by name; free joints, such as a floating base, are computed from the bodies' poses.
        """
        from poise.figure.model.reroot import adopted

        return adopted(self, posture)

    def integrate(self, posture: PostureLike, velocity: ArrayLike) -> Posture:
        """The posture after moving with `velocity` (nv,) for one unit of time."""
        start = self.posture(posture)
        out = np.empty(self.nq)
        integrate(self.compiled.tree, start._q, self._rates(velocity), out)
        return Posture(self, out)

    def difference(self, a: PostureLike, b: PostureLike) -> FloatArray:
        """The velocity (nv,) that takes posture `a` to posture `b` in one unit of time."""
        out = np.empty(self.nv)
        difference(self.compiled.tree, self.posture(a)._q, self.posture(b)._q, out)
        return out

    def _rates(self, velocity: ArrayLike) -> FloatArray:
        """A checked velocity (nv,)."""
        v = _real_numbers(velocity)
        if v is None or v.shape != (self.nv,) or not (np.abs(v) <= LARGEST).all():
            raise FigureError(f"a velocity of figure {self.name!r} is {self.nv} finite numbers, not {velocity!r}.")
        return v

    # Limits

    def clamp(self, posture: PostureLike, previous: PostureLike | None = None) -> Posture:
        """The nearest posture inside all limits and couplings.

        Args:
            posture: The posture to clamp.
            previous: The legal posture before it. A limb then does not jump across the gap of a concave swing limit.
        """
        q = self.posture(posture).q.copy()
        start = self.posture(previous).q.copy() if previous is not None else _NO_PREVIOUS
        clamp(self.compiled.bounds, start, q)
        return Posture(self, q)

    def violations(self, posture: PostureLike) -> list[Violation]:
        """All limits that the posture violates by more than 1e-9; empty for a legal posture."""
        return find_violations(self, self.posture(posture))

    def closure_error(self, posture: PostureLike) -> float:
        """Largest gap of any loop joint [m or rad]; 0.0 without loops."""
        from poise.figure.assembly.loop_values import closure_residual

        return max((closure_residual(self, loop, self.frames(posture)) for loop in self.loops), default=0.0)

    @cached_property
    def assembler(self) -> Assembler:
        """The solver behind `assemble`, created on first use."""
        from poise.figure.assembly.assembler import Assembler

        return Assembler(self)

    def assemble(
        self, motors: Mapping[str, ArrayLike], near: PostureLike | None = None, *, restarts: int = 0
    ) -> Assembly:
        """Move the motors to given values and find the other joints so that every loop closes.

        This is the forward kinematics of a closed mechanism.

        Args:
            motors: Values by name of tree or loop joints [rad or m]. Motors that are not named keep their values in
                `near` if the loops allow it.
            near: Posture to start from (default: neutral), whose loops may be open. Where several postures close the
                loops, the motion from there decides which one is found.
            restarts: Number of random starts to try if the path from `near` does not reach the values.
        """
        start = self.neutral() if near is None else self.posture(near)
        return self.assembler.assemble(motors, start, restarts=restarts)

    # Kinematics

    def frames(self, posture: PostureLike) -> Frames:
        """Position and rotation of every body and site in the world, by name."""
        c = self.compiled
        ride = c.attached
        position, rotation = queries.frames_at(
            c.tree, self.posture(posture)._q, ride.node, ride.position, ride.rotation
        )
        return Frames(position, rotation, c.frame_index, f"figure {self.name!r}")

    def pose_of(self, site_or_body: str, posture: PostureLike) -> Pose:
        """Position and rotation of a site or body in the world."""
        return self.frames(posture)[site_or_body]

    def jacobian(self, site_or_body: str, posture: PostureLike) -> FloatArray:
        """(6, nv) geometric Jacobian of a site or body in world axes: velocity rows, then angular velocity."""
        c = self.compiled
        ride = c.attached
        row = self.frame_row(site_or_body)
        q = self.posture(posture)._q
        return queries.frame_jacobian(c.tree, q, ride.node, ride.position, ride.rotation, row)

    def facing_axis(self, site_or_body: str) -> FloatArray | None:
        """(3,) the axis with which a site or body looks, in its own axes; None if it is not known."""
        return facing_of(self, site_or_body)

    @cached_property
    def roles(self) -> dict[str, Role]:
        """Parts by anatomical role, such as "left_knee", with how sure each is (see `poise.figure.anatomy.roles`)."""
        from poise.figure.anatomy.roles import figure_roles

        return figure_roles(self)

    def frame_row(self, site_or_body: str) -> int:
        """Index of a site or body in `compiled.attached`."""
        return look_up(self.compiled.frame_index, site_or_body, "site or body", f"figure {self.name!r}")

    def body_of(self, site_or_body: str) -> str:
        """Name of the body that a site is on, or of a body itself."""
        return self.sites[site_or_body].body if site_or_body in self.sites else site_or_body

    def center_of_mass(self, posture: PostureLike) -> FloatArray:
        """(3,) world centre of mass [m]."""
        return queries.mass_center(self.compiled.tree, self._massive(posture))[0]

    def center_of_mass_jacobian(self, posture: PostureLike) -> FloatArray:
        """(3, nv) Jacobian of the centre of mass."""
        return queries.mass_center(self.compiled.tree, self._massive(posture))[1]

    def moment_of_inertia(self, posture: PostureLike, axis: ArrayLike | str) -> float:
        """Moment of inertia [kg m²] about an axis through the centre of mass."""
        direction = Vector(*unit_vector(axis).tolist())
        return queries.inertia_about(self.compiled.tree, self._massive(posture), direction)[0]

    def moment_of_inertia_gradient(self, posture: PostureLike, axis: ArrayLike | str) -> FloatArray:
        """(nv,) gradient of `moment_of_inertia`."""
        direction = Vector(*unit_vector(axis).tolist())
        return queries.inertia_about(self.compiled.tree, self._massive(posture), direction)[1]

    def gravity_torques(self, posture: PostureLike, gravity: ArrayLike | None = None) -> FloatArray:
        """(nv,) joint torques and forces that balance gravity (default: standard gravity along -up)."""
        g = -STANDARD_GRAVITY * self.up_vector if gravity is None else vector(gravity, "gravity")
        return queries.holding_torques(self.compiled.tree, self.posture(posture)._q, Vector(*g.tolist()))

    def wrench_torques(
        self, site_or_body: str, posture: PostureLike, force: ArrayLike, torque: ArrayLike = (0.0, 0.0, 0.0)
    ) -> FloatArray:
        """(nv,) generalised force Jᵀ(f, t) of a world force [N] and torque [N m] at a site."""
        row = self.frame_row(site_or_body)
        start = self.posture(posture)
        point = self.frames(start).position[row]
        push, moment = vector(force, "a force"), vector(torque, "a torque")
        node = int(self.compiled.attached.node[row])
        tree = self.compiled.tree
        as_vector = [Vector(*v.tolist()) for v in (point, push, moment)]
        return queries.pushed_torques(tree, start._q, node, *as_vector)

    def _massive(self, posture: PostureLike) -> FloatArray:
        """Coordinates of a posture; refuses a figure without mass."""
        if self.mass <= 0.0:
            raise FigureError(f"figure {self.name!r} has no mass, so it has no centre of mass.")
        return self.posture(posture)._q

    # Derived figures

    def rerooted(self, body: str, posture: PostureLike | None = None) -> Figure:
        """This figure with `body` as its root; joint values keep their meaning.

        A fixed root is placed where `body` is in `posture` (default: neutral), so that this posture does not move in
        the world; a floating base moves to the new root. `new.adopt(old_posture)` converts a posture.
        """
        from poise.figure.model.reroot import rerooted

        return rerooted(self, body, self.neutral() if posture is None else self.posture(posture))

    def with_floating_base(self) -> Figure:
        """This figure with a free joint between the world and its root."""
        from poise.figure.model.reroot import with_floating_base

        return with_floating_base(self)

    def replaced(self, **parts: object) -> Figure:
        """A new figure with some of the constructor's arguments replaced."""
        return _rebuilt(self._arguments() | parts)

    def _arguments(self) -> dict[str, object]:
        """The arguments of the constructor."""
        return {
            "name": self.name,
            "bodies": tuple(self.bodies),
            "joints": tuple(self.joints),
            "sites": tuple(self.sites),
            "loops": tuple(self.loops),
            "couplings": tuple(self.couplings),
            "postures": self._postures,
            "up": self.up,
            "placement": self.placement,
            "description": self.description,
            "folder": self.folder,
        }

    # Text and files

    def describe(self) -> str:
        """The tree, joint by joint, with limits and masses, as text."""
        from poise.figure.model.describe import describe

        return describe(self)

    def save(self, path: str | Path) -> None:
        """Write a `*.figure.toml` that `poise.load` reads back to an equal figure."""
        from poise.formats.figure_toml import write_figure

        write_figure(self, Path(path))

    def named_values(self, name: str) -> JointValues:
        """Joint values of a named posture."""
        return dict(look_up(self._postures, name, "posture", f"figure {self.name!r}"))

    def __eq__(self, other: object) -> bool:
        """Whether both figures have equal descriptions."""
        if not isinstance(other, Figure):
            return NotImplemented
        return self is other or self._arguments() | {"folder": None} == other._arguments() | {"folder": None}

    def __hash__(self) -> int:
        """Hash of the name and the parts' names."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.bodies.names, self.joints.names))

    def __reduce__(self) -> tuple[Callable[[dict[str, object]], Figure], tuple[dict[str, object]]]:
        """Pickle the description, not the arrays."""
        return _rebuilt, (self._arguments(),)

    def __repr__(self) -> str:
        """Name and counts."""
        loops = f", {len(self.loops)} loops" if len(self.loops) else ""
        return f"Figure({self.name!r}, {len(self.bodies)} bodies, {self.nv} degrees of freedom{loops})"

    def view(self) -> View:
        """The figure in its neutral posture."""
        return View(self, [self.neutral()])


def _rebuilt(arguments: dict[str, object]) -> Figure:
    """A figure from the arguments of its constructor."""
    return Figure(**arguments)  # type: ignore[arg-type]


def checked_figure(value: object, what: str) -> Figure:
    """`value`, if it is a figure; `what` names who needs it."""
    if isinstance(value, Figure):
        return value
    hint = f"poise.load({shown(value)})" if isinstance(value, str) else "poise.load(name or file)"
    raise FigureError(f"{what} needs a figure, not {shown(value)}: {hint} returns one.")


def _seed(rng: object) -> Any:
    """A seed for numpy: None, a whole number, or a `SeedSequence` or `BitGenerator` of numpy."""
    if isinstance(rng, np.random.SeedSequence | np.random.BitGenerator):
        return rng
    return seed(rng, "the seed of a random posture", error=FigureError)


def _real_numbers(value: object) -> FloatArray | None:
    """An array of numbers; None if they are complex, text, or no numbers at all."""
    try:
        given = np.asarray(value)
        return None if given.dtype.kind in "cSUO" and not _all_real(given) else given.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _all_real(array: np.ndarray) -> bool:
    """Whether an array of objects contains real numbers only."""
    return array.dtype.kind == "O" and all(isinstance(item, Real) for item in array.flat)
