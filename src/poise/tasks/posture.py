"""The task that keeps a posture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import TaskError
from poise.kernels.goals.goals import HOLD_GOAL
from poise.tasks.task import Goal, Task

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure, PostureLike


@dataclass(frozen=True, eq=False)
class Hold(Task):
    """Joints stay at, or return to, the values of a posture; `joints` says which, all but a floating base if not."""

    posture: PostureLike

    def describe(self) -> str:
        """What is held."""
        return f"hold {self.posture}" if isinstance(self.posture, str) else "hold a posture"

    def unit(self) -> str:
        """Errors are angles, or metres of slides."""
        return "rad"

    def held(self, figure: Figure) -> list[str]:
        """Names of the joints it is about."""
        if self.joints is None:
            return [name for name in figure.moving_joints if figure.joints[name].kind != "free"]
        names = [self.joints] if isinstance(self.joints, str) else list(self.joints)
        for name in names:
            figure.v_slice(name)
        return names

    def goals(self, figure: Figure) -> list[Goal]:
        """One row per velocity of the joints held."""
        dofs: list[int] = []
        for name in self.held(figure):
            where = figure.v_slice(name)
            dofs += range(where.start, where.stop)
        if not dofs:
            raise TaskError(f"{self.label}: no joint of figure {figure.name!r} is held.")
        return [
            Goal(
                kind=HOLD_GOAL,
                directions=np.zeros((len(dofs), 3)),
                weights=self.weights_of(len(dofs)),
                posture=figure.posture(self.posture).q,
                dofs=dofs,
            )
        ]


def named_joints(joints: str | Iterable[str]) -> list[str]:
    """One name or several, as a list."""
    return [joints] if isinstance(joints, str) else list(joints)
