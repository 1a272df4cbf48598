"""The result of forward kinematics: world frames by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from poise.figure.model.names import look_up
from poise.figure.model.pose import FloatArray, Pose


@dataclass(frozen=True)
class Frames(Mapping[str, Pose]):
    """World frames of every body and site of a figure in one posture, by name."""

    position: FloatArray
    """(m, 3) bodies first, then sites [m]."""
    rotation: FloatArray
    """(m, 4) unit quaternions."""
    index: dict[str, int]
    """Row of each name."""
    owner: str
    """The figure, for error messages."""

    def __getitem__(self, name: str) -> Pose:
        """World frame of a site or body."""
        row = look_up(self.index, name, "site or body", self.owner)
        return Pose(self.position[row], self.rotation[row])

    def __iter__(self) -> Iterator[str]:
        """All names."""
        return iter(self.index)

    def __len__(self) -> int:
        """Number of names."""
        return len(self.index)
