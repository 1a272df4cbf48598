"""poise: inverse kinematics for expressive characters and robots.

Public names are imported on first use, so that `import poise` takes no time: numba alone takes 0.3–0.5 s.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from poise import chains as chains
    from poise.chains.targets import Gaze as Gaze
    from poise.chains.targets import at as at
    from poise.chains.targets import facing as facing
    from poise.character.character import Character as Character
    from poise.engine.animation import Animation as Animation
    from poise.engine.animation import Key as Key
    from poise.engine.reach import ReachResult as ReachResult
    from poise.engine.reach import reach as reach
    from poise.engine.result import Result as Result
    from poise.engine.scene import Scene as Scene
    from poise.engine.solver import Solver as Solver
    from poise.engine.solver import solve as solve
    from poise.errors import FigureError as FigureError
    from poise.errors import FormatError as FormatError
    from poise.errors import PoiseError as PoiseError
    from poise.errors import RobotError as RobotError
    from poise.errors import TaskError as TaskError
    from poise.expressive.erik import Erik as Erik
    from poise.expressive.erik import ErikSettings as ErikSettings
    from poise.expressive.expressive import Expressive as Expressive
    from poise.expressive.expressive import ExpressiveSettings as ExpressiveSettings
    from poise.expressive.measures import Weights as Weights
    from poise.figure.model.body import Body as Body
    from poise.figure.model.body import Site as Site
    from poise.figure.model.builder import Builder as Builder
    from poise.figure.model.curves import Curve as Curve
    from poise.figure.model.figure import Figure as Figure
    from poise.figure.model.joints import Coupling as Coupling
    from poise.figure.model.joints import Joint as Joint
    from poise.figure.model.pose import Pose as Pose
    from poise.figure.model.posture import Posture as Posture
    from poise.figures import chain as chain
    from poise.figures import hand as hand
    from poise.figures import hand_posture as hand_posture
    from poise.figures import human as human
    from poise.forces.loads import Force as Force
    from poise.forces.loads import Gravity as Gravity
    from poise.forces.loads import Support as Support
    from poise.formats import load as load
    from poise.formats import load_clip as load_clip
    from poise.motion.clip.clip import Clip as Clip
    from poise.motion.clip.motion import Motion as Motion
    from poise.motion.clip.watching import watching as watching
    from poise.motion.filter.filter import MotionFilter as MotionFilter
    from poise.motion.keys.inbetweens import animate as animate
    from poise.motion.live.live import LiveRetarget as LiveRetarget
    from poise.motion.retarget.retarget import retarget as retarget
    from poise.tasks.avoid import Avoid as Avoid
    from poise.tasks.criteria import Comfort as Comfort
    from poise.tasks.criteria import Extend as Extend
    from poise.tasks.criteria import Flex as Flex
    from poise.tasks.criteria import Gradient as Gradient
    from poise.tasks.criteria import LeastTorque as LeastTorque
    from poise.tasks.criteria import Natural as Natural
    from poise.tasks.criteria import NearPosture as NearPosture
    from poise.tasks.custom import Custom as Custom
    from poise.tasks.distance import Distance as Distance
    from poise.tasks.distance import OnEllipsoid as OnEllipsoid
    from poise.tasks.equilibrium import Equilibrium as Equilibrium
    from poise.tasks.look_at import LookAt as LookAt
    from poise.tasks.mass import CenterOfMass as CenterOfMass
    from poise.tasks.mass import MomentOfInertia as MomentOfInertia
    from poise.tasks.obstacles import Obstacle as Obstacle
    from poise.tasks.obstacles import Plane as Plane
    from poise.tasks.place import Frame as Frame
    from poise.tasks.place import Orientation as Orientation
    from poise.tasks.place import Position as Position
    from poise.tasks.posture import Hold as Hold
    from poise.tasks.steady import MoveSlowly as MoveSlowly
    from poise.tasks.steady import StayStill as StayStill
    from poise.tasks.steady import TurnSlowly as TurnSlowly
    from poise.tasks.touch import Touch as Touch

    Still, Slow = StayStill, TurnSlowly

__version__ = "0.1.0"

_HOMES = {
    "Animation": "poise.engine.animation",
    "Avoid": "poise.tasks.avoid",
    "Body": "poise.figure.model.body",
    "Builder": "poise.figure.model.builder",
    "CenterOfMass": "poise.tasks.mass",
    "Character": "poise.character.character",
    "Clip": "poise.motion.clip.clip",
    "Comfort": "poise.tasks.criteria",
    "Coupling": "poise.figure.model.joints",
    "Curve": "poise.figure.model.curves",
    "Custom": "poise.tasks.custom",
    "Distance": "poise.tasks.distance",
    "Equilibrium": "poise.tasks.equilibrium",
    "Erik": "poise.expressive.erik",
    "ErikSettings": "poise.expressive.erik",
    "Expressive": "poise.expressive.expressive",
    "ExpressiveSettings": "poise.expressive.expressive",
    "Extend": "poise.tasks.criteria",
    "Figure": "poise.figure.model.figure",
    "FigureError": "poise.errors",
    "FormatError": "poise.errors",
    "Flex": "poise.tasks.criteria",
    "Force": "poise.forces.loads",
    "Frame": "poise.tasks.place",
    "Gaze": "poise.chains.targets",
    "Gradient": "poise.tasks.criteria",
    "Gravity": "poise.forces.loads",
    "Hold": "poise.tasks.posture",
    "Joint": "poise.figure.model.joints",
    "Key": "poise.engine.animation",
    "LeastTorque": "poise.tasks.criteria",
    "LiveRetarget": "poise.motion.live.live",
    "LookAt": "poise.tasks.look_at",
    "MomentOfInertia": "poise.tasks.mass",
    "Motion": "poise.motion.clip.motion",
    "MotionFilter": "poise.motion.filter.filter",
    "MoveSlowly": "poise.tasks.steady",
    "Natural": "poise.tasks.criteria",
    "NearPosture": "poise.tasks.criteria",
    "Obstacle": "poise.tasks.obstacles",
    "OnEllipsoid": "poise.tasks.distance",
    "Orientation": "poise.tasks.place",
    "Plane": "poise.tasks.obstacles",
    "PoiseError": "poise.errors",
    "Pose": "poise.figure.model.pose",
    "Position": "poise.tasks.place",
    "Posture": "poise.figure.model.posture",
    "ReachResult": "poise.engine.reach",
    "Result": "poise.engine.result",
    "RobotError": "poise.errors",
    "Scene": "poise.engine.scene",
    "Site": "poise.figure.model.body",
    "Solver": "poise.engine.solver",
    "StayStill": "poise.tasks.steady",
    "Support": "poise.forces.loads",
    "TaskError": "poise.errors",
    "Touch": "poise.tasks.touch",
    "TurnSlowly": "poise.tasks.steady",
    "Weights": "poise.expressive.measures",
    "animate": "poise.motion.keys.inbetweens",
    "at": "poise.chains.targets",
    "chain": "poise.figures",
    "facing": "poise.chains.targets",
    "hand": "poise.figures",
    "hand_posture": "poise.figures",
    "human": "poise.figures",
    "load": "poise.formats",
    "load_clip": "poise.formats",
    "reach": "poise.engine.reach",
    "retarget": "poise.motion.retarget.retarget",
    "solve": "poise.engine.solver",
    "watching": "poise.motion.clip.watching",
}

_PACKAGES = ("chains",)
"""Public packages whose functions are called through them, as in `poise.chains.ccd(…)`."""
_OTHER_PACKAGES = ("figure", "pictures", "robots")
"""Further packages that `import poise` is enough for; some need an extra."""

_RENAMED = {"Slow": "TurnSlowly", "Still": "StayStill"}
"""Present names by former ones, which can still be imported."""

__all__ = sorted([*_HOMES, *_PACKAGES])


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    if name in (*_PACKAGES, *_OTHER_PACKAGES):
        return import_module(f"poise.{name}")
    if name in _RENAMED:
        warnings.warn(f"poise.{name} is now poise.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        return __getattr__(_RENAMED[name])
    if name not in _HOMES:
        from difflib import get_close_matches

        near = get_close_matches(name, __all__, n=1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'poise' has no attribute {name!r}{hint}")
    from poise.errors import MissingPackageError

    try:
        value: object = getattr(import_module(_HOMES[name]), name)
    except MissingPackageError as problem:
        return _without_extra(str(problem))  # so that `from poise import *` works without every extra
    globals()[name] = value
    return value


def _without_extra(sentence: str) -> Callable[..., NoReturn]:
    """A function that says which extra it needs."""

    def call(*arguments: object, **options: object) -> NoReturn:
        from poise.errors import MissingPackageError

        raise MissingPackageError(sentence)

    return call


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
