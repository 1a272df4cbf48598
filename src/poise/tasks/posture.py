"""The task that holds joints at the values of a posture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from poise.arguments import shown
from poise.errors import TaskError
from poise.figure.model.pose import Pose
from poise.kernels.goals.goals import HOLD_GOAL
from poise.tasks.amounts import amount
from poise.tasks.form import FormField, MenuEntry, Setting
from poise.tasks.target import TargetLike
from poise.tasks.task import Comparison, Goal, Task, name_list

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, PostureLike
    from poise.figure.model.posture import Posture

PRESENT_POSTURE, STORED_POSTURE = "Present posture", "Stored posture"
"""Options besides the names of postures: that of the figure now, and the one that the task has."""


def _with_posture(task: Hold, option: str, setting: Setting) -> Task:
    if option == STORED_POSTURE:
        return task
    return replace(task, posture=setting.posture if option == PRESENT_POSTURE else option)


@dataclass(frozen=True, eq=False)
class Hold(Task):
    """Brings joints to their values in a posture; `joints` names them, by default all but a floating base."""

    masks_joints: ClassVar[bool] = False
    menu: ClassVar = (MenuEntry("Hold this posture", lambda posture, site: Hold(posture)),)
    form: ClassVar = (
        FormField(
            label="Posture",
            control="choice",
            get=lambda task: task.posture if isinstance(task.posture, str) else STORED_POSTURE,
            put=_with_posture,
            options=lambda setting: [PRESENT_POSTURE, STORED_POSTURE, *setting.posture.figure.posture_names],
        ),
    )

    posture: PostureLike
    """Wanted posture: a name, joint values, or all coordinates."""

    def describe(self) -> str:
        """The name for reports."""
        return f"hold {self.posture}" if isinstance(self.posture, str) else "hold a posture"

    def unit(self) -> str:
        """Unit of its error: angles, and metres for slides."""
        return "rad"

    def held(self, figure: Figure) -> list[str]:
        """Names of the joints that the task holds; an unknown name raises a `FigureError`."""
        if self.joints is None:
            return [name for name in figure.moving_joints if figure.joints[name].kind != "free"]
        names = name_list(self.joints)
        for name in names:
            figure.v_slice(name)
        return names

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal, with one row for each degree of freedom of the held joints."""
        dofs: list[int] = []
        for name in self.held(figure):
            where = figure.v_slice(name)
            dofs += range(where.start, where.stop)
        if not dofs:
            raise TaskError(f"{self.label}: none of the chosen joints of figure {figure.name!r} can move.")
        return [
            Goal(
                kind=HOLD_GOAL,
                directions=np.zeros((len(dofs), 3)),
                weights=self.weights_of(len(dofs)),
                posture=figure.posture(self.posture).q,
                dofs=dofs,
            )
        ]

    def compare(self, posture: Posture) -> Comparison:
        """The wanted posture, and the joint with the largest error."""
        figure = posture.figure
        apart = figure.difference(posture, figure.posture(self.posture))
        gaps = {joint: float(np.linalg.norm(apart[figure.v_slice(joint)])) for joint in self.held(figure)}
        worst = max(gaps, key=lambda joint: gaps[joint])
        gap = _joint_words(figure, worst, gaps[worst])
        return Comparison(self._posture_words(figure), "held" if gap == "0" else f"{worst} {gap} off")

    def _posture_words(self, figure: Figure) -> str:
        """The name of the posture, the value of its only joint, or the number of its joints."""
        if isinstance(self.posture, str):
            return self.posture
        held = self.held(figure)
        if len(held) == 1 and figure.joints[held[0]].nv == 1:
            value = figure.posture(self.posture)[held[0]]
            return f"{held[0]} {_joint_words(figure, held[0], float(np.ravel(value)[0]))}"
        named = len(self.posture) if isinstance(self.posture, Mapping) else len(held)
        return f"a posture of {min(named, len(held))} joints"

    def with_target(self, value: TargetLike) -> Hold:
        """The task with another posture; raises `TaskError` for a pose."""
        if isinstance(value, Pose):
            raise TaskError(
                f"{self.label} holds a posture: a name, joint values, or all coordinates, not {shown(value)}."
            )
        return replace(self, posture=value)


def _joint_words(figure: Figure, joint: str, value: float) -> str:
    """The value of a joint, in degrees or as a length."""
    turns = "slide" not in figure.joints[joint].primitives
    return ("-" if value < 0.0 else "") + amount(abs(value), "rad" if turns else "m")
