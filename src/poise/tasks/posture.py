"""The task that holds joints at the values of a posture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import TaskError
from poise.kernels.goals.goals import HOLD_GOAL
from poise.tasks.task import Goal, Task, name_list

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, PostureLike


@dataclass(frozen=True, eq=False)
class Hold(Task):
    """Joints have the values of a posture; `joints` names them, by default all but a floating base."""

    posture: PostureLike
    """Wanted posture: a name, joint values, or all coordinates."""

    def describe(self) -> str:
        """The name for reports."""
        return f"hold {self.posture}" if isinstance(self.posture, str) else "hold a posture"

    def unit(self) -> str:
        """Unit of its error: angles, and metres for slides."""
        return "rad"

    def held(self, figure: Figure) -> list[str]:
        """Names of the joints that are held; raises `FigureError` for an unknown name."""
        if self.joints is None:
            return [name for name in figure.moving_joints if figure.joints[name].kind != "free"]
        names = name_list(self.joints)
        for name in names:
            figure.v_slice(name)
        return names

    def goals(self, figure: Figure) -> list[Goal]:
        """One goal with a row for each velocity of the held joints."""
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
